"""Background import of pyqtgraph when the first plot becomes visible.

The import of pyqtgraph takes a third of a second. In a thread, it delays neither the start of the window nor
the opening of a page with plots.
"""

from __future__ import annotations

import sys
import threading
from types import ModuleType

from PyQt6.QtCore import QObject, pyqtSignal


class PlotLibrary(QObject):
    """Loader and holder of the pyqtgraph module.

    :func:`library` returns the one instance of the process.
    """

    loaded = pyqtSignal()

    def __init__(self) -> None:
        super().__init__()
        self._module: ModuleType | None = None
        self._thread: threading.Thread | None = None

    @property
    def module(self) -> ModuleType | None:
        """Imported pyqtgraph module; ``None`` while it is not loaded."""
        return self._module

    def load(self) -> None:
        """Import pyqtgraph in a thread, then emit :attr:`loaded`; emit at once if it is imported already."""
        if self._module is not None:
            self.loaded.emit()
        elif self._thread is None:
            self._thread = threading.Thread(target=self._import, name="import pyqtgraph", daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Import pyqtgraph and wait for the end of the import, for example to write a picture file."""
        if self._module is None:
            self.load()
            if self._thread is not None:
                self._thread.join()

    def _import(self) -> None:
        hooks = sys.excepthook, threading.excepthook
        import pyqtgraph

        # pyqtgraph replaces the hooks for unhandled errors: restore the window's own.
        sys.excepthook, threading.excepthook = hooks
        pyqtgraph.setConfigOptions(antialias=True)
        self._module = pyqtgraph
        self.loaded.emit()


_library: PlotLibrary | None = None


def library() -> PlotLibrary:
    """Return the only :class:`PlotLibrary` of the process; must be called from the GUI thread."""
    global _library
    if _library is None:
        _library = PlotLibrary()
    return _library
