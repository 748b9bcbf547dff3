"""The tree of a search: its moves, what may follow, what was played, for eyes and for ears."""

from __future__ import annotations

from PyQt6.QtCore import QModelIndex, Qt
from pytestqt.qtbot import QtBot

from gym_gui.analysis.transcripts.turn import Turn, turn_of
from gym_gui.ui.agent_snapshots.agent_snapshot import AgentSnapshot
from gym_gui.ui.agent_snapshots.agent_snapshot_view import AgentSnapshotView
from gym_gui.ui.agent_snapshots.search_model import MOVE, THEN, TRIED, WORTH
from gym_gui.ui.agent_snapshots.search_tree import SearchTree
from tests.support.named import named


def searched(step: int = 4, played: str = "Nf3") -> Turn:
    """A decision of a search, as its row says it."""
    reply = {"visits": 60, "value": 0.1, "replies": {"c4": {"visits": 30, "value": -0.2}}}
    return turn_of(
        {
            "agent_id": "player_0",
            "episode_index": 0,
            "step_index": step,
            "action": 77,
            "word": played,
            "action_source": "policy",
            "scores": {"e4": 0.3, "Nf3": 0.7},
            "considered": {
                "e4": {"visits": 300, "value": -0.1},
                "Nf3": {"visits": 700, "value": 0.31, "line": ["d5", "c4", "e6"], "replies": {"d5": reply}},
            },
        }
    )


def texts(tree: SearchTree, parent: QModelIndex) -> list[str]:
    rows = range(tree.moves.rowCount(parent))
    return [str(tree.moves.data(tree.moves.index(row, MOVE, parent))) for row in rows]


def test_a_tree_of_moves_is_shown_beside_what_is_told(qtbot: QtBot) -> None:
    view = AgentSnapshotView()
    qtbot.addWidget(view)
    view.resize(900, 300)
    view.show()
    view.show_snapshot(AgentSnapshot("player_0", turn=searched(), action="Nf3"))
    tree = named(view, SearchTree, "search-tree")
    assert tree.isVisible() and "SCORES" not in view.text.toPlainText()
    top = QModelIndex()
    assert texts(tree, top) == ["Nf3 (played)", "e4"]
    first, second = (tree.moves.index(row, MOVE) for row in (0, 1))
    assert tree.moves.data(tree.moves.index(0, TRIED)) == "700"
    assert tree.moves.data(tree.moves.index(1, WORTH)) == "\N{MINUS SIGN}0.10"
    heard = str(tree.moves.data(first, Qt.ItemDataRole.AccessibleTextRole))
    assert all(each in heard for each in ("Nf3", "played", "700 times", "d5"))
    # What is expected of the game stands open, down to moves of which no more was told.
    assert texts(tree, first) == ["d5"] and tree.isExpanded(first) and not tree.isExpanded(second)
    (d5,) = (tree.moves.index(0, MOVE, first),)
    (c4,) = (tree.moves.index(0, MOVE, d5),)
    assert texts(tree, d5) == ["c4"] and texts(tree, c4) == ["e6"]
    assert tree.moves.parent(c4) == d5 and not tree.moves.parent(first).isValid()

    tree.setFocus()
    tree.setCurrentIndex(first)
    qtbot.keyClick(tree, Qt.Key.Key_Down)
    assert tree.currentIndex() == d5
    view.show_snapshot(AgentSnapshot("player_0", turn=searched(6, "e4"), action="e4"))
    assert texts(tree, top)[1] == "e4 (played)"
    assert tree.moves.data(tree.currentIndex()) == "d5"  # who goes about in it stays
    assert view.grab().width() > 0

    view.show_snapshot(AgentSnapshot("player_0"))
    assert not tree.isVisible()


def test_the_line_that_follows_comes_back_with_the_room_for_it(qtbot: QtBot) -> None:
    tree = SearchTree()
    qtbot.addWidget(tree)
    tree.resize(320, 300)
    tree.show()
    tree.show_turn(searched())
    assert tree.isColumnHidden(THEN)
    tree.resize(900, 300)
    qtbot.waitUntil(lambda: not tree.isColumnHidden(THEN))
