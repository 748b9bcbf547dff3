"""Lines on the Results page that show the progress and the result of long jobs on runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QFrame, QProgressBar, QWidget

from gym_gui.core.errors import MosaicError
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.widgets import InlineMessage, LinkButton, label
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.message_panels import Action, MessageKind

ProgressCallback = Callable[[str, int, int], None]
"""Progress callback: current activity, number of finished parts, and total number of parts (0 if unknown)."""


@dataclass(frozen=True, slots=True)
class JobResult:
    """Message that reports the result of a job.

    Attributes:
        text: Text of the message.
        kind: Kind of the message.
        action: Button of the message (text and callback), or ``None``.
    """

    text: str
    kind: MessageKind = "ok"
    action: Action | None = None


Job = Callable[[ProgressCallback], Awaitable[JobResult]]


class JobLine(QWidget):
    """Line that shows the progress of one job with a Cancel button, then its result.

    Args:
        context: Runs background tasks.
        about: Folder of the run that the job works on.
        title: Activity of the job, ending with an ellipsis.
        lasting: Whether the result stays until the user closes the line; otherwise the next job removes it.
        parent: Qt owner.
    """

    over = pyqtSignal()
    """Emitted when the job ends, with a result or after a cancellation."""
    closed = pyqtSignal()
    """Emitted when the user closes the line."""

    def __init__(
        self, context: AppContext, about: Path, title: str, lasting: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("results-job")
        self.about, self.what, self.lasting = about, title, lasting
        self.said: JobResult | None = None
        self.unwanted = False
        self._context = context
        self._task: asyncio.Task[None] | None = None
        self._title = label(title, name="job-title")
        self._progress = QProgressBar()
        self._progress.setObjectName("job-progress")
        self._progress.setTextVisible(False)
        self._progress.setAccessibleName("Progress")
        self.cancel = LinkButton("Cancel", name="job-cancel", tooltip="Cancel this job", on_click=self.stop)
        self._wash = QFrame()
        self._wash.setProperty("role", "wash")
        self._wash.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = row_layout(self._wash, margin=(10, theme.ROW, 10, theme.ROW), spacing=theme.GAP)
        row.addWidget(self._title)
        row.addWidget(self._progress, 1)
        row.addWidget(self.cancel)
        self._layout = column_layout(self, spacing=None)
        self._layout.addWidget(self._wash)

    @property
    def busy(self) -> bool:
        """Whether the job is running."""
        return self._task is not None

    @property
    def text(self) -> str:
        """Text of the result, or of the progress before there is a result."""
        return self.said.text if self.said is not None else self._title.text()

    def start(self, job: Job) -> None:
        """Start the job as a background task."""
        self._on_share(self.what, 0, 0)
        self._task = self._context.spawn(self._work(job), self.what.rstrip("…"))
        self._task.add_done_callback(self._on_done)

    def stop(self) -> None:
        """Cancel the job. A second call does nothing, so that it cannot cancel the clean-up."""
        if self._task is not None and not self._task.cancelling():
            self._task.cancel()

    async def ended(self) -> None:
        """Cancel the job, wait until it ends, and discard its result."""
        task, self.unwanted = self._task, True
        self.stop()
        if task is not None:
            await asyncio.gather(task, return_exceptions=True)

    async def _work(self, job: Job) -> None:
        def share(what: str, done: int, total: int) -> None:
            self._on_share(what or self.what, done, total)

        try:
            said = await job(share)
        except MosaicError as error:
            said = JobResult(error.sentence, "error")
        if self.unwanted:
            return
        self.said = said
        message = InlineMessage(said.kind, said.text, said.action, closable=True, parent=self)
        message.dismissed.connect(self.closed)
        self._wash.hide()
        self._layout.addWidget(message)

    def _on_share(self, what: str, done: int, total: int) -> None:
        self._title.setText(what)
        self._progress.setMaximum(total)  # 0 shows a busy bar without an end.
        self._progress.setValue(done)

    def _on_done(self, _task: asyncio.Task[Any]) -> None:
        self._task = None
        self.over.emit()


class JobStrip(QWidget):
    """Strip that shows the jobs on the current run; jobs on other runs notify the user when they end.

    Args:
        context: Runs background tasks and shows notifications.
        parent: Qt owner.
    """

    run_wanted = pyqtSignal(object)
    """Emits the folder of the run whose job result the user asks to see."""
    ended = pyqtSignal()
    """Emitted when a job has ended."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("results-jobs")
        self._context = context
        self._about: Path | None = None
        self._names: dict[Path, str] = {}
        self._lines: list[JobLine] = []
        self._layout = column_layout(self, margin=(theme.PAGE, theme.GAP, theme.PAGE, 0), spacing=theme.STEP)
        self.hide()

    @property
    def lines(self) -> Sequence[JobLine]:
        """Lines of the jobs on the current run, in the order in which they were started."""
        return [line for line in self._lines if line.about == self._about and not line.unwanted]

    @property
    def busy(self) -> bool:
        """Whether a job on the current run is running."""
        return any(line.busy for line in self.lines)

    @property
    def text(self) -> str:
        """Text of the newest line, or ``""``."""
        return self.lines[-1].text if self.lines else ""

    def show_about(self, run: Path | None, name: str = "") -> None:
        """Show only the jobs on one run.

        Args:
            run: Folder of the run; ``None`` shows no jobs.
            name: Name of the run in notifications; by default that of the folder.
        """
        self._about = run
        if run is not None:
            self._names[run] = name or run.name
        self._show()

    def run(self, title: str, job: Job, *, lasting: bool = False) -> None:
        """Start a job on the current run; cancel a running job with the same title.

        Args:
            title: Activity of the job, ending with an ellipsis.
            job: Does the work, reports its progress and returns the result.
            lasting: Whether the result stays until the user closes the line.
        """
        assert self._about is not None
        for line in self.lines:
            if line.what == title or not (line.busy or line.lasting):
                self._drop(line)
        line = JobLine(self._context, self._about, title, lasting, self)
        line.over.connect(partial(self._on_over, line))
        line.closed.connect(partial(self._drop, line))
        self._lines.append(line)
        self._layout.addWidget(line)
        self._show()
        line.start(job)

    async def end_about(self, runs: Collection[Path]) -> None:
        """Cancel the jobs on the given runs and wait until they end."""
        await asyncio.gather(*(line.ended() for line in self._lines if line.about in runs))

    async def closed(self) -> None:
        """Cancel all jobs and wait until they end."""
        await asyncio.gather(*(line.ended() for line in self._lines))

    def _on_over(self, line: JobLine) -> None:
        if line.unwanted or line.said is None:
            self._drop(line)
        elif not line.isVisible():
            show = ("Show", partial(self.run_wanted.emit, line.about))
            self._context.notify(f"{self._names[line.about]}: {line.said.text}", line.said.kind, show)
        self.ended.emit()

    def _drop(self, line: JobLine) -> None:
        """Remove a line; cancel its job first if the job is running, and remove the line when the job
        ends.
        """
        line.unwanted = True
        line.stop()
        if not line.busy and line in self._lines:
            self._lines.remove(line)
            self._layout.removeWidget(line)
            line.deleteLater()
        self._show()

    def _show(self) -> None:
        shown = self.lines
        for line in self._lines:
            line.setVisible(line in shown)
        self.setVisible(bool(shown))
