"""Manual mode of the Operators page: the cards, the selected card and messages about operators."""

from __future__ import annotations

from functools import partial

from PyQt6.QtCore import QPoint, Qt, pyqtSignal
from PyQt6.QtGui import QColor
from PyQt6.QtWidgets import QMenu, QSplitter, QStackedLayout, QWidget

from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.core.config import OperatorConfig
from gym_gui.core.drawing.colors import kind_colors
from gym_gui.core.live import HumanQuestion
from gym_gui.ui import theme
from gym_gui.ui.commands import entry
from gym_gui.ui.context import AppContext
from gym_gui.ui.editor.line_links import link_of
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.live.operator_deck import OperatorDeck
from gym_gui.ui.live.state_words import words_of
from gym_gui.ui.numbers import count, local
from gym_gui.ui.operators.human_seats import OperatorHumans
from gym_gui.ui.operators.plots_panel import OperatorPlots
from gym_gui.ui.operators.render_container import OperatorRenderContainer, leading_kind
from gym_gui.ui.operators.render_tabs import RenderTabs
from gym_gui.ui.operators.transcript_area import TranscriptArea
from gym_gui.ui.operators.transcript_dock import MIND
from gym_gui.ui.widgets import EmptyHint, InlineMessage, focus_if_visible
from gym_gui.ui.widgets.layouts import column_layout
from gym_gui.ui.widgets.message_panels import Action, replace_message

_PLOTS, _SPLIT, _PINNED = "operators/plots", "operators/split", "operators/pinned"
_MENU = (
    "operators.pin",
    "operators.enlarge",
    "operators.apart",
    "operators.transcript",
    "operators.duplicate",
    "operators.remove",
)
"""Ids of the commands in the context menu of a card."""


