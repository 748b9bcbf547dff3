"""The controls for operators in the Operators page's bar: seed, steps, run and speed."""

from __future__ import annotations

from PyQt6.QtCore import QObject, pyqtSignal
from PyQt6.QtGui import QAction, QActionGroup
from PyQt6.QtWidgets import QMenu, QWidget

from gym_gui.core.errors import UsageError
from gym_gui.ui.commands import Command, commands_of
from gym_gui.ui.live.operator_deck import OperatorDeck
from gym_gui.ui.numbers import local
from gym_gui.ui.widgets import IconButton, PageBar, PrimaryButton, QuietButton, SeedBox

RATES: tuple[float | None, ...] = (1, 2, 5, 10, 15, 30, 60, None)


def rate_words(rate: float | None) -> str:
    """Return a speed as text, such as ``15 /s``, or ``Fastest`` for ``None`` (no limit)."""
    return "Fastest" if rate is None else f"{local(rate):g} /s"


class ControlPanelContainer(QObject):
    """Puts the controls for operators into the page's bar and keeps their state up to date.

    Args:
        deck: Deck whose operators the controls act on.
        bar: Bar that holds the controls.
        parent: Qt owner.
    """

    add_requested = pyqtSignal()
    step_player_requested = pyqtSignal()
    plots_toggled = pyqtSignal(bool)
    problem = pyqtSignal(str)

    def __init__(self, deck: OperatorDeck, bar: PageBar, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("control-panel")
        self._deck = deck
        self._turn_based = False
        self.seed = SeedBox(deck.seed, parent=bar)
        self.seed.seed_changed.connect(self._on_seed)
        self.add = IconButton(
            "add", "Add an operator (Ctrl+Shift+N)", name="operators-add", on_click=self.add_requested.emit
        )
        self.plots = QuietButton(
            "Plots",
            icon_name="train",
            name="operators-plots",
            tooltip="Returns, rewards and actions of each operator (Ctrl+G)",
        )
        self.plots.setCheckable(True)
        self.plots.clicked.connect(self.plots_toggled)
        self._reset = QuietButton(
            "Reset all",
            spare_icon="restart",
            name="operators-reset",
            tooltip="Restart all operators from the seed, in a new run",
            on_click=deck.reset_all,
        )
        self.step_player = QuietButton(
            "Step player",
            spare_icon="person",
            name="operators-step-player",
            tooltip="One agent's move in the selected operator; other operators wait (Shift+Space)",
            on_click=self.step_player_requested.emit,
        )
        self.step = QuietButton(
            "Step all",
            spare_icon="step",
            name="operators-step",
            key="Space",
            tooltip="One step of every operator",
            on_click=deck.play.step_all,
        )
        self.run = PrimaryButton(
            "Run",
            icon_name="run",
            name="operators-run",
            tooltip="Run all operators (Ctrl+R)",
            on_click=self.toggle,
        )
        self.stop = QuietButton(
            "Stop all",
            icon_name="stop",
            name="operators-stop",
            tooltip="End all sessions and the run; recorded episodes are kept",
            on_click=deck.stop_all,
        )
        self._menu = QMenu(parent)
        self._menu.setObjectName("operators-speed-menu")
        self._speed = QuietButton("15 /s", menu=self._menu, name="operators-speed", parent=bar)
        self._speed.setToolTip("Steps per second, and whether all operators step together")
        self._rates = self._fill_menu()
        bar.add(self.seed)
        bar.add(self.add)
        self.actions = (
            self.plots,
            self._reset,
            self.step_player,
            self.step,
            self.run,
            self.stop,
            self._speed,
        )
        for button in self.actions:
            bar.add_action(button)
        deck.changed.connect(self.refresh)
        self.refresh()

    def _fill_menu(self) -> dict[QAction, float | None]:
        group = QActionGroup(self)
        rates: dict[QAction, float | None] = {}
        for rate in RATES:
            words = "As fast as possible" if rate is None else f"{local(rate):g} steps/s"
            action = QAction(words, self)
            action.setObjectName(f"operators-rate-{'free' if rate is None else f'{rate:g}'}")
            action.setCheckable(True)
            action.setActionGroup(group)
            self._menu.addAction(action)
            rates[action] = rate
        group.triggered.connect(self._on_rate)
        self._menu.addSeparator()
        self.together = QAction("All step together", self)
        self.together.setObjectName("operators-lock-step")
        self.together.setCheckable(True)
        self.together.setToolTip("Each operator waits until all have finished the previous step")
        self.together.triggered.connect(self._on_together)
        self._menu.addAction(self.together)
        self._menu.setToolTipsVisible(True)
        return rates

    def commands(self) -> list[Command]:
        """Return the commands of the speed menu."""
        return commands_of(self._menu.actions(), "operators", "Speed: ")

    def set_manual(self, manual: bool) -> None:
        """Show the controls in manual mode, or hide them."""
        for widget in (self.seed, self.add, *self.actions):
            widget.setVisible(manual)
        if manual:
            self.step_player.setVisible(self._turn_based)

    def set_turn_based(self, turn_based: bool) -> None:
        """Show the button that steps one agent, or hide it.

        Args:
          turn_based: Whether the agents of the selected operator take turns.
        """
        self._turn_based = turn_based
        self.step_player.setVisible(turn_based and self.step.isVisibleTo(self.step.parentWidget()))

    def toggle(self) -> None:
        """Start all operators, or pause them if they run."""
        play = self._deck.play
        (play.pause if play.running else play.run)()

    def refresh(self) -> None:
        """Update which controls are enabled, the seed and the speed."""
        deck = self._deck
        some = bool(deck.operators)
        running = deck.play.running
        if (self.run.text() == "Pause") != running:
            self.run.set_text("Pause" if running else "Run", "pause" if running else "run")
            self.run.setToolTip(
                "Pause before the next step (Ctrl+R)" if running else "Run all operators (Ctrl+R)"
            )
        self.run.setEnabled(some)
        self.step.setEnabled(some and not running)
        self.step_player.setEnabled(some and not running)
        self._reset.setEnabled(some and (deck.operators.active or deck.operators.touched))
        self.stop.setEnabled(deck.operators.active)
        self.add.setEnabled(not deck.operators.full)
        self.add.setToolTip(
            "Eight operators at most: remove one to add another"
            if deck.operators.full
            else "Add an operator (Ctrl+Shift+N)"
        )
        if self.seed.seed != deck.seed:
            self.seed.set_seed(deck.seed)
        words = rate_words(deck.play.rate)
        if self._speed.text() != words:
            self._speed.set_text(words)
            self._speed.setAccessibleName(f"Speed: {words}")
        for action, rate in self._rates.items():
            action.setChecked(rate == deck.play.rate)
        self.together.setChecked(deck.play.lock_step)

    def _on_seed(self, seed: int) -> None:
        try:
            self._deck.set_seed(seed)
        except UsageError as error:
            self.seed.set_seed(self._deck.seed)
            self.problem.emit(error.sentence)

    def _on_rate(self, action: QAction) -> None:
        self._deck.play.set_pace(self._rates[action], lock_step=self._deck.play.lock_step)

    def _on_together(self, together: bool) -> None:
        self._deck.play.set_pace(self._deck.play.rate, lock_step=together)
