"""Play page: people at this window play any environment, alone or with policies."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PyQt6.QtWidgets import QStackedWidget, QVBoxLayout

from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.controllers.setup.catalog_cache import CatalogCache
from gym_gui.controllers.setup.play_setup import asks_models
from gym_gui.core.asyncio_tasks import end_task
from gym_gui.core.errors import MosaicError
from gym_gui.services.operator_table import OperatorTable
from gym_gui.ui import theme
from gym_gui.ui.agents.environment_settings_form import EnvironmentSettingsLink
from gym_gui.ui.commands import Command
from gym_gui.ui.environments.documentation import Documentation
from gym_gui.ui.environments.environment_picker import EnvironmentPicker
from gym_gui.ui.environments.install_dialog import install_action
from gym_gui.ui.input.evdev_input import EvdevInput, find_keyboards
from gym_gui.ui.input.human_answers import HumanInput
from gym_gui.ui.input.keyboards_panel import Find
from gym_gui.ui.input.own_keyboards import OwnKeyboards
from gym_gui.ui.input.people import People
from gym_gui.ui.page import Page
from gym_gui.ui.page_state import SavedPageState
from gym_gui.ui.play.actions import PlayActions
from gym_gui.ui.play.analysis import Analysis
from gym_gui.ui.play.caption import Caption
from gym_gui.ui.play.game import PlayGame
from gym_gui.ui.play.game_controller import GameController
from gym_gui.ui.play.game_start import open_environment
from gym_gui.ui.play.input_binding import InputBinding
from gym_gui.ui.play.score_keeping import Scoring
from gym_gui.ui.play.seating import Seating
from gym_gui.ui.play.side_panel import SidePanel
from gym_gui.ui.play.stage_card import StageCard
from gym_gui.ui.play.suggested_games import FirstGames
from gym_gui.ui.widgets import SeedBox

if TYPE_CHECKING:
    from gym_gui.controllers.setup.configuration_checks import ConfigurationChecks, OfferedPolicy
    from gym_gui.controllers.setup.environment_info import EnvironmentInfo
    from gym_gui.controllers.setup.environment_probe import EnvironmentRequest
    from gym_gui.controllers.setup.play_setup import Clock
    from gym_gui.core.config import OperatorConfig
    from gym_gui.core.experiment.execution import TimeControl
    from gym_gui.core.live import LiveView
    from gym_gui.ui.context import AppContext


class PlayPage(Page):
    """Page that shows a game with its policies, keys, clocks and documentation.

    ``context.go("play", task=…)`` opens an environment, and ``go("play", operator=…, seed=…)`` an
    operator with its policies.

    Args:
        context: The window's services.
        find: Finds keyboards; by default those of this machine.
        evdev: Reads the keyboards; by default those of this machine.
    """

    name = "play"
    title = "Play"
    icon = "play"
    steady = True

    def __init__(
        self, context: AppContext, find: Find = find_keyboards, evdev: EvdevInput | None = None
    ) -> None:
        super().__init__(context)
        self.input = HumanInput(self)
        self.game = PlayGame(context, self.input, self)
        self.kept = SavedPageState[OperatorTable](
            context,
            "play.json",
            "The game",
            load=OperatorTable.load,
            save=OperatorTable.save,
            now=self._table,
            parent=self,
        )
        self.game.changed.connect(self.kept.save_soon)
        self.people = People(context, self.input, self)
        self.catalog = CatalogCache(context.store)
        context.installed.connect(self.catalog.renew)
        self._env_info: EnvironmentInfo | None = None
        self._job: asyncio.Task[Any] | None = None
        self._picker = EnvironmentPicker(self.context, pictures=True)
        self._seed_box = SeedBox(7)
        self.game_actions = PlayActions(self.game)
        self.bar.add(self._picker)
        self.bar.add(self._seed_box)
        for button in self.game_actions.buttons:
            self.bar.add_action(button)
        self._build_body()
        self._settings = EnvironmentSettingsLink(
            self.catalog, context.spawn, self._request, name="play-environment-settings"
        )
        self._settings.set_to.connect(self._on_environment_settings)
        self.side = SidePanel(self.use_inspector(), find, self._settings)
        self.side.set_shown(False)
        self.seating = Seating(context, self.game, self.side.who, self)
        self.keyboards = OwnKeyboards(
            context.spawn, self.input, self.people, self.side.keyboards, self._is_realtime, evdev, self
        )
        self.controller = GameController(
            context,
            self.game,
            self.input,
            self.people,
            self._stage_card,
            self._seed_box,
            self.game_actions,
            self,
        )
        self.input_binding = InputBinding(
            context, self.game, self.input, self.people, self.side, self._stage_card, self
        )
        self.caption = Caption(
            self.game, self.input, self.people, self.side.keys, self.controller, self._stage_card, self
        )
        self._analysis = Analysis(context, self._stage_card, self.side.sheet, self)
        self.scoring = Scoring(
            self.game, self.controller, self.seating, self._stage_card, self.side.sheet, self._analysis, self
        )
        self._connect()
        self.game_actions.show_state()

    # -- widgets ---------------------------------------------------------------------

    def _build_body(self) -> None:
        self._stage_card = StageCard(self.context.theme)
        self._stage_card.stage.set_overlay_shown(self.context.settings.values.spectator_overlay)
        self._documentation = Documentation()
        self._empty = FirstGames()
        self._stack = QStackedWidget(self.body)
        for widget in (self._empty, self._stage_card, self._documentation):
            self._stack.addWidget(widget)
        layout = QVBoxLayout(self.body)
        layout.setContentsMargins(theme.PAGE, theme.PAGE, theme.PAGE, theme.PAGE)
        layout.addWidget(self._stack)

    def _connect(self) -> None:
        self._picker.chosen.connect(self._on_environment_chosen)
        self._empty.chosen.connect(self.open_task)
        self._stage_card.dock_slot.shifted.connect(self.input.extend)
        self.game.framed.connect(self._stage_card.stage.show_frame)
        self.input.listening_changed.connect(self._on_listening_changed)
        self.seating.shown.connect(self._on_seats_shown)
        self.seating.seated.connect(self._on_seated)
        self.side.clock.chosen.connect(self._on_clock_chosen)
        self.side.time.chosen.connect(self._on_time_chosen)
        self.game.changed.connect(self._show_time)
        self.side.about.more_wanted.connect(self.read_documentation)
        self._documentation.closed.connect(self._on_documentation_closed)
        self.context.settings.changed.connect(self._on_setting_changed)

    @property
    def view(self) -> LiveView | None:
        """Newest view of the episode, or ``None`` before the first."""
        return self.caption.view

    @property
    def env_info(self) -> EnvironmentInfo | None:
        """Description of the open environment; ``None`` until it has been read."""
        return self._env_info

    # -- methods that the window calls -----------------------------------------------

    def opened(self, **request: object) -> None:
        """Open the requested game; without a request, show the current game or restore the last one."""
        operator, task = request.get("operator"), request.get("task")
        if operator is None and not isinstance(task, str):
            self.kept.restore(self._bring_back)
        else:
            self.kept.restore(lambda _table: None)  # Another game takes its place.
        seed = request.get("seed")
        if isinstance(seed, int):
            self._seed_box.set_seed(seed)
        if operator is not None:
            self.open_operator(operator)  # type: ignore[arg-type]
        elif isinstance(task, str):
            self.open_task(task)
        else:
            self._list_environments()
            if self._env_info is not None:
                self._stage_card.focus_stage()

    def _table(self) -> OperatorTable | None:
        """Return policies, seed and time control for storage; ``None`` if no game is open."""
        config = self.game.config
        return None if config is None else OperatorTable((config,), self.game.seed, self.game.time_control)

    def _bring_back(self, table: OperatorTable) -> None:
        """Open the game of the last session, from its seed."""
        if table.operators:
            self._seed_box.set_seed(table.seed)
            self.game.time_control = table.time_control
            self.side.time.set_value(table.time_control)
            self.open_operator(table.operators[0])

    def _list_environments(self) -> None:
        if not self._picker.loaded:
            self.context.spawn(self._picker.load(), "Listing the environments")

    def left(self) -> None:
        """Pause a real-time game when the page is hidden and the game is not in a visible detached window."""
        if (
            self._stage_card.dock_slot.own_window is not None
            and self._stage_card.dock_slot.is_content_visible
        ):
            return
        if self.game.clock.realtime and self.game.state in (OperatorState.RUNNING, OperatorState.YOUR_MOVE):
            self.game.pause()

    def closing_costs(self) -> str:
        """Return a warning if closing loses an unfinished game with a language model, else ``""``."""
        operator = self.game.operator
        if operator is None or self.game.is_over or not operator.player.is_running():
            return ""
        view = operator.player.last_view
        if view is None or not view.step or not asks_models(operator.player.config):
            return ""
        return (
            "The game is not finished. It is recorded as aborted. Paid replies are not used again."
            if self.game.recording
            else "The game is not finished. Paid replies are lost."
        )

    async def closed(self) -> None:
        """End the game and release the keyboards."""
        await end_task(self._job)
        self.keyboards.close()
        self.input.detach()
        await self.kept.close()
        await self.game.close()
        await self._analysis.closed()
        await self._picker.closed()
        await self.catalog.close()

    def commands(self) -> list[Command]:
        """Return the page's commands for menus and the command palette."""
        there, keys = self._there, self.side.keys.start_editing
        controller = self.controller
        back = self.scoring.take_back
        restart, pause, record = controller.restart, controller.toggle_pause, controller.toggle_record
        clock, sides = self.side.time.open, self._has_sides
        return [
            Command("play.restart", "Restart the episode", restart, "Ctrl+R", "Run", "restart", there),
            Command("play.pause", "Start, pause or resume", pause, "Ctrl+P", "Run", "pause", there),
            Command("play.record", "Start or stop recording", record, "Ctrl+Shift+R", "Run", "record"),
            Command("play.keys", "Edit keys", keys, "", "Run", "keyboard", there),
            Command(
                "play.about", "About this environment", self.read_documentation, "", "View", "file", there
            ),
            Command("play.flip", "Flip the board", self.scoring.flip, "", "View", "restart", self._has_board),
            Command("play.take_back", "Take a move back", back, "", "Run", "restart", self._has_moves),
            Command("play.clock", "Limit the time of each side", clock, "", "Run", "", sides),
            self.context.detached_windows.command(self.name, lambda: self._stage_card.dock_slot),
            Command("play.choose", "Choose an environment", self._picker.open, "Ctrl+E", "Run", "search"),
        ]

    def _there(self) -> bool:
        return self._env_info is not None

    def _has_board(self) -> bool:
        return self.caption.view is not None and self.caption.view.board is not None

    def _has_moves(self) -> bool:
        return self.scoring.back_to is not None

    def _has_sides(self) -> bool:
        return self.side.time.isVisibleTo(self)

    def _is_realtime(self) -> bool:
        return self.game.clock.realtime

    # -- opening ---------------------------------------------------------------------

    def open_task(self, task: str) -> None:
        """Open an environment with the user in its first slot."""
        self._open(task, None)

    def open_operator(self, config: OperatorConfig) -> None:
        """Open an operator with its policies and people."""
        self._open(config.task, config)

    def _open(self, task: str, config: OperatorConfig | None) -> None:
        if self._job is not None:
            self._job.cancel()
        self._stack.setCurrentWidget(self._stage_card)
        self._stage_card.show_result(False)
        self._stage_card.show_trouble("")
        self.caption.begin(task)
        self._env_info = None
        self.input_binding.set_env_info(None)
        self.side.set_shown(True, filled=False)
        self._picker.set_value(task)
        self._stage_card.focus_stage()  # on the picker, an arrow key would open the list again
        self._job = self.context.spawn(self._open_job(task, config), f"Opening {task}")

    async def _open_job(self, task: str, config: OperatorConfig | None) -> None:
        try:
            await open_environment(self, task, config)
        except MosaicError as error:
            self._stage_card.stage.clear("This environment cannot be played here", error.sentence)
            self._stage_card.set_prompt("error", "Choose another environment above.")
            self.side.set_shown(False)
            again = partial(self._on_installed, task, config)
            if install := install_action(self.context, error.sentence, self, again):
                self._stage_card.show_trouble(
                    "Install the missing package; the environment then opens.", install
                )
        finally:
            self._list_environments()

    def _on_installed(self, task: str, config: OperatorConfig | None) -> None:
        """Open the environment again after a missing package was installed."""
        self.catalog.renew()
        self._picker.renew()
        self._open(task, config)

    def start_game(self, config: OperatorConfig, clock: Clock, render: str) -> None:
        """Start a game; the environment's description may follow later."""
        self.side.clock.set_clock(clock)
        self.game.open(config, clock, self._seed_box.seed, render=render)
        self.game_actions.show_state()
        self.context.detached_windows.manage(self._stage_card.dock_slot, self.name)
        self._stage_card.focus_stage()

    async def wait_for_first_frame(self, at_most_s: float) -> None:
        """Wait for the first view or error of the game, at most ``at_most_s`` seconds."""
        seen = asyncio.Event()

        def look(*_: object) -> None:
            seen.set()

        self.game.viewed.connect(look)
        self.game.broke.connect(look)
        try:
            await asyncio.wait_for(seen.wait(), at_most_s)
        except TimeoutError:
            return
        finally:
            self.game.viewed.disconnect(look)
            self.game.broke.disconnect(look)

    def show_sheet(
        self,
        env_info: EnvironmentInfo,
        offers: Mapping[str, Sequence[OfferedPolicy]],
        checks: ConfigurationChecks,
    ) -> None:
        """Show the environment's description, and the policies that can play each slot."""
        self._env_info, page = env_info, env_info.page
        self._picker.set_value(env_info.env_id, page.title)
        self.input_binding.set_env_info(env_info)
        self.side.set_shown(True)
        config = self.game.config
        self._settings.show_values({} if config is None else config.env_kwargs)
        self.side.about.set_text(page.summary, more=bool(page.text))
        self._documentation.set_page(page.title, page.text, page.doc_url)
        self.input_binding.seat()
        self.seating.offer(
            {slot: self.people.hands(slot) for slot in env_info.slots}, env_info, offers, checks
        )
        self.caption.set_env_info(env_info)
        self._show_time()
        self._stage_card.focus_stage()

    def _on_seats_shown(self) -> None:
        self._stage_card.stage.set_seats(self.seating.seats())

    def _on_seated(self) -> None:
        self._stage_card.show_trouble("")
        self.input_binding.seat()
        self._stage_card.focus_stage()

    def _on_environment_chosen(self, value: object) -> None:
        if isinstance(value, str):
            self.open_task(value)

    def _request(self) -> EnvironmentRequest | None:
        from gym_gui.controllers.setup.configuration_draft import Draft

        config = self.game.config
        return None if config is None else Draft.of(config).request()

    def _on_environment_settings(self, values: dict[str, Any]) -> None:
        """Open the game again with the same policies and new arguments of the environment."""
        config = self.game.config
        if config is not None:
            self.open_operator(replace(config, env_kwargs=values))

    def _on_clock_chosen(self, clock: Clock) -> None:
        self._stage_card.show_result(False)
        self.game.set_clock(clock)
        self.input_binding.seat()
        self.caption.show_facts()

    def _on_time_chosen(self, control: TimeControl | None) -> None:
        self.game.set_time_control(control)
        self._stage_card.focus_stage()

    def _show_time(self) -> None:
        """Show the time control only for games in which players move in turn and wait for each other."""
        self.side.time.setVisible(self.game.can_be_on_clock)
        self.side.time.set_waiting(self.game.waits_for_next_game and not self.game.is_over)

    def _on_listening_changed(self, _listens: bool) -> None:
        own = self._stage_card.dock_slot.own_window
        self.keyboards.set_active(self.isActiveWindow() or (own is not None and own.isActiveWindow()))

    def _on_setting_changed(self, name: str) -> None:
        if name == "spectator_overlay":
            self._stage_card.stage.set_overlay_shown(self.context.settings.values.spectator_overlay)

    # -- documentation ---------------------------------------------------------------

    def read_documentation(self) -> None:
        """Show the whole documentation in place of the game; a real-time game pauses."""
        if self._env_info is not None:
            self._stack.setCurrentWidget(self._documentation)
            self._documentation.browser.setFocus()

    def _on_documentation_closed(self) -> None:
        self._stack.setCurrentWidget(self._stage_card)
        self._stage_card.focus_stage()
