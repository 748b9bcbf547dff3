"""The window closed, and another one opened on the same data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.services.store import Store
from gym_gui.ui.context import AppContext
from gym_gui.ui.window.main_window import MainWindow


@contextmanager
def restarted(window: MainWindow, store: Store, finish: Callable[[object], object]) -> Iterator[MainWindow]:
    """A new window over what the one before has kept; it is closed at the end."""
    finish(window.shut_down())
    again = MainWindow(AppContext(bootstrap_default_services(store=store), window.context.theme))
    try:
        yield again
    finally:
        finish(again.shut_down())
        again.close()
        finish(again.context.close())
        again.deleteLater()
