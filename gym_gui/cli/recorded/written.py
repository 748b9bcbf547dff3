"""``mosaic replay --as-python``: a recorded episode as a program of its own."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from gym_gui.analysis import open_run
from gym_gui.controllers.apart.written_loop import written_loop_apart
from gym_gui.core.paths import find_run
from gym_gui.services.runs.recorded_episode import load_episode


def print_loop(run: Path, *, operator: str = "", episode: int | None = None) -> None:
    """Print it.

    Args:
        run: The run folder.
        operator: By default the first that has an episode.
        episode: By default the first there is.

    Raises:
        UsageError: There is no such run or episode, or nothing but MOSAIC plays it.
    """
    recorded = load_episode(open_run(find_run(run)), operator, episode)
    sys.stdout.write(asyncio.run(written_loop_apart(recorded)))
