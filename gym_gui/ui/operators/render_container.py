"""An operator's card: its name, state, frame, figures and returns."""

from __future__ import annotations

from typing import Any

from PyQt6.QtCore import QRectF, Qt, pyqtSignal
from PyQt6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PyQt6.QtWidgets import QHBoxLayout, QSizePolicy, QSpacerItem, QWidget

from gym_gui.analysis.transcripts.turn import Turn
from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.controllers.setup.play_setup import asks_models, runs_programs
from gym_gui.core.config import OperatorConfig
from gym_gui.core.drawing import colors
from gym_gui.core.live import LiveView
from gym_gui.services.file_references import folders_of, place_in
from gym_gui.ui import theme
from gym_gui.ui.detached import DockSlot
from gym_gui.ui.editor.line_links import words_for
from gym_gui.ui.language.player_strip import HEIGHT, CallStrip
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.live.state_words import starting_words, state_tone, state_words, words_of
from gym_gui.ui.numbers import local
from gym_gui.ui.operators.card_strips import FactsStrip
from gym_gui.ui.renderers.agent_words import number_words, slot_players
from gym_gui.ui.renderers.stage_view import StageView
from gym_gui.ui.widgets import (
    Card,
    ElidedLabel,
    IconButton,
    KindBadge,
    LinkButton,
    Sparkline,
    StatusDot,
    label,
)

NARROW = 290
SLIM = 170
"""Width in pixels below which a card has no pin button; the card's menu still has the command."""
LOW = 200
"""Height in pixels below which a card shows no figures, because the picture needs the space."""
_SPARKLINE, _SMALL_SPARKLINE = 96, 32
_RETURNS = 60
_PLACE = 110
"""Largest width of the name of a host, in pixels."""
_DOT = 10


def leading_kind(config: OperatorConfig) -> str:
    """Return the worker kind that a card shows: the only kind besides ``baseline``, or ``mixed`` for
    several."""
    return colors.leading_kind(player.worker_type for player in config.resolved_slots().values())


def everybody(config: OperatorConfig) -> str:
    """Return one line per slot with the kind of its worker; empty if there is only one slot."""
    slots = config.resolved_slots()
    lines = [f"{slot}: {theme.kind_word(player.worker_type)}" for slot, player in slots.items()]
    return "\n".join(lines) if len(lines) > 1 else ""


