"""What ``PolicyMappingService.select_batch`` is asked, in whatever process of ours it is called."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import orjson
import pytest

_NOTE_IT = """
import os, sys

if {always} or "gym_gui.host" in sys.orig_argv:
    from gym_gui.services.policy_mapping import PolicyMappingService

    select_batch = PolicyMappingService.select_batch

    async def noted(self, decisions, batches=()):
        with open(f"{folder}/{{os.getpid()}}.asked", "a") as file:
            for d in decisions:
                file.write(f"{{d.episode}} {{d.step}} {{d.agent_id}}\\n")
            for batch in batches:
                for episode, agent in zip(batch.episodes, batch.agents):
                    file.write(f"{{episode.index}} {{episode.steps}} {{agent}}\\n")
        return await select_batch(self, decisions, batches)

    PolicyMappingService.select_batch = noted
"""

Asked = Counter[tuple[int, int, str]]


class Questions:
    """Notes every question of processes that are started after it was made.

    Args:
        folder: An empty folder of its own.
        monkeypatch: Sets the variable that those processes read.
        here: Whether processes that host no session are noted too.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, *, here: bool = False) -> None:
        self._folder = folder
        (folder / "sitecustomize.py").write_text(_NOTE_IT.format(always=here, folder=folder))
        self.variables = {"PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
        for name, value in self.variables.items():
            monkeypatch.setenv(name, value)

    def asked(self) -> Asked:
        """How often each (episode, step, agent) was asked for."""
        lines = [line for path in self._folder.glob("*.asked") for line in path.read_text().splitlines()]
        parts = [line.split(" ", 2) for line in lines]
        return Counter((int(episode), int(step), agent) for episode, step, agent in parts)


def recorded(run: Path) -> Asked:
    """The decisions that the rows of a run's one operator tell of."""
    (steps,) = run.glob("operators/*/steps.jsonl")
    rows = [orjson.loads(line) for line in steps.read_bytes().splitlines()]
    return Counter((row["episode_index"], row["step_index"], row["agent_id"]) for row in rows)
