"""What is needed to start one worker, and its command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.own_files import with_files

START_TIMEOUT_S = 120.0
"""A worker that has not said hello by then (torch on a cold disk takes long) is given up."""


@dataclass(frozen=True)
class Launch:
    """What is needed to start one worker process.

    Attributes:
        definition: The worker.
        operator: Operator it works for, shown by ``ps``.
        agents: Slots it fills, shown by ``ps``.
        gpus: Devices it may see.
        memory_mb: Limit on resident memory of its whole tree; ``None``: the definition's.
        start_timeout_s: Time until its ``Welcome``.
    """

    definition: WorkerTypeDefinition
    operator: str = ""
    agents: Sequence[str] = ()
    gpus: Sequence[str] = ()
    memory_mb: float | None = None
    start_timeout_s: float = START_TIMEOUT_S

    def command(self, fd: int | None) -> list[str]:
        """The command line. Nothing secret is in it."""
        d = self.definition
        python = str(d.launch.python or sys.executable)
        if d.launch.command:
            return with_files(d.launch.command, d.type_id)
        command = [python, "-m", "mosaic_worker", d.type_id, "--entry", d.entry_point]
        command += ["--version", d.version, "--parent", str(os.getpid())]
        command += ["--operator", self.operator] if self.operator else []
        command += ["--agents", ",".join(self.agents)] if self.agents else []
        return [*command, "--fd", str(fd)] if fd is not None else command
