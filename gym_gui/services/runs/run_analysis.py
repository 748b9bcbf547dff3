"""Computes summaries and tables of runs in a separate process.

scipy and pyarrow take more memory than the window itself, and a run of a million steps takes seconds to
read. So ``python -m gym_gui.services.runs.run_analysis`` does the work and returns the
:class:`~gym_gui.analysis.findings.summary.Summary`.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from gym_gui.analysis.findings.cross_play import CrossPlay
from gym_gui.analysis.findings.summary import Summary
from gym_gui.analysis.printed_summary import PrintedSummary
from gym_gui.analysis.records.reader import open_run
from gym_gui.analysis.words.wording import C, Locale, written_as
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.services.subprocess_job import USAGE, SubprocessJobError, run_subprocess_job


async def analyze(*runs: Path, locale: Locale = C) -> Summary:
    """Return the summary of a run, for a tournament with standings, or of several runs on shared seeds.

    If one of several runs cannot be read, the summary names it and covers the others.

    Args:
        runs: The run folders.
        locale: Format of numbers in sentences.

    Raises:
        UsageError: There is no run, or it is damaged.
        SubprocessJobError: The process failed.
    """
    marks = msgspec.json.encode(locale).decode()
    finished = await run_subprocess_job(__name__, "summary", *map(str, runs), "--marks", marks)
    if finished.status:
        raise SubprocessJobError(finished.complaint or f"{runs[0]} cannot be summarized")
    return await asyncio.to_thread(msgspec.json.decode, finished.output, type=PrintedSummary)


async def write_run_table(runs: Sequence[Path], what: str, path: Path) -> int:
    """Write a table of runs as CSV or Parquet, depending on the suffix of ``path``.

    Args:
        runs: The run folders; only ``operators`` takes several.
        what: ``operators``, ``episodes``, ``steps``, or ``games``.
        path: The file to write.

    Returns:
        Number of rows written.

    Raises:
        UsageError: The file cannot be written.
    """
    finished = await run_subprocess_job(__name__, what, *map(str, runs), "--out", str(path.absolute()))
    if finished.status:
        raise SubprocessJobError(finished.complaint or f"{path} cannot be written")
    return int(finished.output)


def main(argv: Sequence[str] | None = None) -> int:
    """Write a summary or table of one or more runs, and return the exit status."""
    parser = argparse.ArgumentParser(prog=f"python -m {__name__}")
    parser.add_argument("what", choices=("summary", "operators", "episodes", "steps", "games"))
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--marks", help="format of numbers in sentences, as JSON")
    args = parser.parse_args(argv)
    locale = msgspec.json.decode(args.marks, type=Locale) if args.marks else C
    try:
        with written_as(locale):
            result = _result(args.what, args.runs, args.out)
        sys.stdout.buffer.write(result)
    except MosaicError as error:
        sys.stderr.write(f"{' '.join(str(error).split())}\n")
        return USAGE if isinstance(error, UsageError) else 1
    return 0


def _result(what: str, paths: Sequence[Path], out: Path | None) -> bytes:
    from gym_gui.analysis.exports.export import (
        STEP_COLUMNS,
        episode_rows,
        operator_rows,
        step_rows,
        write_table,
    )
    from gym_gui.analysis.read_runs import read_runs
    from gym_gui.analysis.reporting import find_standings

    if what in ("episodes", "steps", "games"):
        assert out is not None
        run = open_run(paths[0])
        if what == "steps":
            return b"%d" % write_table(step_rows(run), out, STEP_COLUMNS)
        if what == "episodes":
            return b"%d" % write_table(episode_rows(run), out)
        from gym_gui.analysis.exports.pgn import write_pgn

        return b"%d" % write_pgn(run, out)
    read = read_runs(paths)
    if what == "operators":
        assert out is not None
        return b"%d" % write_table(operator_rows(read.summary), out)
    found = find_standings(read.runs)
    if isinstance(found, CrossPlay):
        return msgspec.json.encode(replace(read.summary, cross_play=found))
    return msgspec.json.encode(replace(read.summary, standings=found))


if __name__ == "__main__":
    raise SystemExit(main())
