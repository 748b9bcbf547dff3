"""The panel below the operators' cards: the selected operator's transcript, or the view of one agent."""

from __future__ import annotations

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QWidget

from gym_gui.analysis.transcripts.turn import Turn
from gym_gui.controllers.live_play.latest_task import Spawn
from gym_gui.controllers.setup.check_message import listed
from gym_gui.controllers.setup.play_setup import asks_models, runs_programs
from gym_gui.ui import theme
from gym_gui.ui.agent_snapshots.live_agent_snapshot import LiveAgentSnapshot
from gym_gui.ui.language.transcript_view import TranscriptPanel
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.renderers.joint_agents import joint_groups_of
from gym_gui.ui.widgets import Card, ElidedLabel, EmptyHint, IconButton, SegmentedControl

TURNS, MIND = "turns", "mind"
"""Values of the choice at the top: the transcript, or what one agent observes and thinks."""
_NO_TURN_YET = (
    "No decision yet",
    "Press Step or Run to see the requests and replies of a language "
    "model, or the beliefs and intentions of a program.",
)
_NO_REPORTS = (
    "Nothing to show so far",
    "Language models report requests and replies, programs their beliefs and intentions, "
    "searches the values of actions. The policies of this operator have reported none of these.",
)


def _no_reports(operator: LiveOperator | None) -> tuple[str, str]:
    """Return a title and a text that say why an operator has no transcript.

    For a policy that plays several slots together, the text names the slots and the view that shows them.
    """
    links = {} if operator is None else joint_groups_of(operator.player.config.link_groups)
    if not links:
        return _NO_REPORTS
    teams = {link.letter: link for link in links.values()}.values()
    parts = [f"One policy (link {team.letter}) plays {listed(team.slots)} together." for team in teams]
    parts.append(
        "Such a policy reports nothing about its decisions; One agent shows what each slot observes."
    )
    return _NO_REPORTS[0], " ".join(parts)


class TranscriptDock(Card):
    """Shows the transcript of an operator, or one of its agents; does no work while it is hidden.

    Args:
        spawn: Runs work in the background.
        parent: Qt owner.
    """

    close_requested = pyqtSignal()

    def __init__(self, spawn: Spawn, parent: QWidget | None = None) -> None:
        super().__init__(margin=theme.GAP, parent=parent)
        self.setObjectName("transcript-dock")
        self.setMinimumHeight(170)
        self._operator: LiveOperator | None = None
        self._title = ElidedLabel("", "strong")
        self.choice = SegmentedControl([(TURNS, "Transcript"), (MIND, "One agent")], name="transcript-what")
        self.choice.setToolTip("Show requests and replies, or what one agent observes and thinks now")
        self.choice.chosen.connect(self._on_chosen)
        self._close_button = IconButton("close", "Close the transcript", name="transcript-close")
        self._close_button.clicked.connect(self.close_requested)
        head = QHBoxLayout()
        head.addWidget(self.choice)
        head.addWidget(self._title, 1)
        head.addWidget(self._close_button)
        self.panel = TranscriptPanel(spawn, parent=self)
        self._hint = EmptyHint(*_NO_TURN_YET)
        self.body.addLayout(head)
        self.agent_view = LiveAgentSnapshot(spawn, self)
        self.add(self._hint, 1)
        self.add(self.panel, 1)
        self.add(self.agent_view, 1)
        self._show()

    @property
    def operator(self) -> LiveOperator | None:
        """Operator that is shown, or ``None``."""
        return self._operator

    def follow(self, operator: LiveOperator | None, agent: str | None = None) -> None:
        """Show the turns of an operator.

        Args:
          operator: The operator; ``None`` shows a hint.
          agent: Agent whose turns alone are shown; ``None`` keeps the current choice.
        """
        before, self._operator = self._operator, operator
        if before is not operator:
            if before is not None:
                before.called.disconnect(self._on_called)
                before.episode_over.disconnect(self._on_episode_over)
            if operator is not None:
                operator.called.connect(self._on_called)
                operator.episode_over.connect(self._on_episode_over)
        self._show()
        if agent is not None:
            self.panel.choose_agent(agent)

    def show_what(self, what: str, agent: str = "") -> None:
        """Show the transcript, or what one agent observes and thinks.

        Args:
            what: :data:`TURNS` or :data:`MIND`.
            agent: Name of the agent; empty for the agent that was shown last.
        """
        self.choice.set_value(what)
        self._show()
        if agent:
            self.agent_view.choose(agent)

    def _on_chosen(self, _what: str) -> None:
        self._show()

    def _show(self) -> None:
        operator, looking = self._operator, self.choice.value == MIND
        self.agent_view.setVisible(looking)
        self.agent_view.follow(operator if looking else None)
        calls = operator.player.tally.calls if operator is not None else None
        self._title.setText(operator.player.config.display_name if operator is not None else "")
        self.panel.follow(calls)
        talks = (
            operator is None or asks_models(operator.player.config) or runs_programs(operator.player.config)
        )
        self._hint.set_text(*(_NO_TURN_YET if talks else _no_reports(operator)))
        self.panel.setVisible(calls is not None and not looking)
        self._hint.setVisible(calls is None and not looking)

    def _on_called(self, _turn: Turn) -> None:
        if self._hint.isVisibleTo(self) or (self._operator is not None and not self._shows_current_log()):
            self._show()
        self.panel.on_grown()

    def _shows_current_log(self) -> bool:
        return self._operator is not None and self.panel.log is self._operator.player.tally.calls

    def _on_episode_over(self, _row: object) -> None:
        self.panel.on_grown()
