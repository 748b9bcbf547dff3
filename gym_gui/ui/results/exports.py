"""Jobs that export results to files: tables, chess games, plots, videos, pictures of a step and reports."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PyQt6.QtCore import QByteArray, QStandardPaths, QUrl
from PyQt6.QtGui import QDesktopServices, QImage, QPainter
from PyQt6.QtSvg import QSvgRenderer
from PyQt6.QtWidgets import QFileDialog, QWidget

from gym_gui.analysis import open_run
from gym_gui.analysis.exports.export import figure_svg, write_figure
from gym_gui.analysis.findings.comparison import Comparison
from gym_gui.analysis.findings.summary import Summary
from gym_gui.analysis.words import wording
from gym_gui.core.errors import UsageError
from gym_gui.services.runs.recorded_episode import RecordedEpisode
from gym_gui.services.runs.run_analysis import analyze, write_run_table
from gym_gui.services.subprocess_job import run_subprocess_job
from gym_gui.ui.numbers import local, screen
from gym_gui.ui.results.jobs import Job, JobResult, ProgressCallback
from mosaic_worker.plain_files import replaced

_PICTURE_SCALE = 2
TABLES = "CSV (*.csv);;Parquet (*.parquet)"
PICTURES = "PNG picture (*.png);;SVG drawing (*.svg)"
PNG = "PNG picture (*.png)"
PGN = "Chess games (*.pgn)"
MP4 = "MP4 video (*.mp4)"
_ENDING = re.compile(r"\*(\.\w+)")


def ask_where(
    parent: QWidget, title: str, name: str, kinds: str, use: Callable[[Path], object]
) -> QFileDialog:
    """Ask for a file to write, without blocking the window, and return the open dialog.

    Args:
        parent: Widget over which the dialog is shown.
        title: Title of the dialog, which names the content of the file.
        name: Proposed file name.
        kinds: File name filters of the dialog; the first one is selected.
        use: Called with the path after the user accepts the dialog.
    """
    dialog = QFileDialog(parent, title)
    dialog.setObjectName("export-dialog")
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setFileMode(QFileDialog.FileMode.AnyFile)
    dialog.setNameFilter(kinds)
    folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    dialog.setDirectory(folder if Path(folder).is_dir() else str(Path.home()))
    dialog.selectFile(name)
    chosen = _Chosen(dialog, use)
    dialog.accepted.connect(chosen)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


def ask_folder(parent: QWidget, title: str, use: Callable[[Path], object], start: Path | None = None) -> None:
    """Ask for an existing folder, without blocking the window.

    Args:
        parent: Widget over which the dialog is shown.
        title: Title of the dialog, which says what the folder is for.
        use: Called with the path after the user accepts the dialog.
        start: Initial folder of the dialog; by default the user's home.
    """
    dialog = QFileDialog(parent, title)
    dialog.setObjectName("folder-dialog")
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    dialog.setDirectory(str(start if start is not None and start.is_dir() else Path.home()))
    dialog.accepted.connect(_ChosenFolder(dialog, use))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()


class _ChosenFolder:
    """Callback of a folder dialog that passes the accepted folder to a function."""

    def __init__(self, dialog: QFileDialog, use: Callable[[Path], object]) -> None:
        self._dialog, self._use = dialog, use

    def __call__(self) -> None:
        if folders := self._dialog.selectedFiles():
            self._use(Path(folders[0]))


class _Chosen:
    """Callback that passes the file accepted in a dialog to a function, with the filter's suffix if it has
    none.
    """

    def __init__(self, dialog: QFileDialog, use: Callable[[Path], object]) -> None:
        self._dialog, self._use = dialog, use

    def __call__(self) -> None:
        files = self._dialog.selectedFiles()
        if files:
            path = Path(files[0])
            known = _ENDING.findall(self._dialog.selectedNameFilter())
            allowed = _ENDING.findall(";;".join(self._dialog.nameFilters()))
            self._use(path if path.suffix.lower() in allowed else path.with_name(path.name + known[0]))


def show_folder(path: Path) -> None:
    """Open a folder in the system's file manager."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


