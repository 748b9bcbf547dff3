"""Figures, times and titles of runs as people read them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from gym_gui.ui.train.curve_plot import heights_beside, steps_below
from gym_gui.ui.train.run_menu import run_actions
from gym_gui.ui.training_numbers import NONE, return_in_words, steps_in_words, value_in_words
from gym_gui.ui.training_words import (
    left_in_words,
    progress_in_words,
    return_sentence,
    run_return,
    summary,
    why_no_film,
)
from tests.support.training_records import record


@pytest.mark.parametrize(
    ("steps", "words"),
    [(0, "0"), (800, "800"), (9_999, "9,999"), (12_345, "12.3k"), (500_000, "500k"), (1_250_000, "1.25M")],
)
def test_steps(steps: float, words: str) -> None:
    assert steps_in_words(steps) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, NONE),
        (0.614, "0.61"),
        (-148.2, "\N{MINUS SIGN}148"),
        (99.12, "99.1"),
        (float("nan"), NONE),
        (-0.001, "0.00"),
    ],
)
def test_returns(value: float | None, words: str) -> None:
    assert return_in_words(value) == words


def test_numbers_read_as_the_same_number() -> None:
    assert value_in_words(0.00012345) == "0.0001234"


def test_where_a_run_stands() -> None:
    waiting = record(state="queued", position=2)
    running = record(state="running", step=212_000, total_steps=500_000, remaining_s=84.0)
    done = record(state="completed", step=50_000, total_steps=50_000)
    assert (progress_in_words(waiting), left_in_words(waiting)) == ("waiting", "1 ahead")
    assert (progress_in_words(running), left_in_words(running)) == ("212k / 500k", "1 min 24 s")
    assert (progress_in_words(done), left_in_words(done)) == ("50k", "done")
    assert summary([waiting, running, done]) == "1 running · 1 waiting for a core"
    assert summary([done]) == ""
    away = record("d", state="queued", place="one")
    assert summary([waiting, away]) == "1 waiting for a core · 1 waiting on other machines"


def test_a_return_says_what_it_is() -> None:
    going = {"mean_return": 256.0, "episodes": 431, "state": "running"}
    assert run_return(record(**going)) == "256, last 100"
    assert "last 100 training episodes" in return_sentence(record(**going))
    assert run_return(record(**{**going, "episodes": 7})) == "256, last 7"
    assert run_return(record(mean_return=471.0, evaluated=True)) == "471, evaluated"
    assert run_return(record()) == NONE and return_sentence(record()) == ""


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({}, "records no films"),
        ({"state": "running", "step": 7_000, "total_steps": 200_000}, "at step 50,000"),
        ({"state": "running", "step": 7_000, "total_steps": 50_000}, "at the end of the training"),
        ({"state": "running", "step": 7_000, "place": "one"}, "trains on one; its films are copied here"),
        ({"state": "stopped", "step": 7_000, "place": "one"}, "ended at step 7,000, before"),
        ({"state": "stopped", "step": 7_000}, "ended at step 7,000, before its first film"),
        ({"state": "completed", "step": 50_000, "warning": "no videos: there is no screen"}, "no screen"),
    ],
)
def test_why_there_is_no_film(about: dict[str, Any], said: str) -> None:
    settings = {"video_every": 50_000} if about else {}
    assert said in why_no_film(record(**about, settings=settings))


def test_what_a_run_allows() -> None:
    assert "pause" in run_actions(record(state="running")) and "remove" not in run_actions(
        record(state="running")
    )
    assert "resume" in run_actions(record(state="paused"))
    assert "continue" in run_actions(record(state="failed", step=5))
    assert {"use", "remove", "clone"} <= set(run_actions(record(state="completed", policy="/p")))


def test_steps_below_a_narrow_plot_stand_apart() -> None:
    def wide(word: str) -> float:
        return 7.0 * len(word)

    for room in range(0, 700, 7):
        for high in (1, 7, 800, 8192, 397_312, 12_345_678):
            ticks = steps_below(high, room, wide)
            assert ticks[0] == (0.0, "0")
            per_step = room / high
            for (step, word), (following, next_word) in pairwise(ticks):
                assert (following - step) * per_step > (wide(word) + wide(next_word)) / 2
    assert [word for _, word in steps_below(8192, 600, wide)] == ["0", "2,000", "4,000", "6,000", "8,000"]
    assert [word for _, word in steps_below(8192, 130, wide)] == ["0", "5,000"]


def test_heights_are_written_as_the_reader_does() -> None:
    assert [word for _, word in heights_beside(-100.0, 0.0)][-2:] == [value_in_words(-20.0), "0"]
