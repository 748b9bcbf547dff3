"""Services that all widgets of the window share: theme, settings, folders, commands, background tasks.

The window creates one context and passes it to every page. The context refers to no page, and to only one
widget: the parent of new pages.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from PyQt6.QtCore import QObject, QSettings, pyqtSignal
from PyQt6.QtWidgets import QWidget

from gym_gui.core.errors import MosaicError, with_capital
from gym_gui.core.paths import RUNS_SETTING
from gym_gui.core.trusted.trust import NotAllowedError
from gym_gui.services.bootstrap import Services
from gym_gui.ui.commands import CommandRegistry
from gym_gui.ui.crash_report_action import report_action
from gym_gui.ui.theme import Theme
from gym_gui.ui.window_settings import SettingsStore

if TYPE_CHECKING:
    from gym_gui.host.prestart import SpareHost
    from gym_gui.services.api_keys import ApiKeys
    from gym_gui.ui.detached import DetachedWindows
    from gym_gui.ui.editor.file_request import FileRequest
    from gym_gui.ui.widgets.message_panels import Action

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

NoticeKind = Literal["info", "ok", "warning", "error"]
CLOSING_S: Final = 10.0
"""Time in which canceled tasks have to end when the window closes, in seconds."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A message to the user, shown below the page.

    Attributes:
        text: What happened, and the user's next step.
        kind: Kind of the message; ``info`` and ``ok`` disappear after a while.
        action: Text and function of a button; ``None`` for no button.
    """

    text: str
    kind: NoticeKind = "info"
    action: Action | None = None


class AppContext(QObject):
    """Services that all widgets of the window share.

    Args:
        services: Services of the engine: folders, workers, policies.
        theme: Active theme; ``None`` to create it from the settings.
        parent: Qt owner.
    """

    requested = pyqtSignal(str, object)
    """Emits the name of a page to show, and the arguments (a dict) with which the page is opened."""
    noticed = pyqtSignal(object)
    """Emits a :class:`Notice` to show."""
    run_changed = pyqtSignal(str, str)
    """Emits the id of the active run and a note about it; both are empty without an active run."""
    runs_moved = pyqtSignal()
    """Emitted when the folder for new runs, ``store.runs``, has changed."""
    installed = pyqtSignal()
    """Emitted after an installation of environments or a worker, when cached lookups are out of date."""
    edit_asked = pyqtSignal(object)
    """Emits a :class:`~gym_gui.ui.editor.file_request.FileRequest` to open in the editor."""
    file_told = pyqtSignal(str, object)
    """Emits the path of a file that was read or run, and a sequence of its problems."""

    def __init__(self, services: Services, theme: Theme | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.services = services
        self.store = store = services.store
        self.settings = SettingsStore(store.data, self)
        self.theme = theme or Theme(self.settings.values.theme, self)
        self.commands = CommandRegistry(self)
        self.layout = QSettings(str(store.data / "window.ini"), QSettings.Format.IniFormat, self)
        self._tasks: dict[asyncio.Task[Any], str] = {}
        self.place: QWidget | None = None
        """Parent of new pages, because a page that is reparented later would be styled twice."""
        self.spare_host: SpareHost | None = None
        """Process that waits for the next session, or ``None`` (see ``ui/spare_host``)."""
        self._keys: ApiKeys | None = None
        self._windows: DetachedWindows | None = None
        self._closing = False
        self.settings.changed.connect(self._on_setting_changed)
        self.theme.set_scaling(self.settings.values.frame_scaling)

    # ---------------------------------------------------------------- navigation and messages

    def go(self, page: str, **request: object) -> None:
        """Show a page and pass it arguments, as in ``go("play", task="CartPole-v1")``."""
        self.requested.emit(page, request)

    def notify(
        self,
        text: str,
        kind: NoticeKind = "info",
        action: Action | None = None,
    ) -> None:
        """Show a message to the user, and log it.

        Args:
          text: The message.
          kind: Kind of the message.
          action: Text and function of a button; ``None`` for no button.
        """
        level = {"warning": logging.WARNING, "error": logging.ERROR}.get(kind, logging.INFO)
        _log.log(level, "%s", text)
        self.noticed.emit(Notice(text, kind, action))

    def edit(self, request: FileRequest) -> None:
        """Open a file in the editor, or raise its open editor."""
        self.edit_asked.emit(request)

    def set_run(self, run_id: str, note: str = "every step recorded") -> None:
        """Show the active run in the status line.

        Args:
          run_id: Id of the run; empty for no run.
          note: Text beside the id.
        """
        self.run_changed.emit(run_id, note if run_id else "")

    # ------------------------------------------------------------------------- background work

    def spawn(self, work: Coroutine[Any, Any, _T], what: str) -> asyncio.Task[_T]:
        """Run a coroutine as a background task in the window's event loop.

        An exception of the coroutine is logged and shown as a message. When the window closes, the task is
        canceled and awaited.

        Args:
            work: The coroutine.
            what: Name of the task, such as ``"Starting the operator"``; an error message adds "failed".
        """
        task = asyncio.get_running_loop().create_task(work, name=what)
        self._tasks[task] = what
        task.add_done_callback(self._on_task_done)
        return task

    @property
    def busy(self) -> tuple[str, ...]:
        """Names of the running background tasks."""
        return tuple(self._tasks.values())

    async def close(self) -> None:
        """Cancel all background tasks and wait until they have ended."""
        self._closing = True
        own = asyncio.current_task()
        tasks = [task for task in self._tasks if task is not own]
        for task in tasks:
            task.cancel()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=CLOSING_S)
            for task in late:
                _log.warning("%s did not end in time", self._tasks.get(task, task.get_name()))
        self.layout.sync()

    def _on_task_done(self, task: asyncio.Task[Any]) -> None:
        what = self._tasks.pop(task, task.get_name())
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            self.report_failure(what, error)

    def report_failure(self, what: str, error: BaseException) -> None:
        """Log a failure that no caller handles, and show it as a message.

        Args:
            what: Name of the task; the message adds "failed".
            error: The exception. A :class:`MosaicError` is shown by its message; for any other exception
                the log has the traceback.
        """
        action = None
        if isinstance(error, NotAllowedError):
            action = ("Review and allow…", partial(self.ask_trust, error))
        if isinstance(error, MosaicError):
            _log.info("%s failed: %s", what, error)
            message = error.message if action else str(error)  # the button replaces the written fix
        else:
            _log.error("%s failed: %s", what, error, exc_info=error)
            message = f"{what} failed: {error or type(error).__name__}. The log has the details"
            action = report_action(error)
        if action is None:
            action = self._link_of(message, error)
        if not self._closing:
            self.noticed.emit(Notice(with_capital(message), "error", action))

    def _link_of(self, message: str, error: BaseException) -> Action | None:
        from gym_gui.ui.editor.line_links import link_of

        place = error.place if isinstance(error, MosaicError) else None
        return link_of(self, message, place=place)

    def ask_trust(self, error: NotAllowedError, then: Callable[[], object] | None = None) -> None:
        """Open a dialog that asks whether to allow code or programs that a file names.

        Args:
            error: The error that names the code or programs.
            then: Called if the user agrees; ``None`` to show a message that says to start again.
        """
        from gym_gui.ui.trust_dialog import ask

        again = partial(self.notify, "The code is allowed now. Start the operator or run again", "ok")
        ask(error, then or again, self.place.window() if self.place is not None else None)

    # --------------------------------------------------------------------- registries

    @property
    def detached_windows(self) -> DetachedWindows:
        """The detached windows of pictures and transcripts."""
        if self._windows is None:
            from gym_gui.ui.detached import DetachedWindows

            self._windows = DetachedWindows(self.layout, self.commands, lambda: self.place, self)
        return self._windows

    @property
    def api_keys(self) -> ApiKeys:
        """API keys by provider: from the system's keyring, or in memory without a keyring."""
        if self._keys is None:
            from gym_gui.services.api_keys import ApiKeys

            self._keys = ApiKeys()
        return self._keys

    def _on_setting_changed(self, name: str) -> None:
        if name == "theme":
            self.theme.set_mode(self.settings.values.theme)
        elif name == "frame_scaling":
            self.theme.set_scaling(self.settings.values.frame_scaling)
        elif name == RUNS_SETTING and not os.environ.get("MOSAIC_RUNS_DIR", "").strip():
            self.store.runs = Path(self.settings.values.runs_folder or "runs")
            self.runs_moved.emit()
