"""What the parts of the window share: theme, settings, folders, commands, work in the background.

One is made per window and handed to every page. It knows no page and no widget but their place.
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
"""Time the cancelled tasks have to end when the window closes."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to tell the person, shown inline below the page.

    Attributes:
        text: The thing and the way out.
        kind: ``info`` and ``ok`` go by themselves after a while.
        action: What a button says, and what it does.
    """

    text: str
    kind: NoticeKind = "info"
    action: Action | None = None


class AppContext(QObject):
    """See the module.

    Args:
        services: What the parts ask: folders, workers, policies.
        theme: The theme in force; made from the settings by default.
        parent: Qt owner.
    """

    requested = pyqtSignal(str, object)
    """A page's name and the request (a dict) it is opened with."""
    noticed = pyqtSignal(object)
    """A :class:`Notice`."""
    run_changed = pyqtSignal(str, str)
    """Run id and what is said beside it; both empty when no run is on."""
    runs_moved = pyqtSignal()
    """Runs that begin from now on go to another folder: ``store.runs``."""
    installed = pyqtSignal()
    """Environments or a worker were installed: what was looked up before holds no longer."""
    edit_asked = pyqtSignal(object)
    """A :class:`~gym_gui.ui.editor.file_request.FileRequest`."""
    file_told = pyqtSignal(str, object)
    """A file that was read or run, and what is wrong with it: problems of its
    :class:`~gym_gui.ui.editor.file_request.FileRequest`."""

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
        """What pages are made in: one that moves in later is dressed by the style sheet once more."""
        self.spare_host: SpareHost | None = None
        """May have a session process that waits for an operator (``ui/spare_host``)."""
        self._keys: ApiKeys | None = None
        self._windows: DetachedWindows | None = None
        self._closing = False
        self.settings.changed.connect(self._on_setting_changed)
        self.theme.set_scaling(self.settings.values.frame_scaling)

    # ------------------------------------------------------------------ going places, telling

    def go(self, page: str, **request: object) -> None:
        """Show a page and hand it a request (``go("play", task="CartPole-v1")``)."""
        self.requested.emit(page, request)

    def notify(
        self,
        text: str,
        kind: NoticeKind = "info",
        action: Action | None = None,
    ) -> None:
        """Tell the person something inline; also written to the log."""
        level = {"warning": logging.WARNING, "error": logging.ERROR}.get(kind, logging.INFO)
        _log.log(level, "%s", text)
        self.noticed.emit(Notice(text, kind, action))

    def edit(self, request: FileRequest) -> None:
        """Open a file in the editor; one that is open comes to the front."""
        self.edit_asked.emit(request)

    def set_run(self, run_id: str, note: str = "every step recorded") -> None:
        """Say in the status line which run is on; an empty id takes it away."""
        self.run_changed.emit(run_id, note if run_id else "")

    # ------------------------------------------------------------------ work in the background

    def spawn(self, work: Coroutine[Any, Any, _T], what: str) -> asyncio.Task[_T]:
        """Run a coroutine in the window's event loop.

        Its error becomes an inline message and a line in the log. It is cancelled, and
        waited for, when the window closes.

        Args:
            work: The coroutine.
            what: What it is, to be put before "failed": ``"Starting the operator"``.
        """
        task = asyncio.get_running_loop().create_task(work, name=what)
        self._tasks[task] = what
        task.add_done_callback(self._on_task_done)
        return task

    @property
    def busy(self) -> tuple[str, ...]:
        """What is being done in the background."""
        return tuple(self._tasks.values())

    async def close(self) -> None:
        """Cancel all background work and wait for it to end."""
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
            self.tell_failure(what, error)

    def tell_failure(self, what: str, error: BaseException) -> None:
        """Report a failure that no caller handles: a line in the log, and a message in the window.

        Args:
            what: What failed, to be put before "failed".
            error: Why it failed. The message of a :class:`MosaicError` is enough; for any other exception the
                log has the traceback.
        """
        action = None
        if isinstance(error, NotAllowedError):
            action = ("Look and allow…", partial(self.ask_trust, error))
        if isinstance(error, MosaicError):
            _log.info("%s failed: %s", what, error)
            message = error.message if action else str(error)  # the button is the way out
        else:
            _log.error("%s failed: %s", what, error, exc_info=error)
            message = f"{what} failed: {error or type(error).__name__}. The log has the details"
        if action is None:
            action = self._link_of(message, error)
        if not self._closing:
            self.noticed.emit(Notice(with_capital(message), "error", action))

    def _link_of(self, message: str, error: BaseException) -> Action | None:
        from gym_gui.ui.editor.line_links import link_of

        place = error.place if isinstance(error, MosaicError) else None
        return link_of(self, message, place=place)

    def ask_trust(self, error: NotAllowedError, then: Callable[[], object] | None = None) -> None:
        """Ask whether what a file names may be used.

        Args:
            error: What was refused.
            then: Called where the user allows it; by default a message says to start it again.
        """
        from gym_gui.ui.trust_dialog import ask

        again = partial(self.notify, "It is allowed now. Start it again", "ok")
        ask(error, then or again, self.place.window() if self.place is not None else None)

    # ------------------------------------------------------------------ what there is

    @property
    def detached_windows(self) -> DetachedWindows:
        """The windows beside the main one, of pictures and transcripts."""
        if self._windows is None:
            from gym_gui.ui.detached import DetachedWindows

            self._windows = DetachedWindows(self.layout, self.commands, lambda: self.place, self)
        return self._windows

    @property
    def api_keys(self) -> ApiKeys:
        """API keys by provider: the system's keyring, or memory where there is none."""
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
