"""The games of chess that ``mosaic report`` writes beside its tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gym_gui.analysis import open_run
from gym_gui.analysis.exports.pgn import is_chess, write_pgn
from gym_gui.cli.errors import tell
from gym_gui.cli.output import write_line
from gym_gui.core.errors import MissingDependencyError


def write_games(paths: Sequence[Path], out: Path | None, *, as_json: bool) -> None:
    """Write ``games.pgn`` where a run has games of chess; the report stands without it.

    Of several runs, whose games are numbered alike, each has a file of its own.

    Args:
        paths: Run folders.
        out: Folder for the files; by default the run's own, of several runs none is written.
        as_json: Nothing is said on standard output.

    Raises:
        UsageError: It cannot be written.
        RunFormatError: A row is damaged.
    """
    folder = out if out is not None else paths[0] if len(paths) == 1 else None
    if folder is None:
        return
    for path in paths:
        run = open_run(path)
        if not any(map(is_chess, run.operators.values())):
            continue
        file = folder / ("games.pgn" if len(paths) == 1 else f"games-{run.run_id}.pgn")
        try:
            count = write_pgn(run, file)
        except MissingDependencyError as error:
            tell(str(error))
            return
        if not as_json:
            write_line(f"Games: {file} ({count} game{'s' * (count != 1)})")
