"""Summaries and tables of runs, made in a process of its own.

scipy and pyarrow take more memory than the window itself, and a run of a million steps takes
seconds to read: ``python -m gym_gui.services.run_analysis`` does both and hands back the
:class:`~gym_gui.analysis.summary.Summary`.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from gym_gui.analysis.cross_play import CrossPlay
from gym_gui.analysis.printed_summary import PrintedSummary
from gym_gui.analysis.reader import Run, open_run
from gym_gui.analysis.summary import Summary
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.services.subprocess_job import USAGE, SubprocessJobError, run_subprocess_job


async def analyse(run: Path) -> Summary:
    """Summarise a run; of a tournament, with its standings.

    Raises:
        UsageError: There is no run, or it is damaged.
        ApartError: The process failed.
    """
    finished = await run_subprocess_job(__name__, "summary", str(run))
    if finished.status:
        raise SubprocessJobError(finished.complaint or f"{run} cannot be summarised")
    return await asyncio.to_thread(msgspec.json.decode, finished.output, type=PrintedSummary)


async def write_run_table(run: Path, what: str, path: Path) -> int:
    """Write a table of a run as CSV or Parquet, by the ending of ``path``.

    Args:
        run: The run folder.
        what: ``operators``, ``episodes``, ``steps``, or ``games``.
        path: The file.

    Returns:
        Its rows.

    Raises:
        UsageError: It cannot be written.
    """
    finished = await run_subprocess_job(__name__, what, str(run), "--out", str(path.absolute()))
    if finished.status:
        raise SubprocessJobError(finished.complaint or f"{path} cannot be written")
    return int(finished.output)


def main(argv: Sequence[str] | None = None) -> int:
    """Do one thing with one run; returns the exit status."""
    parser = argparse.ArgumentParser(prog=f"python -m {__name__}")
    parser.add_argument("what", choices=("summary", "operators", "episodes", "steps", "games"))
    parser.add_argument("run", type=Path)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args(argv)
    try:
        sys.stdout.buffer.write(_result(args.what, open_run(args.run), args.out))
    except MosaicError as error:
        sys.stderr.write(f"{' '.join(str(error).split())}\n")
        return USAGE if isinstance(error, UsageError) else 1
    return 0


def _result(what: str, run: Run, out: Path | None) -> bytes:
    from gym_gui.analysis.export import STEP_COLUMNS, episode_rows, operator_rows, step_rows, write_table
    from gym_gui.analysis.reporting import find_standings
    from gym_gui.analysis.summary_builder import summarize

    if what in ("episodes", "steps"):
        assert out is not None
        if what == "steps":
            return b"%d" % write_table(step_rows(run), out, STEP_COLUMNS)
        return b"%d" % write_table(episode_rows(run), out)
    if what == "games":
        from gym_gui.analysis.pgn import write_pgn

        assert out is not None
        return b"%d" % write_pgn(run, out)
    summary = summarize(run)
    if what == "operators":
        assert out is not None
        return b"%d" % write_table(operator_rows(summary), out)
    found = find_standings([run])
    if isinstance(found, CrossPlay):
        return msgspec.json.encode(replace(summary, cross_play=found))
    return msgspec.json.encode(replace(summary, standings=found))


if __name__ == "__main__":
    raise SystemExit(main())
