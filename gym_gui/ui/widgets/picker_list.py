"""Popup of a picker: a searchable list of items that are grouped under headings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from PyQt6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPoint,
    QRect,
    QSize,
    Qt,
    pyqtSignal,
)
from PyQt6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter, QPixmap
from PyQt6.QtWidgets import (
    QFrame,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from gym_gui.ui import text_matching, theme
from gym_gui.ui.widgets.labels import muted_label
from gym_gui.ui.widgets.layouts import column_layout

_NARROWEST, _WIDEST = 320, 520
"""Smallest and largest width of the list, in pixels; a wider button makes the list wider."""
PICTURE = QSize(38, 26)
"""Size of an item's picture in the list, in pixels."""
_NOTHING = "No matches. Type fewer letters."
_AROUND = 72
"""Width of an item besides its text, in pixels: margins, the gap between label and detail, and the scroll
bar.
"""


@dataclass(frozen=True, slots=True)
class PickerItem:
    """One item of a picker's list.

    Attributes:
        value: Value that :attr:`PickerButton.chosen` emits.
        label: Text that the user reads.
        detail: Muted text beside the label.
        group: Heading of its group; ``""`` for no group.
        reason: Why the item cannot be chosen; ``""`` if it can.
        keywords: Further words by which the search finds the item.
        under: Value of another item that this item duplicates. A query that matches label, group or
            keywords of the other item does not show this item.
        searched_only: Whether the item is shown only if a query finds it.
    """

    value: object
    label: str
    detail: str = ""
    group: str = ""
    reason: str = ""
    keywords: str = ""
    under: object = None
    searched_only: bool = False

    @property
    def searched(self) -> str:
        """All words by which the search finds the item."""
        return " ".join((self.label, self.detail, self.group, self.keywords))


Pictures = Callable[[object], QPixmap | None]
"""Function that returns the picture of an item's value, or ``None`` if not loaded yet; called at each
repaint.
"""


class ItemsView(QListView):
    """List view of picker items; the search field above the list keeps the focus and forwards keys.

    Args:
        model: The items.
        name: ``objectName`` of the view.
        called: Accessible name of the view.
        parent: Qt owner.
    """

    def __init__(self, model: ItemsModel, name: str, called: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._items = model
        self.setObjectName(name)
        self.setAccessibleName(called)
        self.setModel(model)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def select(self, row: int) -> None:
        """Make a row the current row and scroll to it; a negative number does nothing."""
        if row >= 0:
            index = self._items.index(row)
            self.setCurrentIndex(index)
            self.scrollTo(index)

    def move_by_key(self, key: int, page: int = 8) -> bool:
        """Move the current row for an arrow or page key (``page`` items); return whether ``key`` is such a
        key.
        """
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: page, Qt.Key.Key_PageUp: -page}
        if key in steps:
            self.select(self._items.next_item(self.currentIndex().row(), steps[Qt.Key(key)]))
        return key in steps


