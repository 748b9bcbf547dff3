"""The manual's own example: two files dropped into a folder play, and no core file changes."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import gymnasium as gym
import pytest

from gym_gui.analysis import open_run
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.spaces import SpaceCodec
from gym_gui.core.types import Answer, Decision
from gym_gui.services.backends import SlotInfo
from gym_gui.services.compatibility import fit
from gym_gui.workers.discovery import discover
from gym_gui.workers.manifest import read_manifest
from gym_gui.workers.registry import WorkerTypeRegistry
from gym_gui.workers.status import check_installed
from gym_gui.workers.supervisor import SessionEvents, SlotRequest, Supervisor
from tests.support.engine import record_run

MANUAL = Path(__file__).resolve().parents[2] / "docs/workers.md"


def drop_the_manuals_worker(workers: Path) -> None:
    section = MANUAL.read_text().partition("## A worker in two files")[2]
    manifest, code = (
        re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)[1]  # type: ignore[index]
        for language in ("toml", "python")
    )
    package = workers / "dice_worker/dice_worker"
    package.mkdir(parents=True)
    (package.parent / "worker.toml").write_text(manifest)
    (package / "main.py").write_text(code)


async def test_example_of_the_manual_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path))
    drop_the_manuals_worker(tmp_path / "workers")
    with WorkerTypeRegistry.isolated():
        discover()
        definition, settings = WorkerTypeRegistry.resolve("dice_worker")
    observation_space, action_space = gym.spaces.Box(-1, 1, (2,)), gym.spaces.Discrete(3)
    player = WorkerAssignment("dice_worker", definition.kind.value)
    assert fit(SlotInfo("agent_0", observation_space, action_space), definition, player) == ""
    assert check_installed(definition).state == "installed"

    answers: asyncio.Queue[Answer] = asyncio.Queue()
    events = SessionEvents(lambda *_: None, lambda _: None, lambda *_: None)
    supervisor = Supervisor("test", events)
    request = SlotRequest(
        "agent_0", "Nothing-v0", observation_space, action_space, {**settings, "favorite": 2}
    )
    try:
        ((slot, _),) = await supervisor.start_worker(
            definition, [request], lambda batch: [*map(answers.put_nowait, batch)]
        )
        slot.begin(0, 7)
        seen = observation_space.sample()
        slot.ask(
            [Decision(1, 0, 0, "agent_0", "agent_0", 7, seen, SpaceCodec(observation_space).encode(seen))]
        )
        answer = await asyncio.wait_for(answers.get(), 20)
    finally:
        await supervisor.close()
    assert (answer.action, answer.invalid, answer.failure) == (2, "", "")


TOLD = """
from mosaic_worker.worker import Worker

class ToldWorker(Worker):
    def load(self, slot):
        self.first, self.second = slot.settings["first"], slot.settings["second"]
        return f"told {self.first} and {self.second}"

    def select_actions(self, batch):
        return [self.first] * len(batch)
"""
MANIFEST = """
id = "told_worker"
name = "Told"
kind = "baseline"
version = "1"
description = "Does what its settings say."
[launch]
entry = "told_worker.main:ToldWorker"
[capabilities]
supported_paradigms = ["SINGLE_AGENT"]
env_types = ["gymnasium"]
action_spaces = ["discrete"]
observation_spaces = ["any"]
[defaults]
settings = {second = 5}
[settings.first]
type = "whole"
default = 1
[settings.second]
type = "whole"
default = 4
"""


def drop_told_worker(workers: Path) -> None:
    package = workers / "told_worker/told_worker"
    package.mkdir(parents=True)
    (package.parent / "worker.toml").write_text(MANIFEST)
    (package / "main.py").write_text(TOLD)


async def test_defaults_of_the_manifest_reach_the_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path))
    drop_told_worker(tmp_path / "workers")
    with WorkerTypeRegistry.isolated():
        discover()
        definition = WorkerTypeRegistry.require("told_worker")
        definition.check_defaults()
        seats = {"agent_0": WorkerAssignment("told_worker", "baseline", {"first": 0})}
        given = OperatorConfig("given", "", "", "CartPole-v1", seats, max_steps=4)
        seats = {"agent_0": WorkerAssignment("told_worker", "baseline")}
        left = OperatorConfig("left", "", "", "CartPole-v1", seats, max_steps=4)
        run = open_run(await record_run(tmp_path / "runs", (left, {}), (given, {}), seeds=[1]))
    for name, action in (("left", 1), ("given", 0)):
        (episode,) = run.operators[name].episodes()
        assert episode.agents["agent_0"].policy == f"told {action} and 5", episode.error
        assert {step.action for step in run.operators[name].steps()} == {action}
    assert {s.name: s.default for s in definition.settings_schema if s.name != "seed"} == {
        "first": 1,
        "second": 5,
    }


def test_a_default_of_a_setting_that_there_is_not_is_said(tmp_path: Path) -> None:
    drop_told_worker(tmp_path)
    manifest = tmp_path / "told_worker/worker.toml"
    manifest.write_text(MANIFEST.replace("{second = 5}", "{secnd = 5}"))
    with pytest.raises(UsageError, match=r"\[defaults\].*secnd.*second"):
        read_manifest(manifest).check_defaults()
