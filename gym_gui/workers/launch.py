"""Data for starting one worker process, and its command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.own_files import with_files

START_TIMEOUT_S = 120.0
"""Longest wait in seconds for a worker's ``Welcome`` (torch loads slowly from a cold disk)."""


@dataclass(frozen=True)
class Launch:
    """Data for starting one worker process.

    Attributes:
        definition: The worker.
        operator: Operator that the worker belongs to, shown by ``ps``.
        agents: Slots that the worker plays, shown by ``ps``.
        gpus: Indices of the GPUs that the worker may use.
        memory_mb: Limit in MB on the process tree's resident memory; ``None`` for the definition's limit.
        start_timeout_s: Longest wait in seconds for the worker's ``Welcome``.
    """

    definition: WorkerTypeDefinition
    operator: str = ""
    agents: Sequence[str] = ()
    gpus: Sequence[str] = ()
    memory_mb: float | None = None
    start_timeout_s: float = START_TIMEOUT_S

    def command(self, fd: int | None) -> list[str]:
        """Return the command line, which contains no secrets; ``fd`` is the socket's descriptor."""
        d = self.definition
        python = str(d.launch.python or sys.executable)
        if d.launch.command:
            return with_files(d.launch.command, d.type_id)
        command = [python, "-m", "mosaic_worker", d.type_id, "--entry", d.entry_point]
        command += ["--version", d.version, "--parent", str(os.getpid())]
        command += ["--operator", self.operator] if self.operator else []
        command += ["--agents", ",".join(self.agents)] if self.agents else []
        return [*command, "--fd", str(fd)] if fd is not None else command