class PickerPopup(QFrame):
    """Popup with a search field and a list of items, controlled by typing, arrow keys, Enter and Escape.

    Args:
        search_hint: Placeholder of the search field.
        parent: Qt owner.
        pictures: Returns small pictures of the items; ``None`` for no pictures.
        elide: Where long names are shortened.
        awaited: Text while items are being loaded; ``""`` if all items are known from the start.
    """

    picked = pyqtSignal(object)

    def __init__(
        self,
        search_hint: str,
        parent: QWidget,
        pictures: Pictures | None = None,
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        awaited: str = "",
    ) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.setObjectName("picker-popup")
        self.setProperty("role", "popup")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._search = QLineEdit(self)
        self._search.setObjectName("picker-search")
        self._search.setPlaceholderText(search_hint)
        self._search.setAccessibleName(search_hint)
        self._search.setTextMargins(3, 0, 3, 0)  # Align its words with those of the list.
        self._search.textChanged.connect(self._on_text_changed)
        self._search.installEventFilter(self)
        self.model = ItemsModel(self)
        self._list = ItemsView(self.model, "picker-list", "Choices", self)
        self._list.setItemDelegate(ItemDelegate(self._list, pictures, elide))
        self._list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self._list.clicked.connect(self._on_clicked)
        self._nothing = muted_label(_NOTHING, name="picker-nothing")
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        layout = column_layout(self, margin=8, spacing=6)
        layout.addWidget(self._search)
        layout.addWidget(self._list, 1)
        layout.addWidget(self._nothing, 1)
        self._awaited = awaited
        self._items: tuple[PickerItem, ...] = ()
        self._value: object = None

    def set_items(self, items: Sequence[PickerItem]) -> None:
        """Replace the items, show those that match the query, and keep the current item if it is still shown.

        Without a current item, the chosen item becomes current, unless there is a query.
        """
        before = self.model.row(self._list.currentIndex().row())
        self._items = tuple(items)
        self._filter()
        if isinstance(before, PickerItem):
            self._list.select(self.model.row_of(before.value))
        elif not self._search.text().strip():
            self._list.select(self.model.row_of(self._value))

    def open_below(self, button: QWidget, value: object) -> None:
        """Open the popup below a button, within the button's screen, with the chosen item visible."""
        self._search.clear()
        self._filter()
        self._value = value
        rows = min(max(self.model.rowCount(), 4), 12)
        width = max(button.width(), min(max(self._widest(), _NARROWEST), _WIDEST))
        size = QSize(width, 60 + rows * ItemDelegate.HEIGHT)
        place = button.mapToGlobal(QPoint(0, button.height() + 4))
        screen = button.screen()
        if screen is not None:
            area = screen.availableGeometry()
            if place.y() + size.height() > area.bottom():
                above = button.mapToGlobal(QPoint(0, 0)).y() - size.height() - 4
                place.setY(max(above, area.top()))
            place.setX(max(area.left(), min(place.x(), area.right() - size.width())))
        self.setGeometry(QRect(place, size))
        self.show()
        self._search.setFocus()
        self._list.select(self.model.row_of(value))

    def _widest(self) -> int:
        """Return the width that fits the longest item with its detail, in pixels."""
        metrics = QFontMetrics(theme.font())
        items = (metrics.horizontalAdvance(f"{i.label}{i.reason or i.detail}") for i in self._items)
        return max(items, default=0) + _AROUND

    def eventFilter(self, a0: QObject | None, a1: QEvent | None) -> bool:
        """Handle arrows, Enter and Escape of the search field for the list."""
        if isinstance(a1, QKeyEvent) and a1.type() == QEvent.Type.KeyPress and self._on_key(a1.key()):
            return True
        return super().eventFilter(a0, a1)

    def _on_key(self, key: int) -> bool:
        if self._list.move_by_key(key):
            return True
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._on_clicked(self._list.currentIndex())
            return True
        if key == Qt.Key.Key_Escape:
            self.hide()
            return True
        return False

    def _filter(self) -> None:
        query = self._search.text()
        if query.strip():
            found = _without_twins(query, text_matching.best(query, self._items, _searched))
        else:
            found = [item for item in self._items if not item.searched_only]
        self.model.show(found, grouped=not query.strip())
        empty = self.model.rowCount() == 0
        self._nothing.setText(_NOTHING if self._items or not self._awaited else self._awaited)
        self._list.setVisible(not empty)
        self._nothing.setVisible(empty)
        self._list.select(self.model.next_item(-1, 1))

    def pictures_changed(self) -> None:
        """Repaint the list after a picture was loaded."""
        view = self._list.viewport()
        if view is not None:
            view.update()

    def _on_text_changed(self, _text: str) -> None:
        self._filter()

    def _on_clicked(self, index: QModelIndex) -> None:
        row = self.model.row(index.row())
        if isinstance(row, PickerItem) and not row.reason:
            self.hide()
            self.picked.emit(row.value)


def _searched(item: PickerItem) -> str:
    return item.searched


def _without_twins(query: str, found: Sequence[PickerItem]) -> list[PickerItem]:
    """Return the found items without duplicates of items that the query also finds, sorted by relevance.

    Items that are shown without a query come first; among them, an item whose name equals the query is first.
    """
    own = {i.value for i in found if text_matching.score(query, f"{i.label} {i.group} {i.keywords}") > 0}
    kept = [item for item in found if item.under is None or item.under not in own]
    called = query.strip().casefold()

    def place(item: PickerItem) -> tuple[bool, bool]:
        title = item.label.removesuffix(f" ({item.group})")
        return item.searched_only, title.casefold() != called

    return sorted(kept, key=place)


