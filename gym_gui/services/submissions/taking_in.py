"""Run folders of shards are taken to where those are that are whole."""

from __future__ import annotations

import shutil
from pathlib import Path

from gym_gui.services.submissions.trouble import HostFailedError


def take_in(source: Path, shards: Path) -> None:
    """Move run folders to those that have been collected; one that was taken before is replaced.

    Args:
        source: The folder that they are in.
        shards: Where they belong.

    Raises:
        HostFailedError: There is none.
    """
    shards.mkdir(exist_ok=True)
    found = [file.parent for file in source.glob("*/run.json")]
    if not found:
        raise HostFailedError(f"there is no run folder in {source}")
    for run in found:
        target = shards / run.name
        if target.exists():
            shutil.rmtree(target)
        # Another disk: the folder appears under its name when it is whole.
        coming = shards.parent / f".coming-{run.name}"
        shutil.rmtree(coming, ignore_errors=True)
        shutil.move(run, coming)
        coming.rename(target)
