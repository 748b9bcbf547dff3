"""Which executors can be used from this machine, as far as that is seen without asking another machine."""

from __future__ import annotations

import importlib.util
import shutil
from typing import Final

from gym_gui.core import paths

REACHES: Final = ("SSH_AUTH_SOCK", "RAY_ADDRESS")
"""Variables by which other machines are reached, for a process that does."""


def available_executors() -> tuple[str, ...]:
    """Their names, in the order of :data:`~gym_gui.services.submissions.executors.EXECUTORS`.

    ``ssh`` where a person keeps hosts, ``slurm`` where jobs are handed in, ``ray`` where it is installed.
    """
    has = {
        "local": True,
        "ssh": shutil.which("ssh") is not None and paths.hosts_file().exists(),
        "slurm": shutil.which("sbatch") is not None,
        "ray": importlib.util.find_spec("ray") is not None,
    }
    return tuple(name for name, usable in has.items() if usable)
