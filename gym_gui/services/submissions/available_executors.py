"""Finds the executors that can be used from this machine, without contacting another machine."""

from __future__ import annotations

import importlib.util
import shutil
from typing import Final

from gym_gui.core import paths

REACHES: Final = ("SSH_AUTH_SOCK", "RAY_ADDRESS")
"""Environment variables that a process needs to reach other machines."""


def available_executors() -> tuple[str, ...]:
    """Return the usable executors in the order of :data:`~gym_gui.services.submissions.executors.EXECUTORS`.

    ``ssh`` needs a hosts file, ``slurm`` needs ``sbatch``, and ``ray`` needs the package.
    """
    has = {
        "local": True,
        "ssh": shutil.which("ssh") is not None and paths.hosts_file().exists(),
        "slurm": shutil.which("sbatch") is not None,
        "ray": importlib.util.find_spec("ray") is not None,
    }
    return tuple(name for name, usable in has.items() if usable)
