"""Starts and ends the window: application, event loop and main window."""

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
from gym_gui.ui.crash_report_action import report_action
from gym_gui.ui.event_loop import close_loop, open_loop, set_failure_handler
from gym_gui.ui.preload import Preloader
from gym_gui.ui.spare_host import maintain_spare_host
from gym_gui.ui.style_sheet import ASSETS
from gym_gui.ui.window.main_window import MainWindow

_log = logging.getLogger(__name__)

DEBUG: Final = "MOSAIC_DEBUG"
_USUAL_DPI: Final = 96
_LARGEST: Final = 2.0
_SWITCH_S: Final = 0.0005
"""Interpreter switch interval while the window is open, in seconds.

With Python's default of 5 ms, the GUI thread waits up to 200 ms for threads that read runs while it builds or
paints a page. The other threads do not become slower.
"""


def create_window(argv: Sequence[str] | None = None) -> tuple[QApplication, MainWindow]:
    """Create the application and its main window, which is not shown yet.

    From then on asyncio runs on Qt's event loop: coroutines run whenever Qt processes events, in
    ``app.exec()`` or while a test waits. :func:`end` undoes all of this.

    Args:
      argv: Program name, then an experiment file or run folder to open, or ``--replay RUN OPERATOR EPISODE``.

    Returns:
      The application (an existing one is used again) and the window.
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
    _show_uncaught(context)
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
    window.painted.connect(lambda: context.spawn(maintain_spare_host(context), "Preparing a session process"))
    _open(window, arguments[1:])
    preloader.on_page_shown(window.current)  # the page was shown before the preloader existed
    return app, window


def _scale_with_text() -> None:
    """Enlarge the whole window if the system's font resolution requests larger text.

    Sizes in this program are pixels, which Qt scales together (``QT_SCALE_FACTOR``).
    """
    with contextlib.suppress(ValueError):
        factor = float(os.environ.get("QT_FONT_DPI", "")) / _USUAL_DPI
        if factor > 1:
            os.environ.setdefault("QT_SCALE_FACTOR", f"{min(factor, _LARGEST):g}")


def main(argv: Sequence[str] | None = None) -> int:
    """Open the window and run until it is closed.

    Args:
        argv: Arguments of :func:`create_window`.

    Returns:
        Exit status.
    """
    terminal = logging.StreamHandler()
    terminal.setLevel(logging.WARNING)  # the window's log has the rest
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", handlers=[terminal])
    app, window = create_window(argv)
    stop_watching = _start_watchdog() if os.environ.get(DEBUG) else None
    _close_on_signals(window)
    window.show()
    status = app.exec()
    if stop_watching is not None:
        stop_watching()
    end(window)
    return status


def end(window: MainWindow) -> None:
    """Separate asyncio from Qt and delete the window, which must be shut down already."""
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
    """Close the window on SIGINT, SIGTERM and SIGHUP, without asking."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, window.close_unasked)


def _show_uncaught(context: AppContext) -> None:
    """Log and show uncaught exceptions of slots, tasks and threads; none of them ends the program."""
    set_failure_handler(asyncio.get_running_loop(), context.report_failure)

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            return
        action = None
        if isinstance(error, UsageError):  # its message explains the error, so no traceback is needed
            text = error.sentence
            _log.warning("%s", error)
        else:
            text = f"Something went wrong: {error or kind.__name__}. The log has the details"
            _log.error("something went wrong: %s", error or kind.__name__, exc_info=(kind, error, trace))
            action = report_action(error)
        # The context may be deleted while Qt shuts down.
        with contextlib.suppress(RuntimeError):
            context.noticed.emit(Notice(text, "error", action))

    def thread_hook(args: threading.ExceptHookArgs) -> None:
        _log.error("something went wrong in %s", args.thread, exc_info=args.exc_value)

    sys.excepthook = hook
    threading.excepthook = thread_hook


def _start_watchdog() -> Callable[[], None]:
    from gym_gui.ui.watchdog import Watchdog

    faulthandler.enable()
    watchdog = Watchdog()
    QTimer.singleShot(0, watchdog.start)
    return watchdog.stop


# -- style ---------------------------------------------------------------------------------


class PlainStyle(QProxyStyle):
    """Fusion style whose labels show text literally, never as HTML.

    By default, Qt interprets text that looks like HTML and loads the files that it names. A label that
    contains HTML on purpose calls ``setTextFormat``.
    """

    def __init__(self) -> None:
        super().__init__("Fusion")

    # Qt has three methods of this name; this one is for widgets.
    def polish(self, widget: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Set plain text on each label; Qt calls this once per widget, before the widget is first shown."""
        if isinstance(widget, QLabel) and widget.textFormat() == Qt.TextFormat.AutoText:
            widget.setTextFormat(Qt.TextFormat.PlainText)
        return super().polish(widget)


# -- garbage collection --------------------------------------------------------------------


EVERY_MS: Final = 500
THRESHOLDS: Final = (4_000, 20, 50)
"""Allocations, and collections of the next younger generation, after which a generation is collected."""


class GarbageCollector(QObject):
    """Collects garbage in place of Python's automatic collection, as long as the object exists.

    Args:
        parent: Qt owner, in the GUI thread.
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
        """Exempt all current objects from collection, because a full collection would freeze the window
        visibly.
        """
        gc.freeze()

    def collect(self) -> None:
        """Collect the oldest generation that is due, with all younger ones."""
        counts = gc.get_count()
        for generation in (2, 1, 0):
            if counts[generation] > THRESHOLDS[generation]:
                gc.collect(generation)
                return
