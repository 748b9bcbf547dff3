"""The manual's own example: two files dropped into a folder play, and no core file changes."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import gymnasium as gym
import pytest

from gym_gui.core.assignment import WorkerAssignment
from gym_gui.core.spaces import SpaceCodec
from gym_gui.core.types import Answer, Decision
from gym_gui.services.backends import SlotInfo
from gym_gui.services.fit import fit
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeRegistry
from gym_gui.workers.status import check_installed
from gym_gui.workers.supervisor import SessionEvents, SlotRequest, Supervisor

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
        "agent_0", "Nothing-v0", observation_space, action_space, {**settings, "favourite": 2}
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
