"""``mosaic report``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from gym_gui.analysis import Run, report
from gym_gui.analysis.scenes import Films
from gym_gui.analysis.summary import Summary
from gym_gui.cli.errors import tell
from gym_gui.cli.games import write_games
from gym_gui.cli.progress import run_progress


def report_runs(runs: Sequence[Path], *, out: Path | None, replays: bool, as_json: bool) -> None:
    """Print who is better, and write the page.

    Args:
        runs: Run folders.
        out: Folder for the files.
        replays: Whether the page is to have replays.
        as_json: For programs.

    Raises:
        UsageError: There is no run, or the files cannot be written.
        RunFormatError: A row is damaged.
    """

    def film(opened: Sequence[Run], summary: Summary) -> Films:
        return _films(opened, summary, as_json=as_json)

    report(runs, as_json=as_json, out=out, film=film if replays else None)
    write_games(runs, out, as_json=as_json)


def _films(runs: Sequence[Run], summary: Summary, *, as_json: bool) -> Films:
    """Replays for the page; whoever does not want to wait for them presses Ctrl-C."""
    from gym_gui.controllers.films import make_films
    from gym_gui.controllers.operator_execution import OperatorProgress

    try:
        with run_progress(as_json=as_json) as show:

            def tell_progress(done: int, total: int) -> None:
                show([OperatorProgress("replays", "Replays", done, total, 0, 0, 0)])

            return asyncio.run(make_films(runs, summary, tell_progress))
    except KeyboardInterrupt:
        tell("replays were stopped; the page stands without them")
        return {}
