"""What is typed to find runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_gui.core.run_labels import RunLabels
from gym_gui.services.runs.run_filter import RunFilter, offers
from gym_gui.services.runs.run_library import RunEntry, RunOperator

RUN = RunEntry(
    Path("/runs/01A"),
    "01A",
    "completed",
    datetime(2026, 11, 3, 12).astimezone(),
    (RunOperator("op", "My PPO", "gymnasium/CartPole-v1", ("rl",)),),
    labels=RunLabels("Baseline", ("paper", "two words"), "sweep", "see figure 2", star=True),
    settings={"learning_rate": ("0.0003",), "env_kwargs.size": ("8", "16"), "checkpoint": ("/a/ppo_best",)},
    workers=("cleanrl_worker",),
    policies=("ppo:CartPole-v1",),
)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "baseline",
        "figure paper",
        "agent:ppo",
        "AGENT:RL",
        "agent:my",
        "env:cart",
        "worker:cleanrl",
        "tag:pap",
        'tag:"two words"',
        '"two words"',
        "group:sweep",
        "star",
        "★",
        "star:",
        "-tag:draft",
        "after:2026-11-01",
        "after:2026-11-03",
        "before:2026-11-04",
        "on:2026-11",
        "on:2026-11-3",
        "after:2026",
        "setting:learning_rate=3e-4",
        "setting:learning-rate=0.0003",
        "setting:learning_rate<1",
        "setting:size=16",
        "setting:env_kwargs.size>8",
        "setting:checkpoint=ppo",
        "setting:learn",
        "agent:",
        "after:2026-1",
        "setting:learning_rate=",
    ],
)
def test_the_run_is_found(words: str) -> None:
    wanted = RunFilter(words)
    assert wanted.accepts(RUN) and not wanted.problem


@pytest.mark.parametrize(
    "words",
    [
        "nobody",
        "agent:cleanrl",
        "env:ppo",
        "tag:draft",
        "-star",
        "-baseline",
        "after:2026-11-04",
        "before:2026-11-03",
        "on:today",
        "setting:learning_rate=3e-3",
        "setting:learning_rate>0.0003",
        "setting:rate=3e-4",
        "setting:size=1",
        "baseline tag:draft",
        "unknown:ppo",
    ],
)
def test_the_run_is_not_found(words: str) -> None:
    wanted = RunFilter(words)
    assert not wanted.accepts(RUN) and not wanted.problem


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("after:2026-13-40", "is not a date"),
        ("on:someday", "is not a date"),
        ("setting:learning_rate>much", "is not a number"),
    ],
)
def test_what_cannot_be_understood_is_said_and_the_rest_holds(words: str, said: str) -> None:
    assert said in RunFilter(words).problem
    assert RunFilter(f"baseline {words}").accepts(RUN) and not RunFilter(f"nobody {words}").accepts(RUN)


def test_days_are_those_of_this_place() -> None:
    now = datetime.now().astimezone()
    day_before = now - timedelta(days=1)
    asked = (("today", now), ("today", day_before), ("yesterday", day_before), ("yesterday", now))
    accepted = [RunFilter(f"on:{day}").accepts(replace(RUN, started_at=moment)) for day, moment in asked]
    midnight = datetime.now().astimezone().date() != now.date()
    assert midnight or accepted == [True, False, True, False]
    assert not RunFilter("after:2000").accepts(replace(RUN, started_at=None))


@given(st.text(max_size=40))
def test_nothing_that_is_typed_raises(words: str) -> None:
    for text in (words, f"setting:{words}", f"after:{words}", f'tag:"{words}'):
        assert RunFilter(text).accepts(RUN) in (True, False)


def test_what_is_offered_finds_something() -> None:
    other = replace(RUN, path=Path("/runs/01B"), settings={"learning_rate": ("0.1",)}, labels=RunLabels())
    found = offers([RUN, other])
    assert found["Tags"] == ["tag:paper", 'tag:"two words"'] and found["Groups"] == ["group:sweep"]
    assert found[""] == ["star"] and "setting:learning_rate=0.0003" in found["Settings"]
    for heading, words in found.items():
        assert heading == "When" or all(RunFilter(word).accepts(RUN) for word in words), heading
    assert "Tags" not in offers([other]) and "" not in offers([other])
