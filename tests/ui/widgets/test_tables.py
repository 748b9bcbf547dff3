"""Tables: rows that come, go and change; columns that sort; what stays selected."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from PyQt6.QtCore import QEvent, QRect, Qt
from PyQt6.QtGui import QHelpEvent
from PyQt6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

import gym_gui.ui
from gym_gui.ui.widgets.tables import Column, RowsModel, RowsTable

PAINTED = Qt.ItemDataRole.UserRole + 1
PADDING = 12  # of a heading, in the style sheet
SPOKEN = Qt.ItemDataRole.UserRole + 2


@dataclass(frozen=True)
class Fruit:
    name: str
    weight: float | None


def name(fruit: Fruit) -> str:
    return fruit.name


def weight(fruit: Fruit) -> str:
    return "-" if fruit.weight is None else f"{fruit.weight:g} g"


def heavy(fruit: Fruit) -> tuple[bool, float]:
    return fruit.weight is not None, fruit.weight or 0.0


NAME = Column("Fruit", name, tip=weight)
WEIGHT = Column("Weight", weight, heavy, about="In grams", figure=True, width=70, roles={PAINTED: heavy})
FIG, APPLE, PEAR, NONE = Fruit("fig", 40.0), Fruit("Apple", 120.0), Fruit("pear", 9.0), Fruit("none", None)


@pytest.fixture
def model(qapp: QApplication) -> RowsModel[Fruit]:
    result = RowsModel([NAME, WEIGHT], name, {SPOKEN: name})
    result.set_rows([FIG, APPLE, PEAR, NONE])
    return result


@pytest.fixture
def table(model: RowsModel[Fruit], qtbot: QtBot) -> RowsTable[Fruit]:
    result = RowsTable(model, "fruit", "Fruit", 20)
    qtbot.addWidget(result)
    return result


def shown(model: RowsModel[Fruit]) -> list[str]:
    return [model.index(row, 0).data() for row in range(model.rowCount())]


@pytest.mark.parametrize(
    ("column", "rows"),
    [(NAME, ["Apple", "fig", "none", "pear"]), (WEIGHT, ["none", "pear", "fig", "Apple"])],
    ids=["words, whatever their case", "numbers, not their text"],
)
def test_a_column_sorts_by_its_key(model: RowsModel[Fruit], column: Column[Fruit], rows: list[str]) -> None:
    model.sort(model.section(column))
    assert shown(model) == rows
    model.sort(model.section(column), Qt.SortOrder.DescendingOrder)
    assert shown(model) == rows[::-1]


def test_cells_and_headings_say_what_their_column_says(model: RowsModel[Fruit]) -> None:
    across, tip = Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole
    assert [model.headerData(i, across) for i in range(2)] == ["Fruit", "Weight"]
    assert model.headerData(1, across, tip) == "In grams"
    assert model.index(0, 0).data(tip) == "40 g" and model.index(0, 1).data(tip) is None
    assert model.index(0, 1).data(PAINTED) == (True, 40.0) and model.index(0, 0).data(PAINTED) is None
    assert [model.index(1, column).data(SPOKEN) for column in range(2)] == ["Apple", "Apple"]
    side = Qt.AlignmentFlag(model.index(0, 1).data(Qt.ItemDataRole.TextAlignmentRole))
    assert side & Qt.AlignmentFlag.AlignRight


def test_what_is_selected_stays_selected(model: RowsModel[Fruit], table: RowsTable[Fruit]) -> None:
    table.sort_by(NAME, Qt.SortOrder.AscendingOrder)
    table.select("pear")
    model.set_rows([PEAR, Fruit("banana", 100.0), FIG])
    assert shown(model) == ["banana", "fig", "pear"] and table.current == PEAR
    model.set_filter(lambda fruit: "an" not in fruit.name)
    assert shown(model) == ["fig", "pear"] and model.total == 3 and table.current == PEAR
    model.set_rows([FIG])
    assert table.current is None


def test_only_rows_that_changed_are_drawn_anew(model: RowsModel[Fruit]) -> None:
    changed: list[tuple[int, int]] = []
    model.dataChanged.connect(lambda first, last: changed.append((first.row(), last.row())))
    heavier = Fruit(APPLE.name, 200.0)
    model.set_rows([FIG, heavier, PEAR, NONE])
    assert changed == [(1, 1)] and model.index(1, 1).data() == "200 g"
    model.set_rows([FIG, Fruit(APPLE.name, 200.0), PEAR, NONE])
    assert changed == [(1, 1)], "nothing has changed"


def test_columns_with_a_width_leave_the_rest_to_the_others(table: RowsTable[Fruit], qtbot: QtBot) -> None:
    table.fit_columns()
    table.resize(400, 200)
    table.show()
    qtbot.waitExposed(table)
    port = table.viewport()
    assert port is not None
    assert table.columnWidth(1) == WEIGHT.width
    assert table.columnWidth(0) == port.width() - WEIGHT.width


def test_columns_give_way_to_what_is_read_first_and_come_back(qtbot: QtBot) -> None:
    columns = [
        Column("Fruit", name, usual="a fruit of usual length"),
        Column("Weight", weight, figure=True, width=70, gives=1),
        Column("Dry", weight, figure=True, widest="120 g", gives=2),
    ]
    table = RowsTable(RowsModel(columns), "fruits", "Fruits", 20)
    qtbot.addWidget(table)
    table.fit_columns()
    table.show()
    qtbot.waitExposed(table)
    names = table.cell_width("a fruit of usual length")
    for room, hidden in ((400, []), (names + 80, [2]), (names, [1, 2]), (50, [1, 2]), (400, [])):
        table.resize(room, 100)
        assert [section for section in range(3) if table.isColumnHidden(section)] == hidden
    assert table.columnWidth(2) == table.cell_width("120 g")


@pytest.mark.parametrize("column", [NAME, WEIGHT], ids=["at the left", "at the right"])
def test_the_arrow_of_what_rows_are_sorted_by_leaves_the_words_alone(
    table: RowsTable[Fruit], qtbot: QtBot, column: Column[Fruit]
) -> None:
    table.fit_columns()
    table.resize(300, 200)
    table.show()
    qtbot.waitExposed(table)
    port, section = table.head.viewport(), table.rows.section(column)
    assert port is not None
    left, width = table.head.sectionViewportPosition(section), table.head.sectionSize(section)
    read = PADDING + table.head.fontMetrics().horizontalAdvance(column.heading)
    words = QRect(left, 0, width - PADDING if column.figure else read, port.height())
    arrow = QRect(words.right() + 1, 0, width - words.width(), port.height())
    before = [port.grab(part).toImage() for part in (words, arrow)]
    table.sort_by(column)
    after = [port.grab(part).toImage() for part in (words, arrow)]
    assert after[0] == before[0] and after[1] != before[1]


def test_what_is_cut_in_a_cell_is_told_where_one_points_at_it(qtbot: QtBot) -> None:
    table = RowsTable(RowsModel([Column("Fruit", name)]), "fruits", "Fruits", 30)
    qtbot.addWidget(table)
    table.rows.set_rows([Fruit("fig", None), Fruit("dragon fruit of the early harvest", None)])
    table.resize(200, 120)
    table.setColumnWidth(0, 90)
    table.show()
    qtbot.waitExposed(table)
    port = table.viewport()
    for row, told in enumerate(("", "dragon fruit of the early harvest")):
        place = table.visualRect(table.rows.index(row, 0)).center()
        QApplication.sendEvent(port, QHelpEvent(QEvent.Type.ToolTip, place, port.mapToGlobal(place)))
        assert QToolTip.text() == told
    QToolTip.hideText()


def test_every_table_of_the_window_is_made_of_columns() -> None:
    """A model of its own for one table is how there came to be six."""
    folder = Path(gym_gui.ui.__file__).parent
    own = [path.name for path in folder.rglob("*.py") if "(QAbstractTableModel" in path.read_text("utf-8")]
    assert own == ["tables.py"]