class OperatorRenderContainer(Card):
    """Card that shows one live operator and repaints only what has changed.

    Args:
        theme_: Theme with the colors of the stage.
        operator: Operator that the card shows.
        parent: Qt owner.
    """

    restart_requested = pyqtSignal(str)
    enlarge_requested = pyqtSignal(object)
    pin_requested = pyqtSignal(object)
    """Emits this card, to be shown large beside the others or at their size again."""
    move_chosen = pyqtSignal(str, object)
    """Emits the operator's id and a move that the user made on its board."""
    transcript_requested = pyqtSignal(object)
    """Emits the operator whose transcript is requested."""
    agent_chosen = pyqtSignal(object, str)
    """Emits the operator and the agent whose observation is requested."""
    place_requested = pyqtSignal(object)
    """Emits the operator whose error names a line of a file, so that this line is opened."""
    strip_changed = pyqtSignal()
    """Emitted when the strip of model calls appears or disappears."""

    def __init__(self, theme_: theme.Theme, operator: LiveOperator, parent: QWidget | None = None) -> None:
        super().__init__(clickable=True, parent=parent)
        self.operator = operator
        self.setObjectName(f"card-{operator.player.config.operator_id}")
        self.calls: CallStrip | None = None
        # Shorten names in the middle: names that were generated alike differ at their ends.
        self.name = ElidedLabel("", "strong", mode=Qt.TextElideMode.ElideMiddle, parent=self)
        self.name.setObjectName("operator-card-name")
        self._badge = KindBadge("baseline", self)
        self._place = ElidedLabel("", "muted", parent=self, name="operator-place")
        self._place.setMinimumWidth(1)  # A host's name must not make a card wider.
        self.status = StatusDot("muted", "", self)
        self.status.setObjectName("operator-status")
        self._expand = IconButton(
            "expand", "Enlarge (double click)", name="operator-enlarge", on_click=self._on_enlarge
        )
        self._expand.setFixedSize(22, 22)
        self._pin = IconButton("pin", "", name="operator-pin", on_click=self._on_pin)
        self._pin.setFixedSize(22, 22)
        self._pinned, self._alone = False, True
        self._trouble = label("", "error", wrap=True, parent=self, name="operator-trouble")
        self.restart = LinkButton("Restart", name="operator-restart", on_click=self._on_restart)
        self._error_link = LinkButton("", name="operator-trouble-place", on_click=self._on_error_link)
        self._error_link.hide()
        self.restart.setToolTip("Start a new session, which continues with the next episode")
        self.stage = StageView(theme_, self)
        self.stage.setObjectName("operator-stage")
        self.stage.notice.set_asking(False)
        self.dock_slot = DockSlot(self.stage, parent=self)
        self._facts = FactsStrip(self)
        self._sparkline = Sparkline(parent=self)
        self._build()
        operator.state_changed.connect(self._on_state_changed)
        operator.viewed.connect(self._on_viewed)
        operator.framed.connect(self._on_framed)
        operator.episode_over.connect(self._on_episode_over)
        operator.config_changed.connect(self._on_config_changed)
        operator.called.connect(self._on_called)
        self.stage.move_chosen.connect(self._on_move_chosen)
        self.stage.overlay.set_clickable(True)
        self.stage.overlay.agent_chosen.connect(self._on_agent_chosen)
        self.double_clicked.connect(self._on_enlarge)
        self._on_config_changed(operator.player.config)
        self.refresh()

    def _build(self) -> None:
        self._top, self._below = QHBoxLayout(), QHBoxLayout()
        for row in (self._top, self._below):
            row.setSpacing(theme.ROW)
        self._top.addWidget(self.name, 0, Qt.AlignmentFlag.AlignVCenter)
        self._top.addWidget(self._badge)
        self._top.addWidget(self._place, 0, Qt.AlignmentFlag.AlignVCenter)
        self._top.addStretch(1)
        self._top.addWidget(self.status)
        self._top.addWidget(self._pin)
        self._top.addWidget(self._expand)
        self._trouble_row = QWidget(self)
        row = QHBoxLayout(self._trouble_row)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._trouble, 1)
        row.addWidget(self._error_link, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.restart, 0, Qt.AlignmentFlag.AlignTop)
        foot = QHBoxLayout()
        foot.setSpacing(theme.ROW)
        foot.addWidget(self._facts, 1)
        foot.addWidget(self._sparkline, 0, Qt.AlignmentFlag.AlignVCenter)
        self.body.addLayout(self._top)
        self.body.addLayout(self._below)
        self.add(self._trouble_row)
        self.add(self.dock_slot, 1)
        self.body.addLayout(foot)
        self._strip_spacer = QSpacerItem(0, 0, QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self.body.addItem(self._strip_spacer)
        self._narrow = False
        self._sparkline.setMaximumWidth(_SPARKLINE)

    def resizeEvent(self, a0: QResizeEvent | None) -> None:
        """Move badge and state to a second line in a narrow card; hide the figures in a low card."""
        super().resizeEvent(a0)
        self._fit_figures()
        self._move_badge()
        self._fit_head()
        self._fit_returns()

    def _fit_figures(self) -> None:
        self._facts.setVisible(self._has_figures)
        self._show_returns()

    @property
    def _has_figures(self) -> bool:
        """Whether the card is high enough for figures below the picture and the strip of calls."""
        below = HEIGHT if self.has_strip or self._strip_spacer.sizeHint().height() else 0
        return self.height() >= LOW + below

    def _move_badge(self) -> None:
        narrow = self.width() < NARROW
        if narrow == self._narrow:
            return
        self._narrow = narrow
        if narrow:
            self._below.addWidget(self._badge)
            self._below.addWidget(self._place)
            self._below.addStretch(1)
            self._below.addWidget(self.status)
        else:
            self._below.takeAt(2)  # the stretch
            self._top.insertWidget(1, self._badge)
            self._top.insertWidget(2, self._place)
            self._top.insertWidget(self._top.count() - 2, self.status)

    def _fit_returns(self) -> None:
        """Set the largest width of the sparkline: what the figures leave free, but at least a readable
        width."""
        room = self.contentsRect().width() - 2 * theme.GAP - theme.ROW - self._facts.needed
        most = _SMALL_SPARKLINE if self._narrow else _SPARKLINE
        self._sparkline.setMaximumWidth(min(max(room, _SMALL_SPARKLINE), most))

    def _fit_head(self) -> None:
        """Divide the card's first line: the operator's name has priority, then the host, then the state.

        The state's dot is always shown.
        """
        self._pin.setVisible(not self._alone and (self._pinned or self.width() >= SLIM))
        beside: list[QWidget] = [self._badge] if self._narrow else [self.name, self._badge, self._expand]
        if not self._narrow and not self._pin.isHidden():
            beside.append(self._pin)
        taken = sum(widget.sizeHint().width() + theme.ROW for widget in beside)
        if not self._place.isHidden():
            room = self.width() - 2 * theme.GAP - taken - theme.ROW - _DOT
            place = max(1, min(_PLACE, room, self._place.sizeHint().width()))
            self._place.setMaximumWidth(place)
            taken += place + theme.ROW
        self.status.set_word_shown(taken + self.status.whole_width <= self.width() - 2 * theme.GAP)

    # -- contents --------------------------------------------------------------------

    def refresh(self) -> None:
        """Show the operator's current state, view, frame, returns and last call."""
        operator = self.operator
        self._on_state_changed(operator.player.state)
        if operator.player.last_view is not None:
            self._on_viewed(operator.player.last_view)
        else:
            self._show_facts(None)
        if operator.player.last_frame is not None:
            self._on_framed(operator.player.last_frame)
        self._show_returns()
        if operator.player.tally.calls is not None and operator.player.tally.calls.last is not None:
            self._on_called(operator.player.tally.calls.last)

    def _on_config_changed(self, config: OperatorConfig) -> None:
        self.setObjectName(f"card-{config.operator_id}")
        self.name.setText(config.display_name)
        self.dock_slot.set_title(f"{config.display_name}, {config.task}")
        self._badge.set_kind(leading_kind(config), everybody(config))
        self._place.setText(f"on {config.host}")
        self._place.setVisible(bool(config.host))
        players = config.resolved_slots()
        if asks_models(config) or runs_programs(config):  # Other operators get a strip on their first turn.
            self._strip()
            self._begin_strip()
        elif self.has_strip and self.operator.player.tally.calls is None:
            assert self.calls is not None
            self.calls.hide()
            self.strip_changed.emit()
        # A single agent's action is shown among the facts; each of several agents has a chip.
        self.stage.set_overlay_shown(len(players) > 1)
        self.stage.set_seats(slot_players(config))
        self._describe()
        self._fit_head()

    def _show_error_link(self) -> None:
        player = self.operator.player
        place = place_in(words_of(player), folders_of(player.config))
        self._error_link.setVisible(place is not None)
        if place is not None:
            self._error_link.set_text(words_for(place))

    def _on_error_link(self) -> None:
        self.place_requested.emit(self.operator)

    def _on_state_changed(self, state: OperatorState) -> None:
        operator = self.operator
        broken = state is OperatorState.BROKEN
        has_trouble = state in (OperatorState.BROKEN, OperatorState.SPENT)
        self.status.set_state(
            state_tone(state), state_words(state) if has_trouble else words_of(operator.player)
        )
        self._fit_head()
        if self._trouble_row.isVisibleTo(self) != has_trouble:
            self._trouble_row.setVisible(has_trouble)
        self.restart.setVisible(broken)
        if has_trouble and self._trouble.text() != words_of(operator.player):
            self._trouble.setText(words_of(operator.player))
            self._trouble.setToolTip(words_of(operator.player))
            self._show_error_link()
        if state in (OperatorState.STARTING, OperatorState.IDLE) and operator.player.last_view is None:
            starting = state is OperatorState.STARTING
            idle = "Not started", "Press Step all or Run to start it."
            self.stage.clear(*(starting_words(operator.player.compiling) if starting else idle))
            self._show_facts(None)
            self._show_returns()
        if broken and operator.player.last_view is None:
            self.stage.set_hint("Nothing to show", "The session stopped before its first frame.")
        if bool(self.property("broken")) != broken:
            self.setProperty("broken", broken)
            self._describe()
            self.update()

    def _on_viewed(self, view: LiveView) -> None:
        self.stage.show_view(view)
        self._show_facts(view)
        if view.step == 0:
            self._show_returns()
            if self.operator.player.tally.calls is None:
                self._begin_strip()  # The operator has restarted: there is no turn to show yet.

    def _begin_strip(self) -> None:
        """Clear the strip of calls if no policy has had a turn yet."""
        if self.calls is not None and self.operator.player.tally.calls is None:
            models = asks_models(self.operator.player.config)
            self.calls.clear("No model has been asked yet" if models else "The program has not decided yet")

    def _on_called(self, turn: Turn) -> None:
        """Show a turn of a model or a program in the strip; operators of other kinds have no strip."""
        calls = self.operator.player.tally.calls
        if calls is None:
            return
        self._strip().show_call(turn, calls.spending, several=len(calls.agents) > 1)

    def _strip(self) -> CallStrip:
        """Return the strip that shows calls of models and programs, and create it on first use.

        The strip then stays, so that the picture keeps its size.
        """
        if self.calls is None:
            self.calls = CallStrip(self)
            self.calls.opened.connect(self._on_transcript)
            self.body.addWidget(self.calls)
        if self.calls.isHidden():
            self.calls.show()
            self.strip_changed.emit()
        return self.calls

    @property
    def has_strip(self) -> bool:
        """Whether the card shows the strip of calls."""
        return self.calls is not None and not self.calls.isHidden()

    def reserve_strip_height(self, room: bool) -> None:
        """Reserve the height of a strip of calls below the picture, so that neighboring pictures have one
        size.

        Args:
          room: Whether to reserve it; a card that shows a strip needs no reserve.
        """
        height = HEIGHT + self.body.spacing() if room and not self.has_strip else 0
        if height != self._strip_spacer.sizeHint().height():
            self._strip_spacer.changeSize(0, height, QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
            self.body.invalidate()
        self._fit_figures()

    def _on_transcript(self) -> None:
        self.transcript_requested.emit(self.operator)

    def _on_framed(self, frame: Any) -> None:
        self.stage.show_frame(frame)

    def _on_episode_over(self, _row: object) -> None:
        self._show_returns()

    def _show_facts(self, view: LiveView | None) -> None:
        limit = self.operator.player.feed.limit
        if view is None:
            self._facts.set_facts(("Episode", "—"), ("Step", "—"), ("Return", "—"))
            return
        episode = f"{view.episode + 1}" if not limit else f"{view.episode + 1} / {limit}"
        facts = [
            ("Episode", episode),
            ("Step", f"{local(view.step):,}"),
            ("Return", number_words(sum(agent.total for agent in view.agents))),
        ]
        if len(view.agents) == 1:
            agent = view.agents[0]
            facts.append(("Action", agent.action or "—"))
            if agent.value is not None:
                facts.append(("Value", number_words(agent.value)))
        self._facts.set_facts(*facts)
        self._fit_returns()
        if self.dock_slot.own_window is not None:
            self.dock_slot.set_note(" · ".join(f"{name} {value}" for name, value in facts))

    def _show_returns(self) -> None:
        self._sparkline.set_values(self.operator.player.tally.last_returns(_RETURNS))
        self._sparkline.setVisible(len(self._sparkline.values) > 1 and self._has_figures)

    def _describe(self) -> None:
        player = self.operator.player
        trouble = f", {player.trouble}" if player.trouble else ""
        place = f" on {player.config.host}" if player.config.host else ""
        self.setAccessibleName(f"Operator {player.config.display_name}{place}{trouble}")

    def paintEvent(self, a0: QPaintEvent | None) -> None:
        """Draw the card, with a red edge if its operator is broken."""
        super().paintEvent(a0)
        if self.property("broken"):
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme.current().color("error"), 2))
            radius = theme.RADIUS_PANEL - 1
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), radius, radius)

    # -- actions of the user ---------------------------------------------------------

    def set_color(self, color: QColor) -> None:
        """Set the operator's color of the badge and the sparkline."""
        self._badge.set_color(color)
        self._sparkline.set_color(color)

    def set_enlarged(self, enlarged: bool) -> None:
        """Set the icon and tooltip of the enlarge button."""
        self._expand.set_icon("shrink" if enlarged else "expand")
        tip = "Show all operators (Esc)" if enlarged else "Enlarge (double click)"
        self._expand.setToolTip(tip)
        name = self.operator.player.config.display_name
        self._expand.setAccessibleName("Show all operators" if enlarged else f"Enlarge {name}")

    def set_pinned(self, pinned: bool, *, alone: bool) -> None:
        """Update the pin button.

        Args:
            pinned: Whether this card is shown large.
            alone: Whether there is no other card.
        """
        self._pinned, self._alone = pinned, alone
        self._pin.set_icon("pinned" if pinned else "pin")
        tip = (
            "Unpin: same size as the others (Shift+F11)"
            if pinned
            else "Pin large beside the others (Shift+F11)"
        )
        self._pin.setToolTip(tip)
        name = self.operator.player.config.display_name
        self._pin.setAccessibleName(f"Unpin {name}" if pinned else f"Pin {name} large")
        self._fit_head()

    def keyPressEvent(self, a0: QKeyEvent | None) -> None:
        """Select the card on Enter; pass Space on to the page, where it is a shortcut."""
        if a0 is not None and a0.key() == Qt.Key.Key_Space:
            a0.ignore()
            return
        super().keyPressEvent(a0)

    def _on_enlarge(self) -> None:
        self.enlarge_requested.emit(self)

    def _on_pin(self) -> None:
        self.pin_requested.emit(self)

    def _on_restart(self) -> None:
        self.restart_requested.emit(self.operator.player.config.operator_id)

    def _on_agent_chosen(self, agent: str) -> None:
        self.agent_chosen.emit(self.operator, agent)

    def _on_move_chosen(self, action: object) -> None:
        self.move_chosen.emit(self.operator.player.config.operator_id, action)
