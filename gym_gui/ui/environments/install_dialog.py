"""A dialog that installs environments or a worker with ``mosaic … install`` in a separate process."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QProgressBar, QWidget

from gym_gui.controllers.setup.installing import Installable, forget_lookups, missing_in
from gym_gui.core.errors import MosaicError
from gym_gui.services.subprocess_job import run_subprocess_job
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext
from gym_gui.ui.widgets import PrimaryButton, QuietButton, muted_label, title_label
from gym_gui.ui.widgets.dialog import Dialog
from gym_gui.ui.widgets.layouts import column_layout, right_row
from gym_gui.ui.widgets.message_panels import Action


class InstallDialog(Dialog):
    """Names missing packages and installs them on request; closing the dialog stops the installation.

    Args:
        context: Runs background tasks.
        missing: Environments or worker to install.
        title: Displayed name; empty for that of ``missing``.
        parent: The window.
    """

    installed = pyqtSignal(str)
    """Emits the installed name when the environments or the worker are ready for use."""

    def __init__(
        self,
        context: AppContext,
        missing: Installable,
        title: str = "",
        parent: QWidget | None = None,
    ) -> None:
        title = title or missing.title
        super().__init__("install-dialog", f"Install {title}", parent, width=420)
        self._context, self._missing, self._title = context, missing, title
        self.state = muted_label(
            f"Download the missing packages and install them for MOSAIC; nothing else changes.\n"
            f"In a terminal: mosaic {missing.what} install {missing.name}",
            wrap=True,
        )
        self.state.setObjectName("install-state")
        self._progress = QProgressBar(self)
        self._progress.setRange(0, 0)
        self._progress.hide()
        self.start = PrimaryButton("Install", name="install-start", on_click=self._on_start)
        self.cancel = QuietButton("Cancel", name="install-cancel", on_click=self.reject)
        column = column_layout(self, margin=theme.PAGE, spacing=theme.GAP)
        self._heading = title_label(f"{title} is not installed")
        self._heading.setObjectName("install-heading")
        column.addWidget(self._heading)
        column.addWidget(self.state)
        column.addWidget(self._progress)
        column.addLayout(right_row(self.cancel, self.start))

    @property
    def missing(self) -> Installable:
        """Environments or worker that the dialog installs."""
        return self._missing

    def _set_titles(self, words: str) -> None:
        """Set the window title and the heading."""
        self.setWindowTitle(words)
        self._heading.setText(words)

    def _on_start(self) -> None:
        self.start.setEnabled(False)
        self._set_titles(f"Installing {self._title}…")
        self._progress.show()
        self.set_task(self._context.spawn(self._install(), f"Installing {self._title}"))

    async def _install(self) -> None:
        command = (self._missing.what, "install", self._missing.name, "--json")
        try:
            finished = await run_subprocess_job("gym_gui", *command, on_progress=self._show_state)
            complaint = finished.complaint if finished.status else ""
        except MosaicError as error:
            complaint = error.sentence
        self.work = None  # from here on, closing the dialog stops nothing
        self._progress.hide()
        if complaint:
            self._set_titles(f"{self._title} could not be installed")
            self._show_state(complaint)
            self.start.set_text("Try again")
            self.start.setEnabled(True)
            return
        if self._context.spare_host is not None:
            await self._context.spare_host.close()  # the spare process may have imported an older version
        forget_lookups()
        self._context.installed.emit()
        self.installed.emit(self._missing.name)
        self._context.notify(f"{self._title} is installed")
        self.accept()

    def _show_state(self, text: object) -> None:
        self.state.setText(str(text))


def open_install_dialog(
    context: AppContext,
    missing: Installable,
    parent: QWidget,
    on_installed: Callable[[], object],
    *,
    title: str = "",
) -> InstallDialog:
    """Open a dialog that installs environments or a worker; the window stays usable.

    Args:
        context: Runs background tasks.
        missing: Environments or worker to install.
        parent: Any widget of the window.
        on_installed: Called after the installation.
        title: Displayed name; empty for that of ``missing``.
    """
    window = parent.window()
    for dialog in window.findChildren(InstallDialog) if window is not None else ():
        if dialog.missing == missing and dialog.isVisible():
            dialog.raise_()
            dialog.activateWindow()
            return dialog
    dialog = InstallDialog(context, missing, title, window)
    dialog.installed.connect(lambda _name: on_installed())
    dialog.setModal(False)  # a download takes minutes, during which the window stays usable
    dialog.show()
    return dialog


def install_action(
    context: AppContext, sentence: str, parent: QWidget, on_installed: Callable[[], object]
) -> Action | None:
    """Return text and function of an install button for a message that names an install command.

    Args:
        context: Runs background tasks.
        sentence: The message.
        parent: Any widget of the window.
        on_installed: Called after the installation, for example to retry.

    Returns:
        Text and function; ``None`` if the message names no install command.
    """
    missing = missing_in(sentence)
    if missing is None:
        return None
    return "Install\N{HORIZONTAL ELLIPSIS}", partial(
        open_install_dialog, context, missing, parent, on_installed
    )