def open_file(path: Path) -> None:
    """Open a file with the system's default program."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


def report_job(runs: Sequence[Path], out: Path | None = None) -> Job:
    """Return a job that writes the HTML report with its replays, then opens it.

    Args:
        runs: The run folders.
        out: Folder of the report; by default the folder of the only run.
    """

    async def job(share: ProgressCallback) -> JobResult:
        def tell(operators: object) -> None:
            if isinstance(operators, list) and operators:
                now = operators[-1]
                share("Replaying episodes for the report…", int(now["done"]), int(now["total"]))

        finished = await run_subprocess_job(
            "gym_gui",
            "report",
            *map(str, runs),
            "--json",
            *([] if out is None else ["--out", str(out)]),
            on_progress=tell,
        )
        page = Path(finished.json()["report"])
        open_file(page)
        return JobResult(
            f"The report is written: {page}", "ok", ("Open the report again", partial(open_file, page))
        )

    return job


def verify_job(run: Path) -> Job:
    """Return a job that executes all recorded actions of a run again and compares every step with the
    record.
    """

    async def job(share: ProgressCallback) -> JobResult:
        def tell(operators: object) -> None:
            if isinstance(operators, list) and operators:
                now = operators[-1]
                share(f"Verifying {now['operator_id']}…", int(now["done"]), int(now["total"]))

        await asyncio.to_thread(_see_allowed, run)
        finished = await run_subprocess_job("gym_gui", "verify", str(run), "--json", on_progress=tell)
        return verified_in_words(finished.json())

    return job


def _see_allowed(run: Path) -> None:
    """Check that the user allows the run's code.

    The window can ask the user; the verification process could only refuse.
    """
    from gym_gui.controllers.reexecution.verification import require_allowed

    require_allowed(open_run(run))


def verified_in_words(result: dict[str, object]) -> JobResult:
    """Return the JSON result of a verification as a message."""
    counted = f"{local(result['episodes']):,} episodes, {local(result['decisions']):,} decisions"
    deviations, left = result["deviations"], f" {result['not_checked']}".rstrip()
    assert isinstance(deviations, list)
    if not deviations:
        return JobResult(f"Verified: {counted}, every one as recorded.{left}")
    first = deviations[0]
    place = f"{first['place']}: " if first["place"] else ""
    count = "1 difference" if len(deviations) == 1 else f"{local(len(deviations)):,} differences"
    text = f"{count} from the record. First: {place}{first['what']}.{left}"
    versions = result["versions"]
    if isinstance(versions, dict) and versions:
        changes = ", ".join(f"{name} {then} → {now}" for name, (then, now) in versions.items())
        text += f" Versions have changed since: {changes}."
    return JobResult(text, "warning")


def table_job(runs: Sequence[Path], what: str, path: Path) -> Job:
    """Return a job that writes a table of runs to a file.

    ``what`` is ``operators``, ``episodes`` or ``steps``; the last two need exactly one run.
    """

    async def job(_share: ProgressCallback) -> JobResult:
        rows = await write_run_table(runs, what, path)
        count = "1 row" if rows == 1 else f"{local(rows):,} rows"
        return _written(path, count)

    return job


def games_job(run: Path, path: Path) -> Job:
    """Return a job that writes the chess games of a run to a PGN file."""

    async def job(_share: ProgressCallback) -> JobResult:
        games = await write_run_table([run], "games", path)
        return _written(path, "1 game" if games == 1 else f"{local(games):,} games")

    return job


def figure_job(runs: Sequence[Path], shown: Summary, comparison: Comparison | None, path: Path) -> Job:
    """Return a job that writes the verdicts and plots of runs to one picture file.

    Args:
        runs: The run folders.
        shown: Summary as the window shows it, with numbers in the user's locale.
        comparison: Pair of operators for the plot of differences, or ``None``.
        path: PNG or SVG file to write; its numbers have decimal points.
    """

    async def job(_share: ProgressCallback) -> JobResult:
        summary, pair = shown, comparison
        if (screen().point, screen().group) != (wording.C.point, wording.C.group):
            summary = await analyze(*runs)
            pair = summary.comparisons[shown.comparisons.index(comparison)] if comparison else None
        if path.suffix.lower() == ".svg":
            await asyncio.to_thread(write_figure, summary, path, pair)
        else:
            svg = await asyncio.to_thread(figure_svg, summary, pair)
            _save(_rendered(svg), path)
        return _written(path)

    return job


def image_job(image: QImage, path: Path) -> Job:
    """Return a job that writes a picture of one step at its original size to a PNG file."""

    async def job(_share: ProgressCallback) -> JobResult:
        _save(image, path)
        return _written(path)

    return job


def video_job(recorded: RecordedEpisode, fps: float, path: Path) -> Job:
    """Return a job that replays an episode in a separate process and writes an MP4 video."""

    async def job(share: ProgressCallback) -> JobResult:
        def tell(progress: object) -> None:
            if isinstance(progress, dict):
                share("Writing the video…", int(progress["done"]), int(progress["total"]))

        index = str(recorded.episode.episode_index)
        options = ("--operator", recorded.operator_id, "--episode", index, "--fps", str(fps))
        where = ("--video", str(path.absolute()))
        finished = await run_subprocess_job(
            "gym_gui", "replay", str(recorded.run.absolute()), *options, *where, "--json", on_progress=tell
        )
        departs = str(finished.json().get("departs") or "")
        return JobResult(f"Written, but: {departs}", "warning") if departs else _written(path)

    return job


def _written(path: Path, what: str = "") -> JobResult:
    taken = wording.size(path.stat().st_size, screen())
    size = f"{what}, {taken}" if what else taken
    return JobResult(f"Written: {path} ({size})", "ok", ("Open folder", partial(show_folder, path.parent)))


def _rendered(svg: str) -> QImage:
    renderer = QSvgRenderer(QByteArray(svg.encode("utf-8", "replace")))
    image = QImage(renderer.defaultSize() * _PICTURE_SCALE, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    return image


def _save(image: QImage, path: Path) -> None:
    """Write an image to a temporary file beside the target, then replace the target.

    Raises:
        UsageError: The file cannot be written.
    """
    try:
        with replaced(path) as temporary:
            if not image.save(str(temporary), "PNG"):
                raise UsageError(f"{path} cannot be written", fix="Choose another folder")
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"{path} cannot be written: {reason}", fix="Choose another folder") from error
