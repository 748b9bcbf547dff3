"""Runs in which a model is told a game in other names: what is asked, recorded, shown and read again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Mosaic, experiment
from tests.support.fake_model_server import FakeModelServer, Reply, Request

pytestmark = pytest.mark.usefixtures("all_sessions_here")


def player(url: str, **settings: Any) -> dict[str, Any]:
    given = {"base_url": url, "client_name": "custom", "model_id": "m", **settings}
    return {"type": "llm", "settings": given, "on_invalid": {"retry": 1, "then": "random_legal"}}


def script(request: Request) -> Reply:
    """Goes down, in the word that the list of actions has for it; else to the column before the last."""
    down = re.search(r"- (\w+): one cell down", request.words)
    columns = re.findall(r"- (column \w+)", request.words)
    return Reply(f"<action>{down[1] if down else columns[-2]}</action>")


def calls(run: Path, operator: str) -> list[dict[str, Any]]:
    lines = (run / "operators" / operator / "calls.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_a_run_in_other_names_is_played_recorded_shown_and_read_again(mosaic: Mosaic) -> None:
    with FakeModelServer(script) as server:
        names = {"rename": "both", "rename_seed": 3}
        slots = {"agent": player(server.url, **names)}
        lake = {"id": "lake", "task": "FrozenLake-v1", "max_steps": 3, "workers": slots}
        sides = {"player_0": player(server.url, **names, hide_legal=True), "player_1": {"type": "random"}}
        four = {"id": "four", "task": "connect_four_v3", "max_steps": 4, "workers": sides}
        path = experiment(mosaic.home, lake, four, num_episodes=1, concurrency=1)
        done = mosaic("run", path, "--json")
        assert done.status == 0, done.err
    run = mosaic.home / done.json()["run"]

    record = json.loads((run / "run.json").read_text())
    pairs = dict(pair.split(": ") for pair in record["renamed"]["lake"]["agent_0"])
    assert pairs["hole"].isalpha() and len({*pairs.values()}) == len(pairs)
    assert record["actions"]["lake"]["agent_0"][1] == f"{pairs['down']} (down)"
    prompts = json.dumps([call["messages"] for call in calls(run, "lake")])
    assert f"- {pairs['down']}: one cell down" in prompts and "hole" not in prompts
    assert all(call["reply"] == f"<action>{pairs['down']}</action>" for call in calls(run, "lake"))
    rows = [json.loads(row) for row in (run / "operators/lake/steps.jsonl").read_text().splitlines()]
    assert {(row["action"], row["action_source"]) for row in rows} == {(1, "policy")}

    marks = dict(pair.split(": ") for pair in record["renamed"]["four"]["player_0"])
    rows = [json.loads(row) for row in (run / "operators/four/steps.jsonl").read_text().splitlines()]
    ours = [row for row in rows if row["agent_id"] == "player_0"]
    assert {row["action"] for row in ours} == {5} and {row["action_source"] for row in ours} == {"policy"}
    assert all(f"column {marks['column 6']}" in call["reply"] for call in calls(run, "four"))

    done = mosaic("reparse", run)
    assert done.status == 0, done.out
    assert f"lake: {len(calls(run, 'lake'))} decisions read again" in done.out
    page, transcript = ((run / name).read_text() for name in ("report.html", "transcript.html"))
    assert "actions and objects, as far as there are any, had other names (rename_seed 3)" in page
    assert "For player_0 the legal actions were not listed." in page
    assert f"hole: {pairs['hole']}" in transcript and f"{pairs['down']} (down)" in transcript
    assert mosaic("verify", run).status == 0
    again = mosaic("run", "--replay", run, "--json")
    assert again.status == 0, again.err
    steps = [
        (mosaic.home / again.json()["run"] / f"operators/{name}/episodes.jsonl") for name in ("lake", "four")
    ]
    assert all(json.loads(path.read_text())["status"] == "completed" for path in steps)


@pytest.mark.full
def test_what_cannot_be_told_otherwise_is_one_line(mosaic: Mosaic) -> None:
    def refused(task: str, *agents: str, **settings: Any) -> str:
        slots = {agent: player("http://localhost:1/v1", **settings) for agent in agents or ("agent",)}
        return mosaic.refused("run", experiment(mosaic.home, {"id": "a", "task": task, "workers": slots}))

    nothing = "rename 'objects': nothing in CartPole-v1 can be given another name"
    assert nothing in refused("CartPole-v1", rename="objects")
    assert "rename 'actions': no action of Pendulum-v1" in refused("Pendulum-v1", rename="actions")
    told = refused("open_spiel/breakthrough", "player_0", "player_1", hide_legal=True)
    assert "hide_legal: answers in open_spiel/breakthrough can only be read by the legal actions" in told
    assert "Seed of names" in refused("FrozenLake-v1", rename="both", rename_seed=-1)
