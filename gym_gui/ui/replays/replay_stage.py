"""Card of one replayed episode: its operator, its picture and the result so far."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QWidget

from gym_gui.analysis.compute.pairing import STATE_MARK
from gym_gui.ui import theme
from gym_gui.ui.detached import DockSlot
from gym_gui.ui.renderers import SlotPlayer, StageView, facts_in_words
from gym_gui.ui.renderers.joint_agents import recorded_joint_groups
from gym_gui.ui.replays.replay_player import ReplayPlayer
from gym_gui.ui.theme import Theme
from gym_gui.ui.widgets import Card, ElidedLabel, InlineMessage, KindBadge, label, muted_label
from gym_gui.ui.widgets.layouts import row_layout

MOST_BADGES = 3


class ReplayStage(Card):
    """Card that shows a replayed episode at a position.

    Args:
        current: Color theme.
        parent: Qt owner.
    """

    def __init__(self, current: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("replay-stage")
        self._player: ReplayPlayer | None = None
        self._position = 0
        self.name = ElidedLabel("", "strong", name="replay-name")
        self._mark = label(STATE_MARK, "strong", name="replay-state-mark")
        self.badges = row_layout(spacing=theme.STEP)
        self._facts = muted_label(name="replay-facts")
        head = row_layout()
        head.addWidget(self.name)
        head.addWidget(self._mark)
        head.addLayout(self.badges)
        head.addStretch(1)
        head.addWidget(self._facts, 0, Qt.AlignmentFlag.AlignRight)
        self.stage = StageView(current, self)
        self.dock_slot = DockSlot(self.stage, parent=self)
        head.addWidget(self.dock_slot.button())
        self.body.addLayout(head)
        self.stage.set_interactive(False)
        self.stage.way_changed.connect(self._on_way_changed)
        self.stage.set_hint("Replaying the episode…", "The first picture appears in a moment.")
        self.add(self.dock_slot, 1)
        self._trouble = InlineMessage("warning", "")
        self._trouble.hide()
        self.add(self._trouble)

    @property
    def player(self) -> ReplayPlayer | None:
        """Replay that is shown, or ``None``."""
        return self._player

    def show_player(self, player: ReplayPlayer) -> None:
        """Show another replayed episode."""
        self._player = player
        recorded = player.recorded
        self.name.setText(recorded.name)
        seats = recorded.episode.saw_state
        told = f"Agents that observed the full simulator state: {', '.join(seats)}"
        self._mark.setVisible(bool(seats))
        self._mark.setToolTip(told if seats else "")
        self._mark.setAccessibleName(told if seats else "")
        title = f"Replay of {recorded.name}, episode {recorded.episode.episode_index}"
        self.setAccessibleName(title)
        self.dock_slot.set_title(title)
        while (item := self.badges.takeAt(0)) is not None:
            if (badge := item.widget()) is not None:
                badge.deleteLater()
        for kind in tuple(dict.fromkeys(player.track.kinds.values()))[:MOST_BADGES]:
            self.badges.addWidget(KindBadge(kind))
        players = recorded.episode.agents.values()
        links = recorded_joint_groups(recorded.config)
        self.stage.set_seats(
            {a.slot: SlotPlayer(a.worker_type, a.policy or a.worker_id, links.get(a.slot)) for a in players}
        )
        self.stage.clear("Replaying the episode…", "The first picture appears in a moment.")
        self._trouble.hide()
        self._facts.setText("")
        player.broke.connect(self._on_broke)

    def show_position(self, position: int) -> None:
        """Show the picture, board or text at a position of the episode."""
        self._position = position
        player = self._player
        view = player.view(position) if player is not None else None
        if player is None or view is None:
            return
        picture = player.picture(position)
        # If the board is drawn, the picture would be decoded only to be covered.
        if picture is not None and self.stage.way != "board":
            self.stage.show_frame(picture, view.frame)
        if picture is None and view.board is None and not view.text:
            self.stage.set_hint("No picture", "This environment renders neither a picture nor text.")
        self.stage.show_view(view)
        self._facts.setText(facts_in_words(view))
        self.dock_slot.set_note(self._facts.text())

    def _on_way_changed(self, way: str) -> None:
        if way == "frame":
            self.show_position(self._position)

    def _on_broke(self, sentence: str) -> None:
        if self.sender() is not self._player:
            return
        self._trouble.set_text(sentence)
        self._trouble.show()
        if self._player is not None and not self._player.loaded:
            self.stage.clear("The episode cannot be replayed", sentence)
