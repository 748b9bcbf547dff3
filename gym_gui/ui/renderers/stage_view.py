"""View of an episode: a board, a picture or text, with a row of chips for the agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PyQt6.QtCore import QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PyQt6.QtWidgets import QBoxLayout, QFrame, QPushButton, QSizePolicy, QStackedWidget, QWidget

from gym_gui.core.live import Board, LiveView
from gym_gui.core.types import AgentID
from gym_gui.ui import theme
from gym_gui.ui.renderers.agent_words import SlotPlayer
from gym_gui.ui.renderers.board_view import BoardView
from gym_gui.ui.renderers.frame_view import FrameView
from gym_gui.ui.renderers.overlay import Overlay
from gym_gui.ui.renderers.seat_notice import HandoverCover, SeatNotice
from gym_gui.ui.renderers.text_view import TextView
from gym_gui.ui.theme import ROW, Theme
from gym_gui.ui.widgets.layouts import column_layout, row_layout
from gym_gui.ui.widgets.segments import SegmentedControl

WORDS: Final = {"board": "Board", "frame": "Picture", "text": "Text"}
"""Representations of an episode with their labels, the preferred one first."""
_CHIPS_NEED: Final = 160
"""Width in pixels beside the switch that the chips of two agents need."""


class StageView(QFrame):
    """View of an episode as board, picture or text, with a switch if several of them are available.

    The user's choice applies to all later episodes that offer it.

    Args:
        theme: Color theme.
        parent: Qt owner.
        backdrop: Theme token of the color behind the rounded corners.
        overlay: Whether the agents' chips are shown below.
    """

    move_chosen = pyqtSignal(int)
    painted = pyqtSignal(int)
    way_changed = pyqtSignal(str)
    everything_wanted = pyqtSignal(bool)
    """Emits ``True`` if the user asks to see hidden information of all seats, ``False`` for the own seats
    only.
    """

    def __init__(
        self,
        theme: Theme,
        parent: QWidget | None = None,
        *,
        backdrop: str = "panel",
        overlay: bool = True,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("stageView")
        self.frame = FrameView(theme, self, backdrop=backdrop)
        self.board = BoardView(theme, self, backdrop=backdrop)
        self.text = TextView(theme, self, backdrop=backdrop)
        self.evaluation = EvaluationBar(self)
        self.overlay = Overlay(theme, self)
        self._ways: dict[str, QWidget] = {"board": self.board, "frame": self.frame, "text": self.text}
        self._has: set[str] = set()
        self._preferred, self._way = "", "frame"
        self._overlay_wanted = overlay
        self._now: LiveView | None = None
        self._past: Board | None = None
        self._interactive = False
        self._stack = QStackedWidget(self)
        for way in self._ways.values():
            self._stack.addWidget(way)
        self._cover = HandoverCover(self)
        self._covered = False
        self._stack.addWidget(self._cover)
        self._stack.setCurrentWidget(self.frame)
        self.notice = SeatNotice(self)
        self._switch = SegmentedControl(list(WORDS.items()), "frame", name="stageSwitch", parent=self)
        self._switch.setToolTip("Show the episode as a board, as a picture or as text")
        self._switch.setAccessibleName("Representation of the episode")
        self._switch.hide()
        self._foot = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._build()
        self._switch.chosen.connect(self._on_way_chosen)
        self.board.move_chosen.connect(self.move_chosen)
        self.frame.move_chosen.connect(self.move_chosen)
        self.frame.painted.connect(self.painted)
        self._cover.lifted.connect(self._on_lifted)
        self.notice.everything_wanted.connect(self.everything_wanted)

    # -------------------------------------------------------------------------------------- content

    def show_view(self, view: LiveView) -> None:
        """Show board, text and chips of an episode; :meth:`show_frame` receives its picture."""
        self._offer("board", view.board is not None)
        self._offer("text", bool(view.text))
        if view.frame:
            self._offer("frame", True)
        if self._now is None or (self._now.episode, self._now.step) != (view.episode, view.step):
            self._past = None  # a new step replaces an earlier position that the user looks at
        self._now = view
        if view.board is not None:
            self._show_board()
        if view.text:
            self.text.show_text(view.text)
        self.frame.set_pointing(view.pointing)
        self.overlay.show_view(view)
        self.notice.show_view(view)
        self._covered = self._cover.covers(view)
        self._choose()

    def show_frame(self, frame: NDArray[np.uint8], number: int | None = None) -> None:
        """Show a picture; the arguments are those of :meth:`FrameView.show_frame`."""
        self.frame.show_frame(frame, number)
        if "frame" not in self._has:
            self._offer("frame", True)
            self._choose()

    def clear(self, title: str = "", text: str = "") -> None:
        """Remove the episode and show only a hint."""
        self._has = set()
        self._now = self._past = None
        for view in (self.frame, self.board, self.text):
            view.clear()
        if title:
            self.set_hint(title, text)
        self.overlay.show_view(None)
        self.notice.show_view(None)
        self._covered = self._cover.covers(None)
        self._choose()

    def set_hint(self, title: str, text: str = "") -> None:
        """Set title and text of the hint that is shown while no episode is shown."""
        for view in (self.frame, self.board, self.text):
            view.set_hint(title, text)

    def set_interactive(self, interactive: bool) -> None:
        """Set whether a person may choose actions on the board and in the picture."""
        self._interactive = interactive
        self.board.set_interactive(interactive and self._past is None)
        self.frame.set_interactive(interactive)

    def show_earlier(self, board: Board | None) -> None:
        """Show an earlier position, without accepting moves, until the next step; ``None`` shows the
        current position.
        """
        self._past = board
        self._show_board()

    def _show_board(self) -> None:
        board = self._past or (self._now.board if self._now is not None else None)
        self.board.show_board(board)
        self.board.set_interactive(self._interactive and self._past is None)

    def set_seats(self, seats: Mapping[AgentID, SlotPlayer]) -> None:
        """Set the policy or person of each slot, for the chips."""
        self.overlay.set_seats(seats)

    def set_overlay_shown(self, shown: bool) -> None:
        """Show the agents' chips, or hide them to leave their space to the picture."""
        self._overlay_wanted = shown
        self.overlay.setVisible(shown)

    @property
    def ways(self) -> tuple[str, ...]:
        """Available representations of the episode: ``board``, ``frame`` or ``text``."""
        return tuple(way for way in WORDS if way in self._has)

    @property
    def way(self) -> str:
        """Representation in use: ``board``, ``frame`` or ``text``."""
        return self._way

    def set_way(self, way: str) -> None:
        """Show episodes as ``board``, ``frame`` or ``text`` whenever they offer it."""
        self._preferred = way
        self._choose()

    # -------------------------------------------------------------------------------- other methods

    def _build(self) -> None:
        foot = self._foot
        foot.setSpacing(ROW)
        foot.addWidget(self.overlay, 1)
        foot.addWidget(self._switch, 0, Qt.AlignmentFlag.AlignRight)
        layout = column_layout(self, spacing=ROW)
        layout.addWidget(self.notice)
        shown = row_layout(spacing=ROW)
        shown.addWidget(self.evaluation)
        shown.addWidget(self._stack, 1)
        layout.addLayout(shown, 1)
        layout.addLayout(foot)
        self.overlay.setVisible(self._overlay_wanted)

    def _offer(self, way: str, there: bool) -> None:
        if there:
            self._has.add(way)
        else:
            self._has.discard(way)

    def _choose(self) -> None:
        ways = self.ways
        wanted = self._preferred if self._preferred in ways else (ways[0] if ways else "frame")
        changed, self._way = wanted != self._way, wanted
        self._stack.setCurrentWidget(self._cover if self._covered else self._ways[wanted])
        self._switch.setVisible(len(ways) > 1)
        for way in WORDS:
            self._button(way).setVisible(way in ways)
        self._switch.set_value(wanted)
        self._fit_foot()
        if changed:
            self.way_changed.emit(wanted)

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Place the chips and the switch one below the other if the widget is narrow."""
        super().resizeEvent(a0)
        self._fit_foot()

    def _fit_foot(self) -> None:
        beside = self.width() - self._switch.sizeHint().width() >= _CHIPS_NEED
        way = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        if way != self._foot.direction():
            self._foot.setDirection(way)

    def _button(self, way: str) -> QWidget:
        button = self._switch.findChild(QPushButton, f"{self._switch.objectName()}-{way}")
        assert button is not None
        return button

    def _on_lifted(self) -> None:
        self._covered = False
        self._choose()
        self._ways[self._way].setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_way_chosen(self, way: str) -> None:
        self.set_way(way)


# -- evaluation of the position ------------------------------------------------------------


_WIDTH = 34
_LIGHT, _DARK = QColor("#f4f4f2"), QColor("#2b2b2b")
"""Colors of White's and Black's parts of the evaluation bar."""


class EvaluationBar(QWidget):
    """Bar that shows the evaluation of a chess position for White; hidden until the first evaluation.

    Args:
        parent: Qt owner.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("evaluation-bar")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self._share, self.words = 0.5, ""
        self.hide()

    def sizeHint(self) -> QSize:
        """Return a size that fits the number of the evaluation."""
        return QSize(_WIDTH, 120)

    def show_evaluation(self, share: float, words: str) -> None:
        """Show White's share of the bar, 0 to 1, and the evaluation; ``words`` is ``""`` while Stockfish
        computes.
        """
        self._share, self.words = share, words
        said = f"Stockfish: {words} for White" if words else "Stockfish is thinking"
        self.setToolTip(said)
        self.setAccessibleName(said)
        self.show()
        self.update()

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Paint Black's part above White's, and the evaluation on the side that is ahead."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        whole = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.fillRect(whole, _DARK)
        edge = whole.bottom() - whole.height() * self._share
        painter.fillRect(QRectF(whole.left(), edge, whole.width(), whole.bottom() - edge), _LIGHT)
        painter.setPen(self.palette().mid().color())
        painter.drawRect(whole)
        painter.setFont(theme.font(theme.SMALL_PX))
        below = self._share >= 0.5
        painter.setPen(_DARK if below else _LIGHT)
        place = Qt.AlignmentFlag.AlignBottom if below else Qt.AlignmentFlag.AlignTop
        painter.drawText(
            whole.adjusted(0, 4, 0, -4), place | Qt.AlignmentFlag.AlignHCenter, self.words or "…"
        )
