"""The program, and beside it a probe that says where things are on the screen.

``python -m tests.window.driver SOCKET [ARGUMENT…]`` is ``python -m gym_gui [ARGUMENT…]``
with one addition: on ``SOCKET`` the window can be asked what it shows. Every question only
reads; whatever a test does to the window goes through the display.

A question is a line of JSON, ``{"ask": NAME, …}``; so is its answer.
"""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from PyQt6.QtCore import QObject, QPoint, QRect
from PyQt6.QtNetwork import QLocalServer, QLocalSocket
from PyQt6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QLabel,
    QLineEdit,
    QMenu,
    QSpinBox,
    QWidget,
)

from gym_gui.ui import app as program

Answer = dict[str, Any] | list[dict[str, Any]]


class Probe(QObject):
    """Answers questions about the window, in its own thread.

    Args:
        path: Socket it listens on.
        window: What it is asked about; its owner.
    """

    def __init__(self, path: str, window: program.MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._answers: dict[str, Callable[..., Answer]] = {
            "state": self._state,
            "widgets": self._widgets,
            "current": self._current,
            "menu": self._menu,
            "square": self._square,
            "bar": self._bar,
        }
        self._path = path
        self._connections: set[QLocalSocket] = set()  # kept from the garbage collector
        self._server = QLocalServer(self)
        self._server.newConnection.connect(self._on_connection)
        # Once the socket exists, the window is painted and the event loop runs.
        window.painted.connect(self._on_painted)

    # -- answers ----------------------------------------------------------------------

    def _state(self) -> Answer:
        window = self._window
        focus, popup = QApplication.focusWidget(), QApplication.activePopupWidget()
        dialog = QApplication.activeModalWidget()
        return {
            "page": window.current,
            "active": window.isActiveWindow(),
            # A dialog is there before the window manager has given it the keyboard.
            "hears_keys": QApplication.activeWindow() is not None
            if dialog is None or popup is not None
            else dialog.isActiveWindow(),
            "focus": _names(focus) if focus is not None else [],
            "popup": popup.objectName() if popup is not None else "",
            "dialog": (dialog.objectName() or type(dialog).__name__) if dialog is not None else "",
            "notices": window.notices.texts,
            "size": [window.width(), window.height()],
        }

    def _widgets(self, name: str) -> Answer:
        return [_about(widget) for widget in _shown(name)]

    def _current(self, name: str) -> Answer:
        """What the current row of a list says, which Return would take; of a table, its cells."""
        index = _one(name, QAbstractItemView).currentIndex()
        cells: list[str] = []
        while (cell := index.siblingAtColumn(len(cells))).isValid():
            cells.append(str(cell.data() or ""))
        return {"text": str(index.data() or ""), "cells": cells}

    def _menu(self, name: str) -> Answer:
        """Entries of an open menu."""
        menu = _one(name, QMenu)
        return [
            {
                "text": action.text(),
                "enabled": action.isEnabled(),
                "current": menu.activeAction() is action,
                "rect": _on_screen(menu, menu.actionGeometry(action)),
            }
            for action in menu.actions()
            if not action.isSeparator() and action.isVisible()
        ]

    def _square(self, row: int, column: int) -> Answer:
        """A square of the board that is shown."""
        from gym_gui.ui.renderers import BoardView

        board = _one("boardView", BoardView)
        shown = board.board
        return {
            "rect": _on_screen(board, board.square_rect((row, column))),
            "cells": list(shown.cells) if shown is not None else [],
            "moves": [list(move.target) for move in shown.moves] if shown is not None else [],
            "interactive": board.interactive,
            "note": board.note,
        }

    def _bar(self, index: int) -> Answer:
        """A bar of the plot of seeds."""
        from gym_gui.ui.plots import ChartView

        plot = _one("pairedSeedsPlot", ChartView)
        return {
            "rect": _on_screen(plot, plot.spot_rect(index).toRect()),
            "seen": plot.chart is not None and bool(plot.visibleRegion().boundingRect().height()),
        }

    # -- the socket -------------------------------------------------------------------

    def _on_painted(self) -> None:
        if not self._server.listen(self._path):
            sys.exit(f"the probe cannot listen on {self._path}: {self._server.errorString()}")

    def _on_connection(self) -> None:
        while (connection := self._server.nextPendingConnection()) is not None:
            self._connections.add(connection)
            connection.readyRead.connect(partial(self._on_question, connection))
            connection.disconnected.connect(partial(self._connections.discard, connection))

    def _on_question(self, connection: QLocalSocket) -> None:
        while connection.canReadLine():
            question: dict[str, Any] = json.loads(connection.readLine().data())
            answer = self._answers[question.pop("ask")]
            try:
                said: Any = answer(**question)
            except LookupError as nothing:
                said = {"missing": str(nothing)}
            connection.write(json.dumps(said).encode() + b"\n")
            connection.flush()


def _one(name: str, kind: type[Any]) -> Any:
    for widget in _shown(name):
        if isinstance(widget, kind):
            return widget
    raise LookupError(f"no {kind.__name__} {name!r} is shown")


def _shown(name: str) -> Iterator[QWidget]:
    """All of a name that are shown; Qt itself looks for them, which is quick enough to be asked often."""
    for root in QApplication.topLevelWidgets():
        if root.parent() is not None:
            continue  # found as a child of its parent
        if root.objectName() == name and root.isVisible():
            yield root
        yield from (widget for widget in root.findChildren(QWidget, name) if widget.isVisible())


def _about(widget: QWidget) -> dict[str, Any]:
    shown = widget.visibleRegion().boundingRect()
    middle = widget.mapToGlobal(shown.center())
    top = QApplication.widgetAt(middle)
    return {
        "names": _names(widget),
        "kind": type(widget).__name__,
        "text": _text(widget),
        "says": widget.accessibleName(),
        "rect": _on_screen(widget, shown),
        "enabled": widget.isEnabled(),
        "focus": widget.hasFocus(),
        "checked": isinstance(widget, QAbstractButton) and widget.isChecked(),
        "on_top": top is not None and (top is widget or widget.isAncestorOf(top)),
    }


def _text(widget: QWidget) -> str:
    if isinstance(widget, QSpinBox):
        return widget.cleanText()
    if isinstance(widget, QAbstractButton | QLabel | QLineEdit):
        return widget.text()
    text: object = getattr(widget, "text", None)
    return str(text() if callable(text) else text or "")


def _names(widget: QWidget) -> list[str]:
    """Its name and those of what it is in, from the inside out."""
    return [each.objectName() for each in _upwards(widget) if each.objectName()]


def _upwards(widget: QWidget) -> Iterator[QWidget]:
    up: QWidget | None = widget
    while up is not None:
        yield up
        up = up.parentWidget()


def _on_screen(widget: QWidget, place: QRect) -> list[int]:
    """Where it is, in pixels of the screen, of which one of the window's may be several."""
    corner, scale = widget.mapToGlobal(QPoint(place.left(), place.top())), widget.devicePixelRatioF()
    lengths = (corner.x(), corner.y(), place.width(), place.height())
    return [round(length * scale) for length in lengths]


def main(socket: str, arguments: Sequence[str]) -> None:
    """Run the program as ``python -m gym_gui`` does, with the probe in its window."""
    create = program.create_window

    def watched(argv: Sequence[str] | None = None) -> tuple[QApplication, program.MainWindow]:
        app, window = create(argv)
        Probe(socket, window)
        return app, window

    program.create_window = watched
    sys.argv[1:] = arguments
    runpy.run_module("gym_gui", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
