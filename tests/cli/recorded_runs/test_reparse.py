"""``mosaic reparse``: recorded replies through today's reader; no model is asked, the run stays as it is."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gym_gui.processes.tree import TAG
from tests.support.commands import Mosaic, experiment
from tests.support.fake_model_server import FakeModelServer, Reply, Request
from tests.support.processes import Offspring

pytestmark = pytest.mark.usefixtures("all_sessions_here")

EPISODES, STEPS = 2, 4


def said(request: Request) -> Reply:
    """Every third reply cannot be read."""
    return Reply("I would rather not." if request.number % 3 == 1 else "<action>right</action>")


def player(url: str, **settings: Any) -> dict[str, Any]:
    return {
        "type": "llm",
        "settings": {"base_url": url, "client_name": "custom", "model_id": "m", **settings},
        "on_invalid": {"retry": 1, "then": "random_legal"},
    }


def lake(url: str, **settings: Any) -> dict[str, Any]:
    slots = {"agent": player(url, **settings)}
    return {"id": "lake", "task": "FrozenLake-v1", "max_steps": STEPS, "workers": slots}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, for all tests; it is not to be changed."""
    home = tmp_path_factory.mktemp("language")
    mosaic = Mosaic(home, Offspring(f"reparse-{os.getpid()}-{os.urandom(4).hex()}"))
    with tempfile.TemporaryDirectory(prefix="mt", dir="/tmp") as runtime, FakeModelServer(said) as server:
        path = experiment(home, lake(server.url), num_episodes=EPISODES, concurrency=1)
        done = mosaic("run", path, "--json", **{TAG: "tests", "MOSAIC_RUNTIME_DIR": runtime})
    assert done.status == 0, done.err
    return home / done.json()["run"]


@pytest.fixture
def run(mosaic: Mosaic, recorded: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(recorded, mosaic.home / "runs" / recorded.name))


def rows(run: Path, name: str) -> list[dict[str, Any]]:
    lines = (run / "operators" / "lake" / name).read_text().splitlines()
    return [json.loads(line) for line in lines]