class ManualOperators(QWidget):
    """Creates a card for each operator and handles the user's actions on the cards.

    Args:
        context: The window's services.
        deck: Deck that holds the operators.
        catalog: Provides environments, workers and policies.
        parent: Qt owner.

    Attributes:
        transcript: Prompts and replies of the selected operator, below the cards or in their own window.
    """

    selected = pyqtSignal(object)
    """Emits the selected :class:`LiveOperator`, or ``None``."""
    plots_changed = pyqtSignal(bool)
    """Emits whether the plots are switched on."""

    def __init__(
        self,
        context: AppContext,
        deck: OperatorDeck,
        catalog: CatalogCache,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("manual-operators")
        self._context, self._deck, self._catalog = context, deck, catalog
        self._cards: dict[LiveOperator, OperatorRenderContainer] = {}
        self._humans: dict[LiveOperator, OperatorHumans] = {}
        self._selected: LiveOperator | None = None
        self._message: InlineMessage | None = None
        self._grid = RenderTabs(self)
        self.empty = EmptyHint(
            "No operator yet",
            "An operator is an environment with a policy in each slot. Up to eight run on the same seeds.",
            icon_name="operators",
        )
        self.empty.setObjectName("operators-empty")
        cards = QWidget(self)
        self._pages = QStackedLayout(cards)
        self._pages.addWidget(self.empty)
        self._pages.addWidget(self._grid)
        self.plots = OperatorPlots(context.theme, deck, self)
        self.plots_wanted = bool(context.layout.value(_PLOTS, False, type=bool))
        self._splitter = QSplitter(Qt.Orientation.Vertical, self)
        self._splitter.setObjectName("operators-splitter")
        self._splitter.setHandleWidth(theme.GAP)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(cards)
        self._splitter.addWidget(self.plots)
        self._splitter.setStretchFactor(0, 1)
        self._splitter.setStretchFactor(1, 0)
        sizes = context.layout.value(_SPLIT)
        if sizes is not None:
            self._splitter.restoreState(sizes)
        self.plots.hide()
        self.transcript = TranscriptArea(context, self._splitter)
        self._column = column_layout(self, margin=theme.PAGE, spacing=theme.GAP)
        self._column.addWidget(self._splitter, 1)
        self._uneven: InlineMessage | None = None
        self._uneven_seen: tuple[int, ...] = ()
        deck.changed.connect(self._show_counts)
        deck.added.connect(self._on_added)
        deck.removed.connect(self._on_removed)
        deck.forgotten.connect(self.forget)
        deck.undo_stack.indexChanged.connect(self._on_history_moved)
        self._grid.enlarged_changed.connect(self._on_enlarged_changed)
        self.plots.close_requested.connect(self._on_plots_closed)
        self._splitter.splitterMoved.connect(self._on_split)

    # -- plots -----------------------------------------------------------------------

    def set_plots_wanted(self, wanted: bool) -> None:
        """Switch the plots on or off, and remember the choice; they are visible only if there are
        operators."""
        if wanted != self.plots_wanted:
            self.plots_wanted = wanted
            self._context.layout.setValue(_PLOTS, wanted)
            self.plots_changed.emit(wanted)
        self._show_plots()

    def _show_plots(self) -> None:
        self.plots.setVisible(self.plots_wanted and bool(self._deck.operators))

    def _on_plots_closed(self) -> None:
        self.set_plots_wanted(False)

    def _on_split(self, _position: int, _index: int) -> None:
        self._context.layout.setValue(_SPLIT, self._splitter.saveState())

    def _show_colors(self, *_: object) -> None:
        """Set a different color for each operator, on its card and in the plots."""
        operators = self._deck.operators
        kinds = [leading_kind(operator.player.config) for operator in operators]
        for operator, color in zip(operators, kind_colors(kinds), strict=True):
            if operator in self._cards:
                self._cards[operator].set_color(QColor(color))

    # -- counts ----------------------------------------------------------------------

    def _show_counts(self) -> None:
        """Show a message if operators have finished different numbers of episodes, and offer to play the
        rest.
        """
        deck = self._deck
        catch_up = deck.play.catch_up
        counts = tuple(operator.player.feed.played for operator in deck.operators)
        if catch_up.target:
            done = catch_up.missing - catch_up.left
            self._say_counts(
                f"Catching up: {local(done):,} of {count(catch_up.missing, 'missing episode')} played.",
                ("Cancel", catch_up.end),
                progress=True,
            )
        elif deck.play.running or len(set(counts)) < 2 or counts == self._uneven_seen:
            self._say_counts("", None)
        else:
            each = zip(deck.operators, counts, strict=True)
            stand = ", ".join(f"{operator.player.config.display_name} {local(n):,}" for operator, n in each)
            missing = catch_up.lacking()
            self._say_counts(
                f"Finished episodes differ: {stand}. Means compare the "
                "same seeds only when these numbers are equal.",
                (
                    f"Play the missing {local(missing):,}" if missing > 1 else "Play the missing episode",
                    deck.play.even_out,
                ),
            )

    def _say_counts(self, sentence: str, action: Action | None, *, progress: bool = False) -> None:
        before = self._uneven
        asked = before.button.text() if before is not None and before.button is not None else ""
        if before is not None and action is not None and asked == action[0]:
            before.set_text(sentence)
            return
        if before is not None:
            before.hide()
            before.deleteLater()
            self._uneven = None
        if action is None:
            return
        self._uneven = InlineMessage("info", sentence, action, closable=not progress, name="operators-uneven")
        self._uneven.dismissed.connect(self._on_counts_dismissed)
        self._column.insertWidget(self._column.count() - 1, self._uneven)

    def _on_counts_dismissed(self) -> None:
        """Remember the episode counts for which the user closed the message, so that it is not shown
        again."""
        self._uneven_seen = tuple(operator.player.feed.played for operator in self._deck.operators)
        self._show_counts()

    # -- transcript ------------------------------------------------------------------

    def show_mind(self, agent: str = "") -> None:
        """Show what an agent of the selected operator observes and thinks.

        Args:
          agent: Name of the agent; empty for the agent that was shown last.
        """
        self.transcript.show_what(MIND, agent)

    def _on_agent_chosen(self, operator: LiveOperator, agent: str) -> None:
        self.select(operator)
        self.show_mind(agent)

    def _on_error_line_requested(self, operator: LiveOperator) -> None:
        player = operator.player
        again = ("Restart", partial(self._deck.restart, player.config.operator_id))
        link = link_of(self._context, words_of(player), player.config, again=again)
        if link is not None:
            link[1]()

    def _on_transcript_requested(self, operator: LiveOperator) -> None:
        self.select(operator)
        self.transcript.show_last_turn()

    # -- the selected operator -------------------------------------------------------

    @property
    def current(self) -> LiveOperator | None:
        """The selected operator, or ``None``."""
        return self._selected

    def card(self, operator: LiveOperator) -> OperatorRenderContainer:
        """Return the card of an operator."""
        return self._cards[operator]

    def humans(self, operator: LiveOperator) -> OperatorHumans:
        """Return the input of the people who play an operator's slots."""
        return self._humans[operator]

    def select(self, operator: LiveOperator | None) -> None:
        """Select an operator and outline its card; ``None`` selects none."""
        if operator is not None and operator not in self._cards:
            operator = None
        self._selected = operator
        for each, card in self._cards.items():
            card.set_selected(each is operator)
        self.transcript.follow(operator)
        self.selected.emit(operator)

    def select_next(self, step: int) -> None:
        """Select the operator that follows the selected one by ``step`` positions, cyclically."""
        operators = self._deck.operators
        if operators:
            at = operators.index(self._selected) if self._selected in operators else -step
            operator = operators[(at + step) % len(operators)]
            self.select(operator)
            self._cards[operator].setFocus()

    def toggle_enlarged(self) -> None:
        """Enlarge the selected card, or show all cards again."""
        if self._grid.enlarged is not None:
            self._grid.enlarge(None)
        elif self._selected is not None:
            self._grid.enlarge(self._cards[self._selected])

    def toggle_pinned(self, card: QWidget | None = None) -> None:
        """Show a card large beside the others, or all cards at one size, and remember the choice.

        Args:
          card: The card; ``None`` for the selected one.
        """
        if card is None and self._selected is not None:
            card = self._cards[self._selected]
        if not isinstance(card, OperatorRenderContainer):
            return
        pinned = None if self._grid.pinned is card else card
        kept = pinned.operator.player.config.operator_id if pinned is not None else ""
        self._context.layout.setValue(_PINNED, kept)
        self._show_pinned()

    def _show_pinned(self) -> None:
        """Show the pinned operator's card large, also after the table changed or the program restarted."""
        kept = str(self._context.layout.value(_PINNED, "") or "")
        operator = self._deck.operators.find(kept) if kept else None
        pinned = self._cards.get(operator) if operator is not None else None
        if pinned is not self._grid.pinned:
            self._grid.pin(pinned)
        for card in self._grid.cards:
            if isinstance(card, OperatorRenderContainer):
                card.set_pinned(card is pinned, alone=len(self._grid.cards) < 2)

    def _on_menu_requested(self, place: QPoint) -> None:
        card = self.sender()
        if not isinstance(card, OperatorRenderContainer):
            return
        self.select(card.operator)
        menu = QMenu(card)
        menu.setObjectName("operator-menu")
        menu.aboutToHide.connect(menu.deleteLater)
        menu.addActions([entry(self._context.commands, command, menu) for command in _MENU])
        menu.popup(card.mapToGlobal(place))

    # -- cards -----------------------------------------------------------------------

    def _on_added(self, operator: LiveOperator, place: int) -> None:
        card = self._cards.get(operator)
        if card is None:
            card = OperatorRenderContainer(self._context.theme, operator, self._grid)
            card.clicked.connect(self._on_card_clicked)
            card.restart_requested.connect(self._deck.restart)
            card.enlarge_requested.connect(self._grid.toggle)
            card.pin_requested.connect(self.toggle_pinned)
            card.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
            card.customContextMenuRequested.connect(self._on_menu_requested)
            card.transcript_requested.connect(self._on_transcript_requested)
            card.agent_chosen.connect(self._on_agent_chosen)
            card.place_requested.connect(self._on_error_line_requested)
            card.strip_changed.connect(self._align_pictures)
            self._cards[operator] = card
            humans = OperatorHumans(self._context, operator, self._catalog, card)
            self._humans[operator] = humans
            card.dock_slot.shifted.connect(humans.input.extend)
            card.dock_slot.entered.connect(partial(self.select, operator))
            operator.asked.connect(self._on_asked)
            operator.config_changed.connect(partial(self._on_config_changed, card))
        self._grid.insert(place, card)
        self._show_pinned()
        self._show_colors()
        self._align_pictures()
        self._pages.setCurrentWidget(self._grid)
        self._show_plots()
        self.select(operator)
        self._context.detached_windows.manage(card.dock_slot, _window_key(operator.player.config))

    def _on_config_changed(self, card: OperatorRenderContainer, config: OperatorConfig) -> None:
        """Update the card's window, pin and color to a new configuration, whose id may have changed."""
        key = _window_key(config)
        if card.dock_slot.key and card.dock_slot.key != key:
            card.dock_slot.show_button(key)
        if card is self._grid.pinned:
            self._context.layout.setValue(_PINNED, config.operator_id)
        self._show_colors()

    def _on_removed(self, operator: LiveOperator) -> None:
        card = self._cards[operator]
        place = list(self._cards).index(operator)
        self._context.detached_windows.close_empty(card.dock_slot, forget=True)
        self._grid.remove_card(card)
        self._show_pinned()
        self._show_colors()
        self._align_pictures()
        if not self._deck.operators:
            self._pages.setCurrentWidget(self.empty)
            self._show_plots()
            self.select(None)
        elif self._selected is operator:
            self.select(self._deck.operators[min(place, len(self._deck.operators) - 1)])

    def _align_pictures(self) -> None:
        """Reserve space below every picture if some card shows model calls, so that all pictures have one
        size.
        """
        cards = [self._cards[operator] for operator in self._deck.operators if operator in self._cards]
        room = any(card.has_strip for card in cards)
        for card in cards:
            card.reserve_strip_height(room)

    def forget(self, operator: LiveOperator) -> None:
        """Delete the card of an operator that undo can no longer restore."""
        card = self._cards.pop(operator, None)
        humans = self._humans.pop(operator, None)
        if humans is not None:
            humans.release()
        if card is not None:
            card.deleteLater()

    def remove(self, operator_id: str) -> None:
        """Remove an operator and offer to undo the removal."""
        operator = self._deck.operators.find(operator_id)
        if operator is not None:
            name = operator.player.config.display_name
            self._deck.remove(operator_id)
            self.show_undoable(f"{name} was removed.")

    def show_undoable(self, what: str) -> None:
        """Show a message about the last action, with a button that undoes it.

        Args:
          what: Sentence that names the action.
        """
        self.show_message(InlineMessage("info", what, ("Undo", self._deck.undo_stack.undo), closable=True))

    def _on_history_moved(self, _index: int) -> None:
        """Remove the message, because its Undo button would now undo another action."""
        self.show_message(None)

    def show_message(self, message: InlineMessage | None) -> None:
        """Show a message above the cards in place of the last one; ``None`` removes it."""
        self._message = replace_message(self._column, self._message, message)

    @property
    def message(self) -> InlineMessage | None:
        """Message above the cards."""
        return self._message

    def _on_card_clicked(self) -> None:
        card = self.sender()
        if isinstance(card, OperatorRenderContainer):
            self.select(card.operator)
            card.setFocus()

    def _on_enlarged_changed(self, enlarged: QWidget | None) -> None:
        for card in self._cards.values():
            card.set_enlarged(card is enlarged)

    def _on_asked(self, _question: HumanQuestion) -> None:
        """Move the keyboard focus to the card of the operator that asks a person for an action.

        A visible widget that has the focus keeps it.
        """
        operator = self.sender()
        if not isinstance(operator, LiveOperator) or operator not in self._cards:
            return
        window = self.window()
        focus = window.focusWidget() if window is not None else None
        if focus is None or focus is window or not focus.isVisible():
            focus_if_visible(self._cards[operator])

    def release(self) -> None:
        """Release the transcript and disconnect the people's input, because the page closes."""
        self.transcript.release()
        for humans in self._humans.values():
            humans.release()


def _window_key(config: OperatorConfig) -> str:
    """Return the key under which the window of an operator's picture is remembered."""
    return f"operators/{config.operator_id}"