class ItemsModel(QAbstractListModel):
    """List model of items under group headings; a row that is a ``str`` is a heading."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[PickerItem | str] = []

    def show(self, items: Sequence[PickerItem], *, grouped: bool) -> None:
        """Replace the items; with ``grouped``, insert a heading above each group."""
        self.beginResetModel()
        self._rows = []
        if grouped:
            groups: dict[str, list[PickerItem]] = {}
            for item in items:
                groups.setdefault(item.group, []).append(item)
            for group, members in groups.items():
                self._rows.extend([group, *members] if group else members)
        else:
            self._rows.extend(items)
        self.endResetModel()

    def row(self, number: int) -> PickerItem | str | None:
        """Return the item or the heading in a row; ``None`` if the row does not exist."""
        return self._rows[number] if 0 <= number < len(self._rows) else None

    def row_of(self, value: object) -> int:
        """Return the row of the item with a value, else of the first item that can be chosen."""
        for number, row in enumerate(self._rows):
            if isinstance(row, PickerItem) and row.value == value:
                return number
        return self.next_item(-1, 1)

    def next_item(self, row: int, step: int) -> int:
        """Return the row of the choosable item ``step`` items away, or of the last one in that direction;
        -1 if none.
        """
        choosable = [n for n, r in enumerate(self._rows) if isinstance(r, PickerItem) and not r.reason]
        if not choosable:
            return -1
        if step > 0:
            after = [n for n in choosable if n > row]
            return after[min(step, len(after)) - 1] if after else choosable[-1]
        before = [n for n in choosable if n < row]
        return before[max(step, -len(before))] if before else choosable[0]

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:  # noqa: B008
        """Return the number of headings and items."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a row's text, or its detail or reason as tooltip and accessible description."""
        row = self.row(index.row())
        if row is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return row if isinstance(row, str) else row.label
        if role == Qt.ItemDataRole.AccessibleDescriptionRole and isinstance(row, PickerItem):
            return row.reason or row.detail
        if role == Qt.ItemDataRole.ToolTipRole and isinstance(row, PickerItem):
            return "\n".join(filter(None, (row.label, row.reason or row.detail)))
        return None

    def flags(self, index: QModelIndex) -> Qt.ItemFlag:
        """Return the flags of a row; headings and items with a ``reason`` cannot be chosen."""
        row = self.row(index.row())
        if isinstance(row, PickerItem) and not row.reason:
            return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return Qt.ItemFlag.NoItemFlags


class ItemDelegate(QStyledItemDelegate):
    """Delegate that draws a heading, or an item with its detail at the right."""

    HEIGHT: ClassVar[int] = 30

    def __init__(
        self,
        parent: QObject | None = None,
        pictures: Pictures | None = None,
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        super().__init__(parent)
        self._pictures, self._elide = pictures, elide

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> QSize:
        """Return the size of a row, which is the same for all rows."""
        return QSize(100, self.HEIGHT)

    def paint(self, painter: QPainter | None, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        """Draw one row of the list."""
        model = index.model()
        row = model.row(index.row()) if isinstance(model, ItemsModel) else None
        if painter is None or row is None:
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        current = theme.current()
        rect = option.rect.adjusted(4, 1, -4, -1)
        if isinstance(row, str):
            painter.setFont(theme.font(theme.SMALL_PX, weight=QFont.Weight.DemiBold))
            painter.setPen(current.color("muted"))
            painter.drawText(rect.adjusted(8, 6, 0, 0), Qt.AlignmentFlag.AlignVCenter, row.upper())
        else:
            chosen = bool(option.state & QStyle.StateFlag.State_Selected)
            over = bool(option.state & QStyle.StateFlag.State_MouseOver) and not row.reason
            if chosen or over:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(current.color("wash" if chosen else "raised"))
                painter.drawRoundedRect(rect, 6, 6)
            room = rect.adjusted(8, 0, -8, 0)
            if self._pictures is not None:
                self._paint_picture(painter, room, row)
                room.setLeft(room.left() + PICTURE.width() + 8)
            self._paint_item(painter, room, row)
        painter.restore()

    def _paint_picture(self, painter: QPainter, room: QRect, item: PickerItem) -> None:
        """Draw the item's picture in a box of fixed size, or an empty box if there is no picture."""
        assert self._pictures is not None
        box = QRect(room.left(), room.center().y() - PICTURE.height() // 2, PICTURE.width(), PICTURE.height())
        picture = self._pictures(item.value)
        if picture is None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.current().color("raised"))
            painter.drawRoundedRect(box, 3, 3)
            return
        size = picture.size().scaled(PICTURE, Qt.AspectRatioMode.KeepAspectRatio)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        place = QRect(QPoint(0, 0), size)
        place.moveCenter(box.center())
        painter.drawPixmap(place, picture)

    def _paint_item(self, painter: QPainter, rect: QRect, item: PickerItem) -> None:
        current = theme.current()
        metrics = painter.fontMetrics()
        detail = item.reason or item.detail
        # Add two pixels to the measured width: hinting rounds, and a cut shortcut is useless.
        width = min(metrics.horizontalAdvance(detail) + 2, rect.width() // 2) if detail else 0
        painter.setPen(current.color("faint" if item.reason else "text"))
        room = rect.adjusted(0, 0, -(width + 12 if width else 0), 0)
        text = metrics.elidedText(item.label, self._elide, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, text)
        if detail:
            painter.setPen(current.color("muted"))
            text = metrics.elidedText(detail, Qt.TextElideMode.ElideRight, width)
            painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, text)
