"""Notice about hidden information in a game, and a cover shown between the views of two people."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QVBoxLayout, QWidget

from gym_gui.core.live import LiveView
from gym_gui.core.types import AgentID
from gym_gui.ui import theme
from gym_gui.ui.renderers.agent_words import seat_words
from gym_gui.ui.widgets import InlineMessage, PrimaryButton, label


class SeatNotice(InlineMessage):
    """Message that names the seats whose view is shown, with a button that shows everything.

    Args:
        parent: Qt owner.
    """

    everything_wanted = pyqtSignal(bool)
    """Emits ``True`` if the user asks to see hidden information of all seats, ``False`` for the own seats
    only.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("info", "", ("Show everything", self._on_asked), parent=parent)
        self.setObjectName("seat-notice")
        self._everything = False
        self.hide()

    def show_view(self, view: LiveView | None) -> None:
        """Name the seats whose view is shown, or hide the message if the game hides nothing.

        A view of a finished episode leaves the message unchanged.
        """
        if view is not None and view.over:
            return
        kept_from = () if view is None else view.kept_from
        self.setVisible(bool(kept_from))
        if view is None or not kept_from:
            return
        self._everything = not view.seen_from
        seats = " and ".join(_named(view, view.seen_from or kept_from))
        self.set_text(
            f"All information is shown, including what {seats} cannot see."
            if self._everything
            else f"This game hides information between seats. Only the view of {seats} is shown."
        )
        assert self.button is not None
        self.button.setText("Show the seat's view" if self._everything else "Show everything")
        self.button.setToolTip("Change the view and restart the episode")

    def set_asking(self, asks: bool) -> None:
        """Show or hide the button that switches between all information and that of the seats."""
        assert self.button is not None
        self.button.setVisible(asks)

    def _on_asked(self) -> None:
        self.everything_wanted.emit(not self._everything)


def _named(view: LiveView, seats: Sequence[AgentID]) -> list[str]:
    """Return the display names of seats."""
    names = {agent.agent: seat_words(agent) for agent in view.agents}
    return [names.get(seat, seat) for seat in seats]


class HandoverCover(QWidget):
    """Widget that hides the next person's view until that person confirms that no other player is watching.

    Args:
        parent: Qt owner.
    """

    lifted = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("seat-cover")
        self._text = label("", "strong", wrap=True, parent=self)
        self._text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.button = PrimaryButton("Show", name="seat-cover-lift", on_click=self._on_lifted)
        self._seen_from: tuple[AgentID, ...] = ()
        self._open_to: tuple[AgentID, ...] = ()
        layout = QVBoxLayout(self)
        layout.setSpacing(theme.ROW)
        layout.addStretch(1)
        layout.addWidget(self._text)
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(1)

    def covers(self, view: LiveView | None) -> bool:
        """Return whether to hide a view, because several people play and it belongs to another person than
        before.
        """
        if view is None or len(view.kept_from) < 2 or len(view.seen_from) != 1:
            self._open_to = ()
            return False
        if view.seen_from == self._open_to:
            return False
        if view.seen_from != self._seen_from:
            self._seen_from = view.seen_from
            (agent,) = _named(view, view.seen_from)
            self._text.setText(f"{agent} is to move. The other players must not look.")
            self.button.setText(f"Show the view of {agent}")
        self._open_to = ()
        return True

    def _on_lifted(self) -> None:
        self._open_to = self._seen_from
        self.lifted.emit()