def rewrite(run: Path, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
    """The calls, as another reader would have had to read them."""
    changed = [call for row in rows(run, "calls.jsonl") if (call := change(row)) is not None]
    text = "".join(json.dumps(call) + "\n" for call in changed)
    (run / "operators" / "lake" / "calls.jsonl").write_text(text)


def test_the_reader_that_recorded_a_run_reads_it_the_same(mosaic: Mosaic, recorded: Path) -> None:
    before = {path: path.read_bytes() for path in sorted(recorded.rglob("*")) if path.is_file()}
    done = mosaic("reparse", recorded)
    assert done.status == 0, done.err
    decisions = len(rows(recorded, "steps.jsonl"))
    assert done.out == f"lake: {decisions} decisions read again, {decisions} same.\n"
    assert {path: path.read_bytes() for path in sorted(recorded.rglob("*")) if path.is_file()} == before


def test_what_is_read_otherwise_is_named_with_its_place(mosaic: Mosaic, run: Path) -> None:
    """One reply of each kind is another, as if the reader of its time had read something else in it."""
    steps = rows(run, "steps.jsonl")
    plain = [row["call_ref"] for row in steps if row["action_source"] == "policy"]
    asked_again = next(row["call_ref"] for row in steps if row["action_source"] == "retry")
    refused = f"{asked_again.rsplit('/', 2)[0]}/0/0"
    new = {
        plain[0]: "<action>down</action>",
        plain[1]: "Either left or down.",
        refused: "<action>up</action>",
    }
    rewrite(run, lambda call: {**call, "reply": new.get(call["ref"], call["reply"])})
    done = mosaic("reparse", run, "--json")
    assert done.status == 1, done.err
    result = done.json()
    assert not result["equal"] and result["departures"] == []
    assert result["operators"] == [
        {
            "operator_id": "lake",
            "name": "lake",
            "same": len(steps) - 3,
            "differs": 2,
            "newly_readable": 0,
            "no_longer_readable": 1,
            "unrecorded": 0,
        }
    ]
    by_ref = {f"{c['agent_id']}/{c['episode_index']}/{c['step_index']}": c for c in result["changed"]}
    first, second, third = (by_ref[ref.rsplit("/", 2)[0]] for ref in (plain[0], plain[1], refused))
    assert (first["kind"], first["recorded_word"], first["now_word"]) == ("differs", "right", "down")
    assert (second["kind"], second["now"]) == ("no_longer_readable", None) and second["why"]
    assert third["now_word"] == "up" and "answer 1 of 2, which was refused then" in third["why"]
    told = mosaic("reparse", run)
    assert told.status == 1 and "recorded as 'right', now read as 'down'" in told.out
    assert f"{len(steps) - 3} same, 2 differ, 1 no longer readable" in told.out


def test_what_could_not_be_read_then_is_newly_readable(mosaic: Mosaic) -> None:
    slots = {"agent": {**player(""), "on_invalid": "random_legal"}}
    with FakeModelServer(lambda _: "no idea") as server:
        slots["agent"]["settings"]["base_url"] = server.url
        operator = {**lake(""), "workers": slots, "max_steps": 1}
        path = experiment(mosaic.home, operator, num_episodes=1)
        run = mosaic.home / mosaic("run", path, "--json").json()["run"]
    assert mosaic("reparse", run).status == 0, "nothing can be read, then or now"
    rewrite(run, lambda call: {**call, "reply": "Action: left"})
    (changed,) = mosaic("reparse", run, "--json").json()["changed"]
    assert (changed["kind"], changed["recorded"], changed["now_word"]) == ("newly_readable", None, "left")
    assert "names no action" in changed["why"]


def test_replies_that_are_not_kept_are_counted_apart(mosaic: Mosaic, run: Path) -> None:
    lost = next(row["call_ref"] for row in rows(run, "steps.jsonl") if row["action_source"] == "policy")
    rewrite(run, lambda call: None if call["ref"] == lost else call)
    decisions = len(rows(run, "steps.jsonl"))
    assert mosaic("reparse", run).out == (
        f"lake: {decisions - 1} decisions read again, {decisions - 1} same; 1 more without recorded reply.\n"
    )


def test_what_cannot_be_read_again_is_one_line(mosaic: Mosaic, run: Path) -> None:
    calls = run / "operators" / "lake" / "calls.jsonl"
    whole = calls.read_bytes()
    rewrite(run, lambda call: {key: call[key] for key in call if key not in ("reply", "messages")})
    assert "cassette 'off'" in mosaic.refused("reparse", run)
    calls.write_bytes(whole[: len(whole) // 2] + b"{broken\n" + whole[len(whole) // 2 :])
    assert f"{calls}:" in mosaic.refused("reparse", run)
    calls.unlink()
    assert "no recorded calls of operator 'lake'" in mosaic.refused("reparse", run)
    assert "no run at" in mosaic.refused("reparse", mosaic.home / "nowhere")


def test_a_run_without_models_has_no_replies(mosaic: Mosaic) -> None:
    run = mosaic.home / mosaic("run", experiment(mosaic.home), "--json").json()["run"]
    assert "language model" in mosaic.refused("reparse", run)


def test_seats_that_are_swapped_and_moves_of_their_position_are_read_too(mosaic: Mosaic) -> None:
    """Who plays both sides of connect four by turns, with words of columns that are legal there."""
    with FakeModelServer(lambda _: "<action>column 3</action>") as server:
        slots = {"player_0": player(server.url), "player_1": {"type": "random"}}
        game = {"id": "lake", "task": "connect_four_v3", "seats": "swap", "max_steps": 6, "workers": slots}
        path = experiment(mosaic.home, game, num_episodes=2)
        run = mosaic.home / mosaic("run", path, "--json").json()["run"]
    done = mosaic("reparse", run, "--json")
    assert done.status == 0, done.err or done.out
    (operator,) = done.json()["operators"]
    assert operator["same"] == 6 and operator["unrecorded"] == 0
