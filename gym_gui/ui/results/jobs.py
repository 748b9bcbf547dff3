"""Long work on runs: a line for each, which shows its progress, then its result."""

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

OnShare = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is (0: not known)."""


@dataclass(frozen=True, slots=True)
class Said:
    """How a job ended, for people.

    Attributes:
        text: The sentence.
        kind: Of the message.
        action: What can be done next.
    """

    text: str
    kind: MessageKind = "ok"
    action: Action | None = None


Job = Callable[[OnShare], Awaitable[Said]]


class JobLine(QWidget):
    """One piece of work: its progress and a way to stop it, then its result.

    Args:
        context: For work in the background.
        about: The run it is work on.
        title: What is being done, with an ellipsis.
        lasting: Whether its result is something about the run, which stays until it is closed; else
            it makes way for the next one.
        parent: Qt owner.
    """

    over = pyqtSignal()
    """There is a result, or it was stopped and has none."""
    closed = pyqtSignal()
    """The user has closed the line."""

    def __init__(
        self, context: AppContext, about: Path, title: str, lasting: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("results-job")
        self.about, self.what, self.lasting = about, title, lasting
        self.said: Said | None = None
        self.unwanted = False
        self._context = context
        self._task: asyncio.Task[None] | None = None
        self._title = label(title, name="job-title")
        self._progress = QProgressBar()
        self._progress.setObjectName("job-progress")
        self._progress.setTextVisible(False)
        self._progress.setAccessibleName("Progress")
        self.cancel = LinkButton("Cancel", name="job-cancel", tooltip="Stop this", on_click=self.stop)
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
        """Whether it is being done."""
        return self._task is not None

    @property
    def text(self) -> str:
        """What it says."""
        return self.said.text if self.said is not None else self._title.text()

    def start(self, job: Job) -> None:
        """Begin."""
        self._on_share(self.what, 0, 0)
        self._task = self._context.spawn(self._work(job), self.what.rstrip("…"))
        self._task.add_done_callback(self._on_done)

    def stop(self) -> None:
        """Cancel the work. A second call does nothing, so that it cancels no clean-up."""
        if self._task is not None and not self._task.cancelling():
            self._task.cancel()

    async def ended(self) -> None:
        """Stop the work, and wait for its end; its result is not shown."""
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
            said = Said(error.sentence, "error")
        if self.unwanted:
            return
        self.said = said
        message = InlineMessage(said.kind, said.text, said.action, closable=True, parent=self)
        message.dismissed.connect(self.closed)
        self._wash.hide()
        self._layout.addWidget(message)

    def _on_share(self, what: str, done: int, total: int) -> None:
        self._title.setText(what)
        self._progress.setMaximum(total)  # 0: busy, for as long as it takes
        self._progress.setValue(done)

    def _on_done(self, _task: asyncio.Task[Any]) -> None:
        self._task = None
        self.over.emit()


class JobStrip(QWidget):
    """The work on the run that is shown; that on other runs goes on unseen, and tells when it is done.

    Args:
        context: For work in the background.
        parent: Qt owner.
    """

    run_wanted = pyqtSignal(object)
    """The user asks to see the run that a result is about."""
    ended = pyqtSignal()
    """A piece of work has ended."""

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
        """The work on the run that is shown, in the order in which it was begun."""
        return [line for line in self._lines if line.about == self._about and not line.unwanted]

    @property
    def busy(self) -> bool:
        """Whether anything is being done for the run that is shown."""
        return any(line.busy for line in self.lines)

    @property
    def text(self) -> str:
        """What the newest line says."""
        return self.lines[-1].text if self.lines else ""

    def show_about(self, run: Path | None, name: str = "") -> None:
        """Show the work on a run.

        Args:
            run: The run; ``None`` shows nothing.
            name: What people call it.
        """
        self._about = run
        if run is not None:
            self._names[run] = name or run.name
        self._show()

    def run(self, title: str, job: Job, *, lasting: bool = False) -> None:
        """Begin work on the run that is shown; work of that title that is on is stopped.

        Args:
            title: What is being done, with an ellipsis.
            job: Does it, tells how far it is, and gives the result in words.
            lasting: As for :class:`JobLine`.
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
        """Stop the work on these runs, and wait for its end."""
        await asyncio.gather(*(line.ended() for line in self._lines if line.about in runs))

    async def closed(self) -> None:
        """Stop everything, and wait for the end."""
        await asyncio.gather(*(line.ended() for line in self._lines))

    def _on_over(self, line: JobLine) -> None:
        if line.unwanted or line.said is None:
            self._drop(line)
        elif not line.isVisible():
            show = ("Show", partial(self.run_wanted.emit, line.about))
            self._context.notify(f"{self._names[line.about]}: {line.said.text}", line.said.kind, show)
        self.ended.emit()

    def _drop(self, line: JobLine) -> None:
        """Take a line away, as soon as its work has ended."""
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
