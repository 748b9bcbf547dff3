"""Agents that others' libraries make (docs/examples), in environments of their own, on record as ours are."""

from __future__ import annotations

import importlib
import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gym_gui.analysis import OperatorRun
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeRegistry
from mosaic_worker.spaces import Space
from mosaic_worker.worker import Decision, EpisodeStart, Slot
from tests.support.commands import ROOT, Mosaic
from tests.support.fake_model_server import FakeModelServer, Reply, Request
from tests.support.model_server import ModelServer
from tests.support.processes import Offspring
from tests.support.runs import played_here

EXAMPLES = ROOT / "docs" / "examples"
GRID = "MiniGrid-Empty-5x5-v0"
SOCCER = "MosaicMultiGrid-Soccer-2vs2-IndAgObs-v0"


def looped(word: str) -> Reply:
    return Reply(f"The way is free.\nACTION: {word}\nSAY: I go {word}", tokens=(100, 7))


def graphed(word: str) -> Reply:
    return Reply(tool_calls=[("act", json.dumps({"action": word}))], tokens=(100, 7))


SAYS = {"loop_worker": looped, "langgraph_worker": graphed}
CLASSES = {"loop_worker": "LoopWorker", "langgraph_worker": "LangGraphWorker"}


def script(name: str) -> Any:
    """Answers by the model's name: ``good`` is legal, ``late`` at the second ask, ``never`` not at all."""
    asked: dict[str, int] = {}

    def say(request: Request) -> Reply:
        model = request.json["model"]
        asked[model] = asked.get(model, 0) + 1
        legal = model == "good" or (model == "late" and asked[model] % 2 == 0)
        known = re.findall(r"Legal moves: (.*?)(?:\\n|\n|\"|$)", request.words)[-1].split(", ")
        return SAYS[name](("forward" if "forward" in known else known[0]) if legal else "fly")

    return say


def seat(name: str, url: str, model: str) -> dict[str, Any]:
    return {"worker_id": name, "settings": {"base_url": url, "model_id": model, "rounds": 2}}


def alone(name: str, url: str, model: str, operator: str = "") -> dict[str, Any]:
    return {"id": operator or model, "task": GRID, "workers": {"agent": seat(name, url, model)}}


def line(run: OperatorRun) -> str:
    """Why the only episode failed."""
    (episode,) = run.episodes()
    assert str(episode.status) == "failed"
    assert "\n" not in str(episode.error)
    return str(episode.error)


def installed(name: str, mosaic: Mosaic) -> Path:
    """An example, copied as a person copies it, with what it needs."""
    folder = shutil.copytree(EXAMPLES / name, mosaic.home / "data" / "workers" / name)
    done = mosaic("workers", "install", name, "--json")
    assert done.status == 0, done.err
    return folder


