"""pyqtgraph, imported when the first plot is looked at.

The import takes a third of a second. It is done in a thread, so that the window neither
starts later for it nor stands still when a page with plots is opened.
"""

from __future__ import annotations

import sys
import threading
from types import ModuleType

from PyQt6.QtCore import QObject, pyqtSignal


class PlotLibrary(QObject):
    """The library, once it is there.

    Use :func:`library`; there is one for the process.
    """

    loaded = pyqtSignal()

    def __init__(self) -> None:
        super().__init__()
        self._module: ModuleType | None = None
        self._thread: threading.Thread | None = None

    @property
    def module(self) -> ModuleType | None:
        """pyqtgraph, or ``None`` while it is not there."""
        return self._module

    def load(self) -> None:
        """Begin to import it; :attr:`loaded` follows, at once if it is there."""
        if self._module is not None:
            self.loaded.emit()
        elif self._thread is None:
            self._thread = threading.Thread(target=self._import, name="import pyqtgraph", daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Import it before anything else happens, where time does not matter (a picture file)."""
        if self._module is None:
            self.load()
            if self._thread is not None:
                self._thread.join()

    def _import(self) -> None:
        hooks = sys.excepthook, threading.excepthook
        import pyqtgraph

        # It puts itself before the hooks for unhandled errors; the window has its own.
        sys.excepthook, threading.excepthook = hooks
        pyqtgraph.setConfigOptions(antialias=True)
        self._module = pyqtgraph
        self.loaded.emit()


_library: PlotLibrary | None = None


def library() -> PlotLibrary:
    """The process's one library. Call it from the GUI's thread."""
    global _library
    if _library is None:
        _library = PlotLibrary()
    return _library
