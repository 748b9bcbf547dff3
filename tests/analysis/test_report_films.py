"""Replays of a report are made beside its statistics."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import read_runs, summarize
from gym_gui.analysis.compute.highlights import shown_episodes
from gym_gui.analysis.compute.pairing import Entry
from gym_gui.analysis.pages.film_choice import scenes_of
from gym_gui.analysis.records.reader import Run, open_run
from gym_gui.cli.recorded_runs import report_films
from gym_gui.cli.recorded_runs.report import report_runs
from gym_gui.cli.recorded_runs.report_films import ReportFilms
from gym_gui.controllers.child_jobs.films import FilmOrder

ORDER = FilmOrder({("run", "a"): [0]}, 1000)


@pytest.fixture
def run(tmp_path: Path, runs: Any) -> Path:
    failed = {"status": "failed", "error": "worker lost"}
    rows = {
        name: [runs.single(name, 0, best), runs.single(name, 1, 1.0), runs.single(name, 2, None, **failed)]
        for name, best in (("a", 3.0), ("b", 5.0))
    }
    return runs.write_run(tmp_path, runs.Plan(rows))


def test_they_are_begun_before_the_record_is_checked(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, checked, orders = threading.Event(), read_runs.checked, list[FilmOrder]()

    async def begin(_runs: object, order: FilmOrder, *_: object) -> None:
        orders.append(order)
        begun.set()

    def check(*given: Any) -> Any:
        assert begun.wait(30)
        return checked(*given)

    monkeypatch.setattr(report_films, "make_films", begin)
    monkeypatch.setattr(read_runs, "checked", check)
    report_runs([run], out=None, replays=True, as_json=True)
    assert [[index for _, _, index in order] for order in orders] == [[0, 1, 2, 0, 1, 2]]


def test_the_same_episodes_are_shown_as_the_page_shows(run: Path) -> None:
    collected = list[Entry]()

    def collect(_runs: Sequence[Run], entries: Sequence[Entry]) -> None:
        collected.extend(entries)

    scenes = scenes_of(summarize([open_run(run)], on_collected=collect))
    found = [(each.operator_key, each.key, each.bad) for each in shown_episodes(collected)]
    assert found == [(scene.operator_key, scene.key, scene.bad) for scene in scenes]
    assert [(key, bad) for key, _, bad in found[:3]] == [("b", ""), ("b", ""), ("b", "worker lost")]


def test_they_end_with_a_report_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled = threading.Event()

    async def never(*_: object) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    monkeypatch.setattr(report_films, "make_films", never)
    with pytest.raises(ZeroDivisionError), ReportFilms(tmp_path) as films:
        films.begin([], ORDER)
        raise ZeroDivisionError
    assert cancelled.is_set()


def test_their_error_is_raised_where_they_are_awaited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(report_films, "make_films", fail)
    with ReportFilms(tmp_path) as films:
        films.begin([], ORDER)
        with pytest.raises(OSError, match="no room"):
            films.wait(as_json=True)