@pytest.mark.full
@pytest.mark.parametrize("name", ["langgraph_worker", "loop_worker"])
async def test_it_is_installed_and_plays_and_its_calls_are_on_record(
    name: str, tmp_path: Path, offspring: Offspring, model_server: ModelServer
) -> None:
    mosaic = Mosaic(tmp_path, offspring)
    folder = installed(name, mosaic)
    assert len((folder / f"{name}.py").read_text().splitlines()) < 80
    with FakeModelServer(script(name)) as server:
        operators = [alone(name, server.url, model) for model in ("good", "late", "never")]
        operators.append(alone(name, "http://127.0.0.1:1/v1", "good", "away"))
        operators.append(alone(name, model_server.url, model_server.model, "real"))
        if name == "loop_worker":
            team = dict.fromkeys(("green_0", "green_1"), seat(name, server.url, "good"))
            others = {agent: {"type": "random"} for agent in ("blue_0", "blue_1")}
            operators.append({"id": "team", "task": SOCCER, "workers": {**team, **others}})
        execution = {"num_episodes": 1, "seeds": [7], "max_steps": 3}
        with WorkerTypeRegistry.isolated():
            discover()
            played = await played_here(tmp_path / "played", {"operators": operators, "execution": execution})
    runs = played.open().operators
    assert [step.action for step in runs["good"].steps()] == [2, 2, 2]
    tokens = [step.tokens for step in runs["late"].steps()]
    assert [(each.input, each.output) for each in tokens if each] == [(200, 14)] * 3
    calls = list(runs["late"].calls())
    assert [call["ref"] for call in calls] == [
        f"agent_0/0/{step}/0/{turn}" for step in range(3) for turn in (0, 1)
    ]
    assert [step.call_ref for step in runs["late"].steps()] == [call["ref"] for call in calls[1::2]]
    assert all(
        call["tokens"] == {"input": 100, "output": 7} and "fly" in call["reply"] for call in calls[::2]
    )
    assert calls[0]["messages"][0]["role"] == "system" and "Legal" in calls[0]["messages"][1]["content"]
    assert "no legal action in 2 replies" in line(runs["never"])
    a_real_model_was_asked(runs["real"], model_server)
    assert "the model at http://127.0.0.1:1/v1 gives no answer" in line(runs["away"])
    (failed,) = runs["away"].calls()
    assert failed["error"]
    if name == "loop_worker":
        said = [step.extra.get("said") for step in runs["team"].steps() if step.agent_id == "green_0"]
        assert said == ["I go forward"] * 3
        assert any("Your team-mate green_1: I go forward" in request.words for request in server.requests)


def a_real_model_was_asked(run: OperatorRun, server: ModelServer) -> None:
    """Its weights are random: what it says is no action, which is known only to who reads it."""
    calls = list(run.calls())
    assert calls and {call["model"] for call in calls} == {server.model}
    assert all(call["tokens"]["input"] > 50 and call["tokens"]["output"] > 0 for call in calls), calls
    assert "no legal action in 2 replies" in line(run)


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(SAYS))
def test_it_keeps_the_contract(name: str, tmp_path: Path, offspring: Offspring) -> None:
    mosaic = Mosaic(tmp_path, offspring)
    installed(name, mosaic)
    with FakeModelServer(script(name)) as server:
        given = ("--set", "model_id=good", "--set", f"base_url={server.url}")
        checked = mosaic("workers", "check", name, "--env", GRID, *given)
    assert checked.status == 0, checked.out


@pytest.mark.parametrize("name", [pytest.param("langgraph_worker", marks=pytest.mark.full), "loop_worker"])
async def test_slots_of_one_process_ask_their_own_models(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Linked agents share a process, not their settings."""
    pytest.importorskip("openai" if name == "loop_worker" else "langgraph")
    monkeypatch.syspath_prepend(EXAMPLES / name)
    worker = getattr(importlib.import_module(name), CLASSES[name])()
    calls: list[Any] = []
    worker.host = SimpleNamespace(record_call=calls.append)
    space = Space("Discrete", "int64", n=2)
    with FakeModelServer(script(name)) as server:
        slots = []
        for index, model in enumerate(("good", "never")):
            settings = {"base_url": server.url, "model_id": model, "rounds": index + 1}
            slots.append(Slot(index, f"agent_{index}", "x-v0", space, space, settings, ("forward", "stay")))
            worker.load(slots[-1])
            worker.reset(slots[-1], [EpisodeStart(0, 1, slots[-1].agent_id)])
        decision = Decision(0, 0, 0, 1, 0, None, 0, "", "a room")
        good, never = [await worker.decide(slot, decision) for slot in slots]
        await worker.decide(slots[1], decision)
        await worker.aclose()
    assert good.actions == [0]
    assert "no legal action in 2 replies" in never.reason
    assert [(call["agent"], call["model"]) for call in calls] == [
        ("agent_0", "good"), *[("agent_1", "never")] * 4,
    ]  # fmt: skip
    for call in calls if name == "loop_worker" else ():  # servers refuse two questions in a row
        roles = [message["role"] for message in call["messages"]]
        assert roles == ["system", *["user", "assistant"] * (len(roles) // 2 - 1), "user"]
