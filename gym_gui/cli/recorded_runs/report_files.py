"""Implements ``mosaic report --format``: tables and figures for papers and other programs."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from mimetypes import guess_type
from pathlib import Path

from gym_gui.analysis.exports.export import (
    figure_svg,
    operator_rows,
    standing_rows,
    standings_svg,
    write_table,
    write_whole,
)
from gym_gui.analysis.exports.printed_tables import render_latex, render_markdown
from gym_gui.analysis.findings.cross_play import Found
from gym_gui.analysis.findings.summary import Summary
from gym_gui.analysis.read_runs import read_runs
from gym_gui.analysis.reporting import find_standings
from gym_gui.cli.errors import print_message
from gym_gui.cli.output import write_line
from gym_gui.core.errors import MissingDependencyError, UsageError
from gym_gui.services.subprocess_job import run_subprocess_job

FORMATS = ("md", "tex", "csv", "parquet", "svg", "pdf")


def format_of(out: Path | None, wanted: str) -> str:
    """Return the format of a report (one of :data:`FORMATS`); empty for the HTML page.

    Args:
        out: Output path; its suffix names the format, unless it is a folder.
        wanted: Value of ``--format``; may be empty.

    Raises:
        UsageError: There is no such format, or the file's suffix names another one.
    """
    ending = "" if out is None or out.is_dir() else out.suffix.lower().removeprefix(".")
    if wanted and wanted not in FORMATS:
        raise UsageError(f"there is no format {wanted!r}", fix=f"One of {', '.join(FORMATS)}")
    if wanted and ending and ending != wanted:
        raise UsageError(f"{out} does not end with .{wanted}", fix="Leave --format out, or name another file")
    return wanted or (ending if ending in FORMATS else "")


def refuse_file(out: Path | None) -> None:
    """Raise an error if the output path looks like a file of an unsupported type, instead of a folder.

    Raises:
        UsageError: The path has the suffix of an unsupported file type.
    """
    if out is None or out.is_dir() or out.suffix.lower().removeprefix(".") in FORMATS:
        return
    if guess_type(out.name)[0] is not None:
        known = " ".join(f".{form}" for form in FORMATS)
        raise UsageError(
            f"a report cannot be written as {out.suffix}: {out}",
            fix=f"Name a folder, or a file that ends with one of {known}",
        )


def write_format(paths: Sequence[Path], form: str, out: Path | None) -> Summary:
    """Write a single file of a report; text goes to standard output if no file is named.

    Args:
        paths: Run folders.
        form: One of :data:`FORMATS`.
        out: Output file, or a folder for ``report.FORMAT``.

    Returns:
        Summary of the runs.

    Raises:
        UsageError: There is no run, or the file cannot be written.
        RunFormatError: No run can be read.
        MissingDependencyError: A package for this format is not installed.
    """
    _, runs, summary = read_runs(paths)
    for sentence in (*summary.unread, *summary.unverified):
        print_message(sentence)
    standings = find_standings(runs)
    file = out / f"report.{form}" if out is not None and out.is_dir() else out
    if file is None:
        if form in ("parquet", "pdf"):
            raise UsageError(f"{form} cannot be printed", fix=f"Name a file: -o report.{form}")
        with tempfile.TemporaryDirectory() as folder:
            written = Path(folder, f"report.{form}")
            _write(written, form, summary, standings)
            sys.stdout.write(written.read_text(encoding="utf-8"))
        return summary
    _write(file, form, summary, standings)
    write_line(f"Written: {file}")
    return summary


def _write(file: Path, form: str, summary: Summary, standings: Found | None) -> None:
    if form in ("csv", "parquet"):
        rows = operator_rows(summary) if standings is None else standing_rows(standings)
        write_table(
            rows, file if file.suffix.lower() == f".{form}" else file.with_name(f"{file.name}.{form}")
        )
        return
    if form in ("md", "tex"):
        text = (render_markdown if form == "md" else render_latex)(summary, standings)
    else:
        text = figure_svg(summary) if standings is None else standings_svg(standings)
    content = text.encode("utf-8", "replace")
    write = _pdf if form == "pdf" else _plain
    write_whole(file, lambda path: write(content, path))


def _plain(content: bytes, path: Path) -> None:
    path.write_bytes(content)


def _pdf(svg: bytes, path: Path) -> None:
    """Convert an SVG to PDF with Qt in a separate process, because the command line imports no Qt."""
    if find_spec("PyQt6") is None:
        raise MissingDependencyError("writing PDF", "mosaic install gui")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "figure.svg")
        source.write_bytes(svg)
        done = asyncio.run(run_subprocess_job("gym_gui.ui.figure_pdf", str(source), str(path.absolute())))
    if done.status or not path.stat().st_size:
        raise UsageError(done.complaint or "the PDF could not be written", fix="Write the figure as .svg")
