"""Widget that shows a board game and lets a person move by mouse or keyboard."""

from __future__ import annotations

from functools import partial
from typing import Final

from PyQt6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, Qt, pyqtSignal
from PyQt6.QtGui import (
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PyQt6.QtWidgets import QApplication, QPushButton, QWidget

from gym_gui.controllers.human.board_choice import (
    AmbiguousClick,
    Answer,
    BoardChoice,
    ChosenMove,
    RefusedClick,
    Square,
)
from gym_gui.controllers.human.square_names import game_word, occupied_word
from gym_gui.core.live import Board, Move
from gym_gui.ui.renderers.board_geometry import BoardGeometry
from gym_gui.ui.renderers.board_painters import Marks, Sprites, paint_any_piece, paint_board
from gym_gui.ui.renderers.move_chooser import MoveChooser
from gym_gui.ui.renderers.surface import Surface
from gym_gui.ui.theme import CONTROL_HEIGHT, GAP, ROW, STEP, Theme

FOOT: Final = CONTROL_HEIGHT + 2 * STEP
"""Height in pixels below the board for buttons of moves without a square."""
_ARROWS: Final = {
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
}
_CHOOSE: Final = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space, Qt.Key.Key_Select})


class BoardView(Surface):
    """Widget that shows a board position and accepts a move when it is a person's turn.

    A person clicks a piece and then its target square, drags the piece, or uses the keyboard: the arrow
    keys move a cursor, Enter selects a piece or square, Esc cancels the selection. An illegal move changes
    nothing; the board then shows the reason.

    Args:
        theme: Color theme.
        parent: Qt owner.
        backdrop: Theme token of the color behind the rounded corners.
    """

    move_chosen = pyqtSignal(int)
    hinted = pyqtSignal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, backdrop: str = "panel") -> None:
        super().__init__(theme, parent, backdrop=backdrop)
        self.setObjectName("boardView")
        self.setAccessibleName("Board")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self._choice: BoardChoice | None = None
        self._place: BoardGeometry | None = None
        self._painted: tuple[BoardGeometry, QPoint] | None = None
        """Geometry at the last painting, and the widget's position in the window at that time."""
        self._interactive = False
        self._engaged = self._turned = False
        self._sprites = Sprites()
        self._cursor: Square | None = None
        self._by_keys = False
        self._hover: Square | None = None
        self._pressed: Square | None = None
        self._press_point = QPointF()
        self._fresh = False
        self._drag: QPointF | None = None
        self._note = ""
        self._chooser = MoveChooser(self)
        self._chooser.chosen.connect(self._on_chosen)
        self._chooser.given_up.connect(self._on_given_up)
        self._elsewhere: list[QPushButton] = []
        self.set_hint("No board yet", "The board appears when the game begins.")

    # ------------------------------------------------------------------------------------ content

    @property
    def board(self) -> Board | None:
        """Board position that is shown; ``None`` before the first."""
        return self._choice.board if self._choice is not None else None

    def show_board(self, board: Board | None) -> None:
        """Show a board position; a position that differs from the previous one cancels the selection."""
        if board == self.board:
            return
        self._chooser.dismiss()
        self._drag = self._pressed = self._hover = None
        self._note = ""
        self._choice = BoardChoice(board, self._interactive) if board is not None else None
        if board is not None:
            self.setAccessibleName(game_word(board.kind))
            if self._cursor is None or not self._choice_of().on_board(self._cursor):
                self._cursor = (board.rows - 1, board.columns // 2)
        self._lay_out()
        self._show_move_buttons()
        self._update_description()
        self.update()

    def clear(self) -> None:
        """Remove the position and show the hint."""
        self._engaged = self._interactive = False
        self.show_board(None)

    @property
    def interactive(self) -> bool:
        """Whether the board accepts a move now."""
        return self._choice.interactive if self._choice is not None else self._interactive

    def set_interactive(self, interactive: bool) -> None:
        """Set whether the board accepts a move.

        After a move the board accepts no further move until the next call.
        """
        self._engaged = self._engaged or interactive
        if interactive == self._interactive and interactive == self.interactive:
            return
        self._interactive = interactive
        if self._choice is not None:
            self._choice.interactive = interactive
            if not interactive:
                self._choice.release()
                self._chooser.dismiss()
        self._drag = None
        self._note = ""
        self._show_move_buttons()
        self._update_description()
        self.update()

    @property
    def flipped(self) -> bool:
        """Whether the board is drawn from the opposite side."""
        board = self.board
        return bool(board and board.flipped != self._turned)

    def set_turned(self, turned: bool) -> None:
        """Set whether this and later positions are drawn from the opposite side."""
        if turned == self._turned:
            return
        self._turned = turned
        self._chooser.dismiss()
        self._lay_out()
        self._update_description()
        self.update()

    @property
    def note(self) -> str:
        """Sentence shown over the board; ``""`` for none."""
        return self._note

    @property
    def cursor_square(self) -> Square | None:
        """Square (row, column) of the keyboard cursor."""
        return self._cursor

    @property
    def selected(self) -> Square | None:
        """Square (row, column) of the selected piece, or ``None``."""
        return self._choice.selected if self._choice is not None else None

    def square_rect(self, square: Square) -> QRect:
        """Return a square's rectangle in this widget's coordinates; empty without a board."""
        return self._place.rect(square).toRect() if self._place is not None else QRect()

    # -------------------------------------------------------------------------------------- mouse

    def mousePressEvent(self, a0: QMouseEvent | None) -> None:
        """Select the piece under the pointer; the right button cancels a selection."""
        if a0 is None:
            return
        if self._choice is None or self._place is None or not self._engaged:
            a0.ignore()  # No person plays on this board: the click is meant for the card.
            return
        self._by_keys = False
        if a0.button() == Qt.MouseButton.RightButton:
            self._cancel_selection()
            return
        if a0.button() != Qt.MouseButton.LeftButton:
            return
        if self._chooser.isVisible():
            self._on_given_up()
        square = self._drawn_at(a0.position())
        self._pressed, self._press_point, self._fresh = square, a0.globalPosition(), False
        if square is not None and square != self._choice.selected and self._choice.is_own_piece(square):
            self._fresh = True
            self._act(self._choice.choose(square))

    def mouseMoveEvent(self, a0: QMouseEvent | None) -> None:
        """Drag the selected piece, or highlight the square under the pointer."""
        if a0 is None or self._choice is None or self._place is None:
            return
        point = a0.position()
        if a0.buttons() & Qt.MouseButton.LeftButton and self._pressed is not None:
            if self._pressed == self._choice.selected and (self._drag is not None or self._is_far(a0)):
                self._drag = point
                self.update()
            return
        square = self._drawn_at(point)
        if square != self._hover:
            self._hover = square
            hand = square is not None and self._choice.choosable(square)
            self.setCursor(Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.ArrowCursor)
            self.update()

    def mouseReleaseEvent(self, a0: QMouseEvent | None) -> None:
        """Drop the dragged piece, or choose the square under the pointer."""
        if a0 is None or self._choice is None or self._place is None:
            return
        if a0.button() != Qt.MouseButton.LeftButton or self._pressed is None:
            return
        square, pressed = self._drawn_at(a0.position()), self._pressed
        if not self._is_far(a0):
            square = pressed  # the board may have moved under a pointer that has not
        dragged, self._drag, self._pressed = self._drag is not None, None, None
        if dragged and square is not None:
            self._act(self._choice.drop(square))
        elif square == pressed and not self._fresh:
            self._act(self._choice.choose(pressed))
        self.update()

    def _drawn_at(self, point: QPointF) -> Square | None:
        """Return the square that is painted at a point; ``None`` outside the board.

        If the layout has changed since the last painting, the painted layout decides, because people click on
        what they see.
        """
        if self._painted is None:
            return self._place.at(point) if self._place is not None else None
        place, origin = self._painted
        return place.at(point + QPointF(self._in_window() - origin))

    def _in_window(self) -> QPoint:
        window = self.window()
        return self.mapTo(window, QPoint(0, 0)) if window is not None else QPoint(0, 0)

    def _is_far(self, event: QMouseEvent) -> bool:
        """Return whether the pointer has moved far enough since the button press to count as a drag."""
        moved = event.globalPosition() - self._press_point
        return moved.manhattanLength() >= QApplication.startDragDistance()

    def leaveEvent(self, a0: QEvent | None) -> None:
        """Remove the highlight when the pointer leaves the widget."""
        self._hover = None
        self.update()

    # ----------------------------------------------------------------------------------- keyboard

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Move the cursor with arrow keys, choose with Enter or Space, cancel the selection with Esc."""
        if a0 is None:
            return
        key = Qt.Key(a0.key())
        if self._choice is None or self._place is None or self._cursor is None:
            a0.ignore()
        elif key in _ARROWS:
            self._by_keys = True
            self._cursor = self._place.moved(self._cursor, *_ARROWS[key])
            self._update_description()
            self.update()
        elif key in _CHOOSE:
            self._by_keys = True
            self._act(self._choice.choose(self._cursor))
        elif key == Qt.Key.Key_Escape and (self._choice.selected is not None or self._note):
            self._cancel_selection()
        else:
            a0.ignore()

    def focusInEvent(self, a0: QFocusEvent | None) -> None:
        """Show the keyboard cursor if the user reached the board with Tab."""
        super().focusInEvent(a0)
        reasons = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
        self._by_keys = a0 is not None and a0.reason() in reasons
        self._update_description()

    # --------------------------------------------------------------------------------------- moves

    def _choice_of(self) -> BoardChoice:
        assert self._choice is not None
        return self._choice

    def _act(self, answer: Answer) -> None:
        """Apply the result of a choice: make the move, ask which move is meant, or show why none is legal."""
        self._note = ""
        match answer:
            case ChosenMove(move):
                self._commit(move.action)
            case AmbiguousClick(moves):
                self._ask_which_move(moves)
            case RefusedClick(sentence):
                self._note = sentence
                self.hinted.emit(sentence)
            case _:
                pass
        self._update_description()
        self.update()

    def _ask_which_move(self, moves: tuple[Move, ...]) -> None:
        choice = self._choice_of()
        source = moves[0].source
        white = choice.piece(source).isupper() if source is not None else True
        near = self.square_rect(moves[0].target).center()
        self._chooser.ask(moves, white, near, self.rect())

    def _commit(self, action: int) -> None:
        """Emit a move and accept no further move until :meth:`set_interactive` is called."""
        choice = self._choice_of()
        choice.release()
        self._interactive = choice.interactive = False
        self._chooser.dismiss()
        self._show_move_buttons()
        self.move_chosen.emit(action)

    def _on_chosen(self, action: int) -> None:
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self._commit(action)
        self.update()

    def _on_given_up(self) -> None:
        self._chooser.dismiss()
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.update()

    def _cancel_selection(self) -> None:
        self._drag = self._pressed = None
        self._note = ""
        if self._choice is not None:
            self._choice.release()
        self._update_description()
        self.update()

    def _show_move_buttons(self) -> None:
        """Show buttons for moves without a target square, such as go's pass."""
        for button in self._elsewhere:
            button.hide()
            button.deleteLater()
        self._elsewhere = []
        if self._choice is None or not self._choice.interactive:
            return
        right = self.width() - GAP
        for move in self._choice.off_board_moves():
            word = (move.label or f"move {move.action}").capitalize()
            button = QPushButton(word, self)
            button.setObjectName(f"move_{move.action}")
            button.setToolTip(f"{word}: make a move that needs no square.")
            button.clicked.connect(partial(self._commit, move.action))
            button.adjustSize()
            button.move(right - button.width(), self.height() - button.height() - STEP)
            right -= button.width() + ROW
            button.show()
            self._elsewhere.append(button)

    # ------------------------------------------------------------------------------------ painting

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Fit the board to the new size of the widget."""
        super().resizeEvent(a0)
        self._chooser.dismiss()
        self._lay_out()
        self._show_move_buttons()

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Paint the background, the board, a dragged piece and the note."""
        painter = QPainter(self)
        self.paint_ground(painter)
        self._painted = None if self._place is None else (self._place, self._in_window())
        if self._choice is None or self._place is None:
            self.paint_hint(painter)
        else:
            board = self._choice.board
            color = self.theme.color("stage_text")
            paint_board(painter, board, self._place, self._marks(self._choice), color, self._sprites)
            if self._drag is not None and self._choice.selected is not None:
                side = self._place.side * 1.08
                held = QRectF(0, 0, side, side)
                held.moveCenter(self._drag)
                paint_any_piece(painter, board.kind, self._choice.piece(self._choice.selected), held)
            if self._note:
                self.paint_note(painter, self._note)
        self.paint_corners(painter)

    def _marks(self, choice: BoardChoice) -> Marks:
        selected = choice.selected
        targets = {move.target for move in choice.targets(selected)} if selected is not None else set()
        pointed = self._cursor if self._by_keys and self.hasFocus() else self._hover
        ghost = None
        if choice.interactive and selected is None and pointed is not None:
            landing = choice.landing(pointed)
            ghost = (landing, choice.piece_to_place()) if landing is not None else None
        cursor = self._cursor if self._by_keys and self.hasFocus() else None
        return Marks(
            selected, frozenset(targets), ghost, cursor, selected if self._drag is not None else None
        )

    def _lay_out(self) -> None:
        board = self.board
        if board is None:
            self._place = None
            return
        foot = FOOT if board.kind == "go" or self._choice_of().off_board_moves() else 0
        room = QRectF(self.rect()).adjusted(STEP, STEP, -STEP, -STEP - foot)
        self._place = BoardGeometry.fitted(board, room, flipped=self.flipped)

    def _update_description(self) -> None:
        """Describe the cursor's square, the selected piece and the turn to screen readers."""
        if self._choice is None or self._cursor is None:
            return
        board = self._choice.board
        words = [occupied_word(board, self._cursor)]
        if self._choice.selected is not None:
            words.append(f"selected: {occupied_word(board, self._choice.selected)}")
        words.append(self._note or ("your move" if self._choice.interactive else "not your move"))
        self.setAccessibleDescription(". ".join(words))
