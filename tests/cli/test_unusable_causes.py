"""Forfeits and fallbacks by cause: in the record, the terminal, the page, the summary and files."""

from __future__ import annotations

import json

import pytest

from gym_gui.analysis import open_run, summarize
from gym_gui.analysis.exports.export import operator_rows
from tests.support.commands import Mosaic, experiment
from tests.support.fake_model_server import FakeModelServer, Raw, Request, refusal

pytestmark = pytest.mark.usefixtures("all_sessions_here")


def said(request: Request) -> str | Raw:
    """A square; then one that cannot be read, one that is taken, and no reply."""
    return [
        "<action>column 1 row 1</action>",
        "I would rather not.",
        "<action>column 1 row 1</action>",
        refusal(503, "overloaded"),
    ][min(request.number, 3)]


def test_every_table_says_why_decisions_came_to_nothing(mosaic: Mosaic) -> None:
    with FakeModelServer(said) as server:
        settings = {"base_url": server.url, "client_name": "custom", "model_id": "m", "retries": 0}
        slots = {
            "player_1": {"type": "llm", "settings": settings, "on_invalid": "random_legal"},
            "player_2": {"type": "random"},
        }
        game = {"id": "game", "task": "tictactoe_v3", "workers": slots, "max_steps": 8}
        path = experiment(mosaic.home, game, num_episodes=1)
        done = mosaic("run", path)
    assert done.status == 0, done.err
    run = open_run(next((mosaic.home / "runs").iterdir()))
    (line,) = run.path.glob("operators/game/episodes.jsonl")
    causes = json.loads(line.read_text())["unusable_causes"]
    assert causes == {"player_1": {"unreadable": 1, "illegal": 1, "model_error": 1}}
    rows = [row for row in run.operators["game"].steps() if row.agent_id == "player_1"]
    assert [row.extra.get("cause") for row in rows] == [None, "unreadable", "illegal", "model_error"]
    told = "1 unreadable, 1 illegal, 1 no reply"
    assert "Why unusable" in done.out and "1 unreadable" in done.out
    assert told in (run.path / "report.html").read_text()
    summary = summarize(run)
    assert summary.operators[0].unusable_causes == {"illegal": 1, "model_error": 1, "unreadable": 1}
    row = operator_rows(summary)[0]
    assert (row["unusable_unreadable"], row["unusable_time_out"]) == (1, 0)


def test_where_all_is_well_no_column_is_shown(mosaic: Mosaic) -> None:
    assert "Why unusable" not in mosaic("run", experiment(mosaic.home)).out


def test_a_verdict_on_a_model_that_never_answered_begins_with_that(mosaic: Mosaic) -> None:
    with FakeModelServer(lambda request: refusal(503, "overloaded")) as server:
        settings = {"base_url": server.url, "client_name": "custom", "model_id": "m", "retries": 0}
        player = {"type": "llm", "settings": settings, "on_invalid": "random_legal"}
        task = {"task": "FrozenLake-v1", "max_steps": 3}
        rows = [{"id": "silent", "workers": {"agent": player}, **task}, {"id": "other", **task}]
        done = mosaic("run", experiment(mosaic.home, *rows, num_episodes=2))
    assert done.status == 0, done.err
    first = next(line for line in done.out.splitlines() if line)
    assert first.startswith("silent never gave an answer that could be played"), done.out
