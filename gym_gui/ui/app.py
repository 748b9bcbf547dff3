"""The program: application, event loop, window; and its end, in order."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import gc
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from PyQt6.QtCore import QObject, Qt, QTimer
from PyQt6.QtGui import QIcon, QPixmap
from PyQt6.QtWidgets import QApplication, QLabel, QProxyStyle

from gym_gui.core.errors import UsageError
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.ui import theme
from gym_gui.ui.context import AppContext, Notice
from gym_gui.ui.event_loop import close_loop, open_loop, tell_failures
from gym_gui.ui.preload import Preloader
from gym_gui.ui.spare_host import keep_spare_host
from gym_gui.ui.style_sheet import ASSETS
from gym_gui.ui.window.main_window import MainWindow

_log = logging.getLogger(__name__)

DEBUG: Final = "MOSAIC_DEBUG"
_USUAL_DPI: Final = 96
_LARGEST: Final = 2.0
_SWITCH_S: Final = 0.0005
"""How long a thread that reads a run keeps the interpreter from the window.

Python's own 5 ms are waited for again and again while a page is built or painted: up to 200 ms together.
What the other threads do takes no longer for it.
"""


def create_window(argv: Sequence[str] | None = None) -> tuple[QApplication, MainWindow]:
    """Make the application and its main window, which is not shown yet.

    asyncio is joined with Qt from here on: coroutines run whenever Qt's events are
    processed (``app.exec()``, a test's waiting). :func:`end` undoes all of it.

    Args:
        argv: Program name, then an experiment file or run folder to open, or
            ``--replay RUN OPERATOR EPISODE``.

    Returns:
        The application (the one there is, where there is one) and the window.
    """
    arguments = list(argv if argv is not None else sys.argv)
    sys.setswitchinterval(_SWITCH_S)
    _scale_with_text()
    running = QApplication.instance()
    app = running if isinstance(running, QApplication) else QApplication(arguments[:1] or ["mosaic"])
    app.setApplicationName("MOSAIC")
    app.setDesktopFileName("mosaic")
    app.setStyle(PlainStyle())
    app.setQuitOnLastWindowClosed(False)
    theme.use_fonts(app)
    open_loop(app)
    context = AppContext(bootstrap_default_services())
    context.theme.apply()
    _tell_uncaught(context)
    window = MainWindow(context)
    context.setParent(window)
    app.setWindowIcon(QIcon(QPixmap(str(ASSETS / "logo.png"))))
    window.ended.connect(app.quit)
    garbage = GarbageCollector(window)
    window.painted.connect(garbage.spare)
    window.page_shown.connect(garbage.spare)
    preloader = Preloader(context.spawn, parent=window)
    window.painted.connect(preloader.start)
    window.page_shown.connect(preloader.on_page_shown)
    window.ended.connect(preloader.stop)
    window.painted.connect(lambda: context.spawn(keep_spare_host(context), "Keeping a session process ready"))
    _open(window, arguments[1:])
    preloader.on_page_shown(window.current)  # it was made before
    return app, window


def _scale_with_text() -> None:
    """Where the system asks for larger text by its resolution, all of the window is larger, not cut.

    Sizes here are pixels, which Qt scales as a whole (``QT_SCALE_FACTOR``).
    """
    with contextlib.suppress(ValueError):
        factor = float(os.environ.get("QT_FONT_DPI", "")) / _USUAL_DPI
        if factor > 1:
            os.environ.setdefault("QT_SCALE_FACTOR", f"{min(factor, _LARGEST):g}")


def main(argv: Sequence[str] | None = None) -> int:
    """Open the window and stay until it is closed.

    Args:
        argv: As for :func:`create_window`.

    Returns:
        Exit status.
    """
    terminal = logging.StreamHandler()
    terminal.setLevel(logging.WARNING)  # the window's log has the rest
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", handlers=[terminal])
    app, window = create_window(argv)
    stop_watching = _watch() if os.environ.get(DEBUG) else None
    _close_on_signals(window)
    window.show()
    status = app.exec()
    if stop_watching is not None:
        stop_watching()
    end(window)
    return status


def end(window: MainWindow) -> None:
    """Part asyncio and Qt, and delete the window; for a window that has been shut down."""
    sys.excepthook = sys.__excepthook__
    threading.excepthook = threading.__excepthook__
    loop = asyncio.get_running_loop()
    window.deleteLater()
    app = QApplication.instance()
    if app is not None:
        app.processEvents()
    close_loop(loop)


def _open(window: MainWindow, arguments: Sequence[str]) -> None:
    match list(arguments):
        case []:
            pass
        case ["--replay", run, operator, episode]:
            window.go("results", {"replay": (Path(run).absolute(), operator, int(episode))})
        case [path]:
            window.open_file(Path(path).absolute())
        case _:
            raise UsageError(
                "the window opens one file at a time", fix="Give one experiment file or run folder"
            )


def _close_on_signals(window: MainWindow) -> None:
    """Ctrl-C in the terminal, and a polite kill, close the window as a click does."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, window.close_unasked)


def _tell_uncaught(context: AppContext) -> None:
    """An exception in a slot, task or thread is logged and told; it never ends the program."""
    tell_failures(asyncio.get_running_loop(), context.tell_failure)

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            return
        if isinstance(error, UsageError):  # its message says everything: a traceback would not help the user
            text = error.sentence
            _log.warning("%s", error)
        else:
            text = f"Something went wrong: {error or kind.__name__}. The log has the details"
            _log.error("something went wrong: %s", error or kind.__name__, exc_info=(kind, error, trace))
        # The context may be gone while Qt is being taken down.
        with contextlib.suppress(RuntimeError):
            context.noticed.emit(Notice(text, "error"))

    def thread_hook(args: threading.ExceptHookArgs) -> None:
        _log.error("something went wrong in %s", args.thread, exc_info=args.exc_value)

    sys.excepthook = hook
    threading.excepthook = thread_hook


def _watch() -> Callable[[], None]:
    from gym_gui.ui.watchdog import Watchdog

    faulthandler.enable()
    watchdog = Watchdog()
    QTimer.singleShot(0, watchdog.start)
    return watchdog.stop


# -- style ---------------------------------------------------------------------------------


class PlainStyle(QProxyStyle):
    """Fusion, whose labels and tooltips show names that others gave as they are written.

    Qt takes text that looks like HTML for HTML, and would load the files that it names. A label that
    is meant to hold HTML says so (``setTextFormat``).
    """

    def __init__(self) -> None:
        super().__init__("Fusion")

    # Three methods of one name in Qt; widgets are what is looked at.
    def polish(self, widget: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Called once for each widget, before it is first shown."""
        if isinstance(widget, QLabel) and widget.textFormat() == Qt.TextFormat.AutoText:
            widget.setTextFormat(Qt.TextFormat.PlainText)
        return super().polish(widget)


# -- garbage -------------------------------------------------------------------------------


EVERY_MS: Final = 500
THRESHOLDS: Final = (4_000, 20, 50)
"""Objects made, and collections of the generation before, after which a generation is looked through."""


class GarbageCollector(QObject):
    """Takes Python's place in deciding when to collect, as long as it lives.

    Args:
        parent: Qt owner, in the GUI's thread.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self.destroyed.connect(lambda: gc.enable())
        self._timer = QTimer(self)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self.collect)
        self._timer.start()

    def spare(self) -> None:
        """Keep what is there from being looked at again: a full collection would be felt as a jerk."""
        gc.freeze()

    def collect(self) -> None:
        """Look through the oldest generation that is due, and through the younger ones with it."""
        counts = gc.get_count()
        for generation in (2, 1, 0):
            if counts[generation] > THRESHOLDS[generation]:
                gc.collect(generation)
                return
