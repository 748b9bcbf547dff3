"""The command palette: finds commands, pages, environments and runs by name."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PyQt6.QtCore import QEvent, QModelIndex, QObject, QRect, Qt
from PyQt6.QtGui import QColor, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPaintEvent
from PyQt6.QtWidgets import QFrame, QLineEdit, QWidget

from gym_gui.analysis import open_run
from gym_gui.core.errors import MosaicError
from gym_gui.core.paths import run_folders
from gym_gui.core.run_labels import name_of
from gym_gui.ui import text_matching, theme
from gym_gui.ui.commands import Command
from gym_gui.ui.context import AppContext
from gym_gui.ui.widgets.labels import muted_label
from gym_gui.ui.widgets.layouts import column_layout
from gym_gui.ui.widgets.picker_list import ItemDelegate, ItemsModel, ItemsView, PickerItem

SHOWN: Final = 60
RUNS: Final = 200
OWN_COMMAND: Final = "view.palette"
"""Id of the command that opens the palette, which the palette does not list."""
_SEARCHED_ONLY = {"environment", "run"}
"""Kinds of entries that appear only after the user types, because there are too many."""

_NO_MATCH: Final = "No match. Try fewer letters, or the name of an environment."
_STILL_LISTING: Final = "No match so far. The environments are still being listed…"


@dataclass(frozen=True, slots=True)
class _Target:
    """What an entry of the palette opens: a command, an environment or a run."""

    kind: str
    value: object


class CommandPalette(QWidget):
    """Panel over the window that searches everything; a click beside it or Escape closes it."""

    def __init__(self, context: AppContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._environments: tuple[PickerItem, ...] = ()
        self._listing: asyncio.Task[None] | None = None
        self._runs: tuple[PickerItem, ...] = ()
        self._items: tuple[PickerItem, ...] = ()
        self._previous_focus: QWidget | None = None
        self.setObjectName("palette")
        self.setAccessibleName("Command palette")
        self._box = QFrame(self)
        self._box.setProperty("role", "popup")
        self._search = QLineEdit(self._box)
        self._search.setObjectName("palette-search")
        self._search.setPlaceholderText("Type a command, a page, an environment or a run")
        self._search.setAccessibleName("Search everything")
        self._search.setTextMargins(3, 0, 3, 0)  # aligns the field's text with the list below
        self._search.textChanged.connect(self._on_text_changed)
        self._search.installEventFilter(self)
        self.model = ItemsModel(self)
        self._list = ItemsView(self.model, "palette-list", "Matches", self._box)
        self._list.setItemDelegate(ItemDelegate(self._list))
        self._list.clicked.connect(self._on_chosen)
        self._no_match = muted_label(_NO_MATCH, name="palette-nothing")
        self._no_match.setAlignment(Qt.AlignmentFlag.AlignCenter)
        layout = column_layout(self._box, margin=8, spacing=6)
        layout.addWidget(self._search)
        layout.addWidget(self._list, 1)
        layout.addWidget(self._no_match, 1)
        parent.installEventFilter(self)
        self.hide()

    def open(self) -> None:
        """Show the palette over the whole window, with an empty search."""
        window = self.parentWidget()
        if window is None:
            return
        if not self.isVisible():
            self._previous_focus = window.focusWidget()
        self.setGeometry(window.rect())
        self._search.clear()
        self._collect()
        self._filter()
        self.show()
        self.raise_()
        self._search.setFocus()
        if not self._environments and (self._listing is None or self._listing.done()):
            self._listing = self._context.spawn(self._read_environments(), "Listing the environments")
        self._context.spawn(self._read_runs(), "Listing the runs")

    def shut(self) -> None:
        """Hide the palette and restore the focus."""
        self.hide()
        if self._previous_focus is not None:
            self._previous_focus.setFocus()
            self._previous_focus = None

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        """Pass keys of the search field to the list, and follow the window's size."""
        if a1 is not None and a0 is self.parentWidget() and a1.type() == QEvent.Type.Resize:
            self.setGeometry(self.parentWidget().rect())  # type: ignore[union-attr]
        if isinstance(a1, QKeyEvent) and a0 is self._search and a1.type() == QEvent.Type.KeyPress:
            return self._on_key(a1.key())
        return super().eventFilter(a0, a1)

    def mousePressEvent(self, a0: QMouseEvent | None) -> None:
        """Close the palette after a click beside its box."""
        if a0 is not None and not self._box.geometry().contains(a0.position().toPoint()):
            self.shut()

    def resizeEvent(self, a0: object) -> None:
        """Place the box at the top center."""
        width = min(640, self.width() - 48)
        height = min(440, self.height() - 120)
        self._box.setGeometry(QRect((self.width() - width) // 2, 56, width, height))

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Darken the window behind the box."""
        shade = QColor(0, 0, 0, 110 if theme.current().dark else 40)
        QPainter(self).fillRect(self.rect(), shade)

    # ------------------------------------------------------------------------ entries

    def _collect(self) -> None:
        registry = self._context.commands
        commands = tuple(
            _command_item(command, registry.shortcut(command))
            for command in registry.all()
            if command.id != OWN_COMMAND
        )
        self._items = (*commands, *self._runs, *self._environments)

    async def _read_environments(self) -> None:
        self._environments = await asyncio.to_thread(_environment_items)
        self._listing = None
        self._refresh()

    async def _read_runs(self) -> None:
        self._runs = await asyncio.to_thread(_run_items, self._context.store.runs)
        self._refresh()

    def _refresh(self) -> None:
        if self.isVisible():
            self._collect()
            self._filter()

    def _filter(self) -> None:
        query = self._search.text()
        items = self._items
        if not query.strip():
            items = tuple(
                i for i in items if isinstance(i.value, _Target) and i.value.kind not in _SEARCHED_ONLY
            )
        shown = text_matching.best(query, items, _searched, limit=SHOWN if query.strip() else None)
        self.model.show(shown, grouped=not query.strip())
        self._list.setVisible(bool(shown))
        self._no_match.setVisible(not shown)
        looking = self._listing is not None and not self._listing.done()
        self._no_match.setText(_STILL_LISTING if looking else _NO_MATCH)
        self._list.select(self.model.next_item(-1, 1))

    # -------------------------------------------------------------------- choice

    def _on_text_changed(self, _text: str) -> None:
        self._filter()

    def _on_key(self, key: int) -> bool:
        if self._list.move_by_key(key, page=10):
            return True
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._on_chosen(self._list.currentIndex())
        elif key == Qt.Key.Key_Escape:
            self.shut()
        else:
            return key == Qt.Key.Key_Tab
        return True

    def _on_chosen(self, index: QModelIndex) -> None:
        row = self.model.row(index.row())
        if not isinstance(row, PickerItem) or row.reason or not isinstance(row.value, _Target):
            return
        self.shut()
        target = row.value
        if target.kind == "command":
            self._context.commands.run(str(target.value))
        elif target.kind == "environment":
            self._context.go("play", task=str(target.value))
        elif isinstance(target.value, Path):
            self._context.go("results", run=target.value)


def _searched(item: PickerItem) -> str:
    return item.searched


def _command_item(command: Command, shortcut: str) -> PickerItem:
    keys = QKeySequence(shortcut).toString(QKeySequence.SequenceFormat.NativeText)
    reason = "" if command.enabled() else "not available now"
    group = "Go to" if command.id.startswith("go.") else "Commands"
    target = _Target("command", command.id)
    return PickerItem(target, command.title, keys or command.detail, group, reason, keywords=command.detail)


def _environment_items() -> tuple[PickerItem, ...]:
    """Return an entry for each environment; the first call is slow and belongs in a thread."""
    from gym_gui.envs import families, list_specs

    titles = {name: family.title for name, family in families().items()}
    return tuple(
        PickerItem(
            _Target("environment", spec.id),
            spec.id,
            f"Play · {titles.get(spec.family, spec.family)}",
            "Environments",
            keywords=spec.family,
        )
        for spec in list_specs()
    )


def _run_items(folder: Path) -> tuple[PickerItem, ...]:
    """Return entries for the newest runs, each with its name or its operators' names."""
    paths = [path for path in run_folders(folder) if (path / "run.json").is_file()]
    items: list[PickerItem] = []
    for path in paths[:RUNS]:
        try:
            run = open_run(path)
        except (MosaicError, OSError):
            continue
        who = name_of(path) or ", ".join(operator.name for operator in run.operators.values())
        where = ", ".join(dict.fromkeys(operator.task for operator in run.operators.values()))
        items.append(
            PickerItem(_Target("run", path), who or path.name, f"Run · {where}", "Runs", "", path.name)
        )
    return tuple(items)
