"""Operators page: several operators side by side, or an experiment from a file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PyQt6.QtWidgets import QStackedLayout

from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.controllers.setup.check_message import listed
from gym_gui.controllers.setup.play_setup import asks_models
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.services.operator_table import NAME, OperatorTable
from gym_gui.services.runs.run_library import RunEntry
from gym_gui.ui.commands import Command
from gym_gui.ui.context import AppContext
from gym_gui.ui.detached import DockSlot
from gym_gui.ui.language.settings_services import PromptsRequest
from gym_gui.ui.live.live_operator import LiveOperator
from gym_gui.ui.live.operator_deck import OperatorDeck
from gym_gui.ui.operators.comparison_file import Comparison
from gym_gui.ui.operators.config_widget import OperatorConfigWidget
from gym_gui.ui.operators.control_panel import ControlPanelContainer
from gym_gui.ui.operators.examples import random_operator, trained_against_random
from gym_gui.ui.operators.manual import ManualOperators
from gym_gui.ui.operators.script import ScriptExperimentWidget
from gym_gui.ui.operators.script_file import OPENED
from gym_gui.ui.operators.transcript_area import KEYS as TRANSCRIPT_KEYS
from gym_gui.ui.page import Page
from gym_gui.ui.page_state import SavedPageState
from gym_gui.ui.policies.tournament_draft import TournamentRequest
from gym_gui.ui.widgets import SegmentedControl

DEFAULT_SEED = 42


class OperatorsTab(Page):
    """Operators page: manual mode plays up to eight operators, script mode runs an experiment file."""

    name = "operators"
    title = "Operators"
    icon = "operators"

    def __init__(self, context: AppContext) -> None:
        super().__init__(context)
        self.deck = OperatorDeck(context, seed=DEFAULT_SEED, parent=self)
        self.kept = SavedPageState[OperatorTable](
            context,
            NAME,
            "The operators",
            load=OperatorTable.load,
            save=OperatorTable.save,
            now=lambda: self.deck.table,
            parent=self,
        )
        self.deck.changed.connect(self.kept.save_soon)
        self._catalog = CatalogCache(context.store)
        context.installed.connect(self._catalog.renew)
        self._mode = SegmentedControl([("manual", "Manual"), ("script", "Script")], name="operators-mode")
        self._mode.setToolTip("Play operators interactively, or run an experiment file")
        self.bar.add(self._mode)
        self.comparison = Comparison(context, self.deck, self)
        self.comparison.opened.connect(self.play)
        self.bar.add(self.comparison.button)
        self.controls = ControlPanelContainer(self.deck, self.bar, self)
        self.manual = ManualOperators(context, self.deck, self._catalog, self.body)
        self.script = ScriptExperimentWidget(context, self._catalog, self.bar, self.body)
        self._modes = QStackedLayout(self.body)
        self._modes.setContentsMargins(0, 0, 0, 0)
        self._modes.addWidget(self.manual)
        self._modes.addWidget(self.script)
        self.config = OperatorConfigWidget(context, self._catalog, self)
        inspector = self.use_inspector()
        inspector.add(self.config)
        self._connect()
        self._offer_beginnings()
        self._opened_before = str(context.layout.value(OPENED, "") or "")
        self._set_mode("manual")

    def _connect(self) -> None:
        self.script.empty.tournament_wanted.connect(self.set_up_tournament)
        self._mode.chosen.connect(self._set_mode)
        self.controls.add_requested.connect(self.add_operator)
        self.controls.step_player_requested.connect(self._on_step_player)
        self.controls.plots_toggled.connect(self.manual.set_plots_wanted)
        self.manual.plots_changed.connect(self.controls.plots.setChecked)
        self.controls.plots.setChecked(self.manual.plots_wanted)
        self.controls.problem.connect(self._on_problem)
        self.manual.selected.connect(self._on_selected)
        self.deck.changed.connect(self._on_deck_changed)
        self.deck.run_changed.connect(self._on_run_changed)
        self.config.changed.connect(self._on_config)
        self.config.duplicate_requested.connect(self._on_duplicate)
        self.config.remove_requested.connect(self.manual.remove)
        self.config.details_requested.connect(self._on_details)
        self.config.installed.connect(self._on_installed)
        self.config.services.on_prompts = self._on_prompts

    def _offer_beginnings(self) -> None:
        hint = self.manual.empty
        hint.add_action("Add operator", self.add_operator, primary=True)
        if trained_against_random():
            hint.add_action("PPO against random", self._on_example)
        hint.add_action("Open an experiment…", self._on_open_script)

    # -- methods that the window calls -------------------------------------------------

    def opened(self, **request: object) -> None:
        """Show what the caller of :meth:`AppContext.go` requests.

        Args:
            request: ``operators`` (configurations), ``seed``, ``run``; ``script`` (a path); ``new`` for
                no operators; ``tournament`` (a :class:`TournamentRequest`, or another value to use
                the operators of the page); ``resume`` (a :class:`RunEntry` to resume).
        """
        self.kept.restore(self._bring_back)
        self.comparison.begin()
        self._on_run_changed()
        before, self._opened_before = self._opened_before, ""
        tournament = request.get("tournament")
        if tournament is not None:  # By default, with the operators of this page.
            self.set_up_tournament(tournament if isinstance(tournament, TournamentRequest) else None)
            return
        script, resumed = request.get("script"), request.get("resume")
        if not request and before and Path(before).exists():
            self._set_mode("script")  # Script mode was shown when the window was closed or killed.
            self.script.file.reopen_last(Path(before))
            return
        if isinstance(resumed, RunEntry):
            self._set_mode("script")
            self.script.file.resume(resumed)
            return
        if isinstance(script, (str, Path)):
            self._set_mode("script")
            self.script.file.open(Path(script))
            return
        operators = request.get("operators")
        if request.get("new"):
            self.play([])
            self.comparison.forget()
        elif isinstance(operators, Sequence):
            seed = request.get("seed")
            configs = [config for config in operators if isinstance(config, OperatorConfig)]
            run = bool(request.get("run"))
            if run or not self._take_back(configs):
                self.play(configs, seed if isinstance(seed, int) else None, run=run)
                self.comparison.forget()
        elif self.manual_mode and not self.deck.operators.active:
            self._apply_look()
            self.deck.show_beginnings()

    def _bring_back(self, table: OperatorTable) -> None:
        """Restore the operators of the last session, and the transcript if it was in a detached window."""
        self.deck.restore(table)
        self.manual.transcript.restore_window()

    def set_up_tournament(self, request: TournamentRequest | None = None) -> None:
        """Open a dialog that sets up a tournament.

        Args:
            request: Initial values of the dialog; ``None`` uses the policies of this page.
        """
        from gym_gui.ui.operators.tournament_dialog import TournamentDialog  # Few users need it.

        if request is None:
            request = TournamentRequest.of(self.deck.table.operators if self.manual_mode else ())
        dialog = TournamentDialog(self.context, self._catalog, request, self)
        dialog.written.connect(self._on_tournament_written)
        dialog.open()

    def _on_tournament_written(self, path: Path) -> None:
        self._set_mode("script")
        self.script.file.open(path)

    def _take_back(self, configs: Sequence[OperatorConfig]) -> bool:
        """Apply a configuration that was edited on the Agents page to its operator on this page.

        Returns whether the operator is still on this page.
        """
        operator = self.deck.operators.find(configs[0].operator_id) if len(configs) == 1 else None
        if operator is None:
            return False
        self._set_mode("manual")
        self._try(self.deck.change, configs[0])
        self.manual.select(operator)
        return True

    def play(self, configs: Sequence[OperatorConfig], seed: int | None = None, *, run: bool = False) -> None:
        """Replace the operators of the page by the given configurations, and offer an undo."""
        self._set_mode("manual")
        self._apply_look()
        before = self.deck.table
        self._try(self.deck.replace, configs, seed, run=run)
        if self.deck.operators:
            self.manual.select(self.deck.operators[0])
        if before.operators and before.operators != self.deck.table.operators:
            names = listed([operator.display_name for operator in before.operators])
            self.manual.show_undoable(f"{names} {'was' if len(before.operators) == 1 else 'were'} replaced.")

    def closing_costs(self) -> str:
        """Return a warning about paid language model calls that closing would lose; ``""`` if there are
        none.
        """
        if self.script.play.asks_models:
            return (
                "The experiment stops and can be resumed. Resume uses recorded replies again; the reply "
                "to a call "
                "in progress may be paid for and lost."
            )
        playing = [each.player for each in self.deck.operators if each.player.is_running()]
        if any(asks_models(player.config) for player in playing if not player.done):
            return (
                "The comparison is not finished. Episodes in progress are recorded as aborted; their paid "
                "calls "
                "are not used again."
            )
        return ""

    async def closed(self) -> None:
        """End all sessions and background work of the page."""
        self.manual.release()
        self.config.forget()
        await self.script.play.shut_down()
        await self.kept.close()
        await self.deck.close()
        await self._catalog.close()

    def commands(self) -> list[Command]:
        """Return the page's commands for menus and the command palette."""
        some, one, several = self._has_operators, self._has_selection, self._has_several
        history, manual, transcript = self.deck.undo_stack, self.manual, self.manual.transcript
        apart = "Detach or dock the transcript"
        mind = "Show or hide one agent's observation and reasoning"
        views = (
            ("enlarge", "Enlarge the operator", manual.toggle_enlarged, "F11", "", one),
            ("pin", "Pin or unpin the operator", manual.toggle_pinned, "Shift+F11", "pin", several),
            ("plots", "Show or hide plots", self._on_plots, "Ctrl+G", "train", some),
            ("transcript", "Show or hide the transcript", transcript.toggle, "Ctrl+T", "transcript", one),
            ("transcript_apart", apart, transcript.toggle_window, TRANSCRIPT_KEYS, "apart", one),
            ("mind", mind, transcript.toggle_agent, "Ctrl+I", "agents", one),
            ("next", "Next operator", self._on_next, "Ctrl+Tab", "", some),
        )
        seen = [
            Command(f"operators.{name}", title, run, keys, "View", icon, can)
            for name, title, run, keys, icon, can in views
        ]
        return [
            Command("operators.add", "Add operator", self.add_operator, "Ctrl+Shift+N", "File", "add"),
            Command("operators.open", "Open an experiment…", self._on_open_script, "Ctrl+O", "File", "open"),
            *self.comparison.commands(),
            Command("operators.run", "Run or pause", self._on_toggle, "Ctrl+R", "Run", "run", self._can_run),
            Command("operators.step", "Step all", self._on_step_all, "Space", "Run", "step", some),
            Command(
                "operators.step_player", "Step player", self._on_step_player, "Shift+Space", "Run", "", one
            ),
            *self.controls.commands(),
            Command(
                "operators.where",
                "Choose where the experiment runs…",
                self.script.where.showMenu,
                enabled=self.script.where.isVisible,
            ),
            Command("operators.reset", "Reset all", self.deck.reset_all, "Ctrl+Shift+R", "Run", "", some),
            Command("operators.stop", "Stop all", self._on_stop, "Ctrl+.", "Run", "stop", self._can_run),
            *seen[:2],
            self.context.detached_windows.command(self.name, self._dock_slot),
            *seen[2:],
            Command(
                "operators.duplicate", "Duplicate operator", self._on_duplicate_it, "Ctrl+D", "File", "", one
            ),
            Command("operators.remove", "Remove operator", self._on_remove_it, "Ctrl+Del", "File", "", one),
            Command("operators.undo", "Undo", history.undo, "Ctrl+Z", "File", "undo", history.canUndo),
            Command("operators.redo", "Redo", history.redo, "Ctrl+Shift+Z", "File", "redo", history.canRedo),
        ]

    # -- modes -----------------------------------------------------------------------

    def _set_mode(self, mode: str) -> None:
        self._mode.set_value(mode)
        manual = mode == "manual"
        if manual:
            self.context.layout.setValue(OPENED, "")
        self._modes.setCurrentWidget(self.manual if manual else self.script)
        self.controls.set_manual(manual)
        self.comparison.button.setVisible(manual)
        self.script.set_shown(not manual)
        self._show_inspector()

    @property
    def manual_mode(self) -> bool:
        """Whether manual mode is shown."""
        return self._modes.currentWidget() is self.manual

    def _show_inspector(self) -> None:
        if self.inspector is not None:
            self.inspector.setVisible(self.manual_mode and self.manual.current is not None)

    # -- operators -------------------------------------------------------------------

    def add_operator(self) -> None:
        """Add an operator with random actions in the selected operator's environment.

        If the selected operator has several slots, add a copy of that operator instead.
        """
        self._set_mode("manual")
        current = self.manual.current
        if current is None or len(current.player.config.resolved_slots()) > 1:
            config = current.player.config if current is not None else random_operator()
        else:
            config = random_operator(current.player.config.task)
        self._try(self._add, config)

    def _add(self, config: OperatorConfig, *, start: bool = True) -> None:
        again = start and self.deck.operators.touched
        self._apply_look()
        self.deck.add(config, start=start)
        if again:
            self.context.notify(f"All operators restart at seed {self.deck.seed} to stay comparable.")

    def _apply_look(self) -> None:
        self.deck.look = ("rgb_array", float(self.context.settings.values.frame_rate))

    def _try(self, action: object, *args: object, **options: object) -> None:
        """Call a function, and show its error as a notification if it raises ``UsageError``."""
        try:
            action(*args, **options)  # type: ignore[operator]
        except UsageError as error:
            self._on_problem(error.sentence)

    def _on_problem(self, sentence: str) -> None:
        self.context.notify(sentence, "warning")

    def _on_config(self, config: OperatorConfig) -> None:
        if (
            self.deck.operators.find(config.operator_id) is not None
        ):  # The operator may have been removed since.
            self._try(self.deck.change, config)

    def _on_duplicate(self, operator_id: str) -> None:
        self._try(self.deck.duplicate, operator_id)

    def _on_installed(self, operator: LiveOperator) -> None:
        """Restart an operator that failed for lack of a package, after the package was installed."""
        if operator in self.deck.operators and operator.player.state is OperatorState.BROKEN:
            self._try(self.deck.restart, operator.player.config.operator_id)

    def _on_details(self, config: OperatorConfig) -> None:
        """Open an operator on the Agents page; a policy chosen there also reaches the running session."""
        operator = self.deck.operators.find(config.operator_id)
        live = operator if operator is not None and operator.player.is_running() else None
        self.context.go("agents", operator=config, live=live)

    def _on_prompts(self, request: PromptsRequest) -> None:
        """Open the prompt editor with the current observation of the selected operator's agent."""
        from gym_gui.ui.language.prompt_editor import open_prompt_editor

        operator = self.manual.current
        look = partial(operator.player.present, request.agent) if operator is not None else None
        open_prompt_editor(self.context, request, look, self)

    def _on_selected(self, operator: LiveOperator | None) -> None:
        if operator is None:
            self.config.forget()
        else:
            self._show_config(operator)
        self._show_turns()
        self._show_inspector()

    def _show_config(self, operator: LiveOperator) -> None:
        operators = self.deck.operators
        if operator in operators:
            self.config.show_operator(operator, operators.index(operator) + 1, len(operators))
            self.config.human.show_humans(self.manual.humans(operator))

    def _show_turns(self) -> None:
        current = self.manual.current
        view = current.player.last_view if current is not None else None
        # In turn-based play, only some of the agents decide at a time.
        turns = view is not None and len(view.agents) > 1 and 0 < len(view.turn) < len(view.agents)
        self.controls.set_turn_based(turns)

    def _on_deck_changed(self) -> None:
        if self.manual.current is not None:
            self._show_config(self.manual.current)
            self._show_turns()

    def _on_run_changed(self) -> None:
        run = self.deck.recording
        if run is None or not run.run_id:
            self.context.set_run("")
        elif run.problem:
            self.context.set_run(run.run_id, "recording stopped")
            self.context.notify(
                f"{run.problem}. The operators are paused. Press Run to restart in a new run", "error"
            )
        else:
            self.context.set_run(run.run_id)

    # -- commands --------------------------------------------------------------------

    def _dock_slot(self) -> DockSlot | None:
        """Return the dock slot of the selected operator's picture; in script mode, of the watched
        operator.
        """
        if not self.manual_mode:
            return self.script.card.pane.dock_slot if self.script.card.pane is not None else None
        return self.manual.card(self.manual.current).dock_slot if self.manual.current is not None else None

    def _has_operators(self) -> bool:
        return self.manual_mode and bool(self.deck.operators)

    def _has_selection(self) -> bool:
        return self.manual_mode and self.manual.current is not None

    def _has_several(self) -> bool:
        return self._has_selection() and len(self.deck.operators) > 1

    def _can_run(self) -> bool:
        return self._has_operators() if self.manual_mode else self.script.file.plan is not None

    def _on_toggle(self) -> None:
        self.controls.toggle() if self.manual_mode else self.script.play.toggle()

    def _on_stop(self) -> None:
        self.deck.stop_all() if self.manual_mode else self.script.play.stop()

    def _on_step_all(self) -> None:
        if not self.deck.play.running:
            self.deck.play.step_all()

    def _on_step_player(self) -> None:
        if self.manual.current is not None:
            self._try(self.deck.play.step_player, self.manual.current.player.config.operator_id)

    def _on_plots(self) -> None:
        self.manual.set_plots_wanted(not self.manual.plots_wanted)

    def _on_next(self) -> None:
        self.manual.select_next(1)

    def _on_duplicate_it(self) -> None:
        if self.manual.current is not None:
            self._on_duplicate(self.manual.current.player.config.operator_id)

    def _on_remove_it(self) -> None:
        if self.manual.current is not None:
            self.manual.remove(self.manual.current.player.config.operator_id)

    def _on_example(self) -> None:
        self.play(trained_against_random(), DEFAULT_SEED, run=True)

    def _on_open_script(self) -> None:
        self._set_mode("script")
        self.script.choose_file()


OperatorsPage = OperatorsTab
"""Alias of the page class that the list of pages names."""
