"""The Play page: any environment, played by people at this window, alone or with policies."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PyQt6.QtWidgets import QStackedWidget, QVBoxLayout

from gym_gui.controllers.human_input import KEYBOARD
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.ui import theme
from gym_gui.ui.commands import Command
from gym_gui.ui.live.operator import OperatorState
from gym_gui.ui.page import Page
from gym_gui.ui.play.actions import PlayActions
from gym_gui.ui.play.documentation import Documentation
from gym_gui.ui.play.environment_picker import EnvironmentPicker
from gym_gui.ui.play.evdev_input import EvdevInput, find_keyboards
from gym_gui.ui.play.first_games import FirstGames
from gym_gui.ui.play.game import PlayGame
from gym_gui.ui.play.human_input import HumanInput
from gym_gui.ui.play.keyboards_panel import Find
from gym_gui.ui.play.opening import Opening, open_environment
from gym_gui.ui.play.own_keyboards import OwnKeyboards
from gym_gui.ui.play.people import People
from gym_gui.ui.play.prompts import Prompt, prompt_for
from gym_gui.ui.play.seating import Seating
from gym_gui.ui.play.side_panel import SidePanel
from gym_gui.ui.play.stage_card import StageCard
from gym_gui.ui.widgets import SeedBox

if TYPE_CHECKING:
    from gym_gui.controllers.candidates import Candidate
    from gym_gui.controllers.play_card import PlayCard
    from gym_gui.controllers.play_setup import Clock
    from gym_gui.core.config import OperatorConfig
    from gym_gui.core.live import HumanQuestion, LiveView
    from gym_gui.ui.context import AppContext


class PlayPage(Page):
    """See the module.

    ``context.go("play", task=…)`` opens an environment, ``go("play", operator=…, seed=…)`` a
    line-up of its own.

    Args:
        context: The window's services.
        find: Looks for keyboards.
        evdev: Reads them; both are this machine's by default.
    """

    name = "play"
    title = "Play"
    icon = "play"

    def __init__(
        self, context: AppContext, find: Find = find_keyboards, evdev: EvdevInput | None = None
    ) -> None:
        super().__init__(context)
        self.input = HumanInput(self)
        self.game = PlayGame(context, self.input, self)
        self.people = People(context, self.input, self)
        self.opening = Opening(context)
        self._card: PlayCard | None = None
        self._view: LiveView | None = None
        self._paused_by_focus = False
        self._refusal = ""
        self._job: asyncio.Task[Any] | None = None
        self.picker = EnvironmentPicker()
        self.seed_box = SeedBox(7)
        self.game_actions = PlayActions(self.game)
        self.bar.add(self.picker)
        self.bar.add(self.seed_box)
        for button in self.game_actions.buttons:
            self.bar.add_action(button)
        self._build_body()
        self.side = SidePanel(self.use_inspector(), find)
        self.side.set_shown(False)
        self.seating = Seating(context, self.game, self.side.who, self)
        self.keyboards = OwnKeyboards(
            context, self.input, self.people, self.side.keyboards, self._is_realtime, evdev, self
        )
        self._connect()
        self.game_actions.show_state()

    # -- building --------------------------------------------------------------------

    def _build_body(self) -> None:
        self.stage_card = StageCard(self.context.theme)
        self.stage_card.stage.set_overlay_shown(self.context.settings.values.spectator_overlay)
        self.documentation = Documentation()
        self.empty = FirstGames()
        self._stack = QStackedWidget(self.body)
        for widget in (self.empty, self.stage_card, self.documentation):
            self._stack.addWidget(widget)
        layout = QVBoxLayout(self.body)
        layout.setContentsMargins(theme.PAGE, theme.PAGE, theme.PAGE, theme.PAGE)
        layout.addWidget(self._stack)

    def _connect(self) -> None:
        self.picker.chosen.connect(self._on_environment_chosen)
        self.empty.chosen.connect(self.open_task)
        self.game_actions.restarted.connect(self._on_restart)
        self.game_actions.held.connect(self._on_pause)
        self.game_actions.record_toggled.connect(self._on_record)
        self.seed_box.seed_changed.connect(self._on_seed_changed)
        game, side, card = self.game, self.side, self.stage_card
        game.changed.connect(self._on_game_changed)
        game.viewed.connect(self._on_viewed)
        game.framed.connect(card.stage.show_frame)
        game.over.connect(self._on_over)
        game.broke.connect(self._on_broke)
        self.input.questions_changed.connect(self._on_questions_changed)
        self.input.held_changed.connect(self._on_held_changed)
        self.input.refused.connect(self._on_refused)
        self.input.listening_changed.connect(self._on_listening_changed)
        self.people.changed.connect(self._on_people_changed)
        self.seating.shown.connect(self._on_seats_shown)
        self.seating.seated.connect(self._on_seated)
        side.keys.acted.connect(self._on_acted)
        side.keys.pushed.connect(self._on_pushed)
        side.keys.scheme_changed.connect(self._on_scheme_changed)
        side.keys.reset_wanted.connect(self._on_keys_reset)
        side.keys.editing_changed.connect(self._on_editing_changed)
        side.clock.chosen.connect(self._on_clock_chosen)
        side.about.more_wanted.connect(self.read_documentation)
        self.documentation.closed.connect(self._on_documentation_closed)
        card.stage.move_chosen.connect(self._on_move_chosen)
        card.enter_pressed.connect(self._on_enter)
        card.result.again.connect(self.play_again)
        card.result.same_again.connect(self._on_restart)
        card.result.show_results.connect(self._on_show_results)
        self.context.settings.changed.connect(self._on_setting_changed)

    # -- hooks -----------------------------------------------------------------------

    def opened(self, **request: object) -> None:
        """Open what was asked for; without a request, go on with what there is."""
        seed = request.get("seed")
        if isinstance(seed, int):
            self.seed_box.set_seed(seed)
        operator, task = request.get("operator"), request.get("task")
        if operator is not None:
            self.open_operator(operator)  # type: ignore[arg-type]
        elif isinstance(task, str):
            self.open_task(task)
        else:
            self._list_environments()
            if self._card is not None:
                self.stage_card.take_keys()

    def _list_environments(self) -> None:
        if not self.picker.loaded:
            self.context.spawn(self.picker.load(), "Listing the environments")

    def left(self) -> None:
        """A game in real time does not run unseen."""
        if self.game.clock.realtime and self.game.state in (OperatorState.RUNNING, OperatorState.YOUR_MOVE):
            self.game.pause()

    async def closed(self) -> None:
        """End the session; let go of the keyboards."""
        if self._job is not None:
            self._job.cancel()
            await asyncio.gather(self._job, return_exceptions=True)
        self.keyboards.close()
        self.input.detach()
        await self.game.close()

    def commands(self) -> list[Command]:
        """What can be done here."""
        there, keys = self._there, self.side.keys.start_editing
        restart, pause, record = self._on_restart, self._on_pause, self._on_record
        return [
            Command("play.restart", "Restart the episode", restart, "Ctrl+R", "Run", "restart", there),
            Command("play.pause", "Pause or go on", pause, "Ctrl+P", "Run", "pause", there),
            Command("play.record", "Record, or stop recording", record, "Ctrl+Shift+R", "Run", "record"),
            Command("play.keys", "Edit keys", keys, "", "Run", "keyboard", there),
            Command(
                "play.about", "About this environment", self.read_documentation, "", "View", "file", there
            ),
            Command("play.choose", "Choose an environment", self.picker.open, "Ctrl+E", "Run", "search"),
        ]

    def _there(self) -> bool:
        return self._card is not None

    def _is_realtime(self) -> bool:
        return self.game.clock.realtime

    # -- opening ---------------------------------------------------------------------

    def open_task(self, task: str) -> None:
        """Open an environment, with you in its first slot."""
        self._open(task, None)

    def open_operator(self, config: OperatorConfig) -> None:
        """Open a line-up."""
        self._open(config.task, config)

    def _open(self, task: str, config: OperatorConfig | None) -> None:
        if self._job is not None:
            self._job.cancel()
        self._stack.setCurrentWidget(self.stage_card)
        self.stage_card.show_result(False)
        self.stage_card.show_trouble("")
        self.stage_card.stage.clear("Starting…", "")
        self.stage_card.headline.setText(task.rpartition("/")[2])
        self.stage_card.facts.setText("")
        self.stage_card.set_prompt("muted", "Starting…")
        self._card = self._view = None
        self.people.set_card(None)
        self.side.set_shown(False)
        self.picker.set_value(task)
        self._job = self.context.spawn(self._open_job(task, config), f"Opening {task}")

    async def _open_job(self, task: str, config: OperatorConfig | None) -> None:
        try:
            await open_environment(self, task, config)
        except MosaicError as error:
            self.stage_card.stage.clear("This cannot be played here", str(error))
            self.stage_card.set_prompt("error", "Choose another environment above.")
            self.side.set_shown(False)
        finally:
            self._list_environments()

    def start_game(self, config: OperatorConfig, clock: Clock, render: str) -> None:
        """Begin to play; the card may follow."""
        self.side.clock.set_clock(clock)
        self.game.open(config, clock, self.seed_box.seed, render=render)
        self.game_actions.show_state()
        self.stage_card.take_keys()

    async def first_look(self, at_most_s: float) -> None:
        """Wait until there is something to see, or trouble; a while at most."""
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

    def show_card(self, card: PlayCard, candidates: Mapping[str, list[Candidate]]) -> None:
        """Show what is known of the environment, and who may play it."""
        self._card = card
        self.picker.set_value(card.env_id)
        self.people.set_card(card)
        self.side.set_shown(True)
        self.side.about.set_text(card.summary, more=bool(card.text))
        self.documentation.set_page(card.title, card.text, card.url)
        self._seat_people()
        self.seating.offer({slot: self.people.hands(slot) for slot in card.slots}, candidates)
        if self._view is not None:
            self.stage_card.show_view(self._view, card.title)
        self._show_facts()
        self.stage_card.take_keys()

    def _seat_people(self) -> None:
        if self._card is None:
            return
        known = [slot for slot in self.game.people if slot in self._card.slots]
        self.people.seat(known, self.stage_card, realtime=self.game.clock.realtime)
        self.game.ask_again()

    def _on_seats_shown(self) -> None:
        self.stage_card.stage.set_seats(self.seating.seats())

    def _on_seated(self) -> None:
        self.stage_card.show_trouble("")
        self._seat_people()
        self.stage_card.take_keys()

    # -- people ----------------------------------------------------------------------

    def _on_people_changed(self) -> None:
        keys = self.people.keys
        self.side.keys.set_people(keys)
        self.side.set_keyboards_shown(
            len(keys) > 1 or any(d != KEYBOARD for d in self.people.devices.values())
        )
        self.side.keyboards.set_people(self.people.devices)
        self._show_prompt()

    def _on_scheme_changed(self, slot: str, scheme: object) -> None:
        self._keep_keys(slot, scheme)

    def _on_keys_reset(self, slot: str) -> None:
        self._keep_keys(slot, None)

    def _keep_keys(self, slot: str, scheme: Any) -> None:
        realtime = self.game.clock.realtime
        try:
            if scheme is None:
                self.people.reset(slot, realtime=realtime)
            else:
                self.people.set_scheme(slot, scheme, realtime=realtime)
        except UsageError as error:
            self.context.notify(str(error), "warning")

    def _on_editing_changed(self, editing: bool) -> None:
        if not editing:
            self.stage_card.take_keys()

    def _on_acted(self, slot: str, action: object) -> None:
        self.game.begin()
        self.input.choose(slot, action)
        self.stage_card.take_keys()

    def _on_pushed(self, slot: str, key: str, down: bool) -> None:
        device = self.people.devices.get(slot, KEYBOARD)
        (self.input.press if down else self.input.release)(key, device)
        if not down:
            self.stage_card.take_keys()

    def _on_move_chosen(self, action: int) -> None:
        for question in self.input.questions:
            if question.legal is None or action in question.legal:
                self.input.choose(question.slot, action)
                return

    # -- the game --------------------------------------------------------------------

    def _on_environment_chosen(self, value: object) -> None:
        if isinstance(value, str):
            self.open_task(value)

    def _on_seed_changed(self, seed: int) -> None:
        self._play(seed)

    def _on_restart(self) -> None:
        self._play(self.game.seed)

    def play_again(self) -> None:
        """The next seed."""
        self._play(self.game.seed + 1)

    def _play(self, seed: int) -> None:
        if self.game.operator is None:
            return
        self.seed_box.set_seed(seed)
        self.stage_card.show_result(False)
        self.stage_card.show_trouble("")
        self._paused_by_focus = False
        self.game.play(seed)
        self.stage_card.take_keys()

    def _on_enter(self) -> None:
        if self.game.is_over:
            self.play_again()
        elif self.game.state is OperatorState.BROKEN:
            self._on_restart()

    def _on_pause(self) -> None:
        if self.game.waits_for_key:
            self.game.begin()
        elif self.game.paused:
            self._paused_by_focus = False
            self.game.resume()
            self.stage_card.take_keys()
        else:
            self.game.pause()

    def _on_record(self) -> None:
        self.game.set_recording(not self.game.recording)
        self.stage_card.take_keys()

    def _on_clock_chosen(self, clock: Clock) -> None:
        self.stage_card.show_result(False)
        self.game.set_clock(clock)
        self._seat_people()
        self._show_facts()

    def _on_listening_changed(self, listens: bool) -> None:
        self.keyboards.set_active(self.isActiveWindow())
        game = self.game
        if not game.clock.realtime or game.waits_for_key or game.is_over:
            self._show_prompt()
            return
        if not listens and not game.paused and KEYBOARD in self.people.devices.values():
            self._paused_by_focus = True
            game.pause()
        elif listens and self._paused_by_focus:
            self._paused_by_focus = False
            game.resume()

    def _on_game_changed(self) -> None:
        if not self.game.paused:
            self._paused_by_focus = False
        self.game_actions.show_state()
        self._show_prompt()
        run = self.game.run
        self.context.set_run(run.run_id if run is not None else "")
        self.stage_card.result.results_button.setEnabled(run is not None and run.folder is not None)

    def _on_viewed(self, view: LiveView) -> None:
        self._view = view
        self.stage_card.show_view(view, self._title())
        self._show_facts()
        self._show_prompt()

    def _title(self) -> str:
        """What the environment is called, before it has said so by its id."""
        return self._card.title if self._card is not None else str(self.picker.value or "").rpartition("/")[2]

    def _on_over(self, line: Mapping[str, Any], fallbacks: int) -> None:
        mine = [a for a, about in line["agents"].items() if about.get("slot", a) in self.game.people]
        self.stage_card.countdown.stop()
        self.stage_card.result.tell(line, mine, fallbacks, recorded=self.game.run is not None)
        self.stage_card.show_result(True)
        self._on_game_changed()

    def _on_broke(self, sentence: str) -> None:
        self.stage_card.countdown.stop()
        self.stage_card.show_trouble(f"{sentence}. Restart plays the episode again from its beginning.")

    def _on_show_results(self) -> None:
        run = self.game.run
        if run is not None and run.folder is not None:
            self.context.go("results", run=run.folder)

    # -- what is said ----------------------------------------------------------------

    def _on_questions_changed(self) -> None:
        questions = self.input.questions
        if questions:
            self._refusal = ""
        shown = next((q for q in questions if q.slot == self.side.keys.slot), None)
        if not self.game.clock.realtime:
            if shown is None and questions and len(questions) == 1:
                self.side.keys.show_slot(questions[0].slot)
                shown = questions[0]
            self.side.keys.set_question(shown)
        self.stage_card.stage.set_interactive(bool(questions))
        self._show_countdown(shown or next(iter(questions), None))
        self._show_prompt()

    def _show_countdown(self, question: HumanQuestion | None) -> None:
        if question is None:
            self.stage_card.countdown.stop()
        elif question.deadline_s is not None:
            self.stage_card.countdown.start(question.deadline_s)

    def _on_held_changed(self) -> None:
        self.side.keys.list.set_held(self.input.held)

    def _on_refused(self, sentence: str) -> None:
        self._refusal = sentence
        self._show_prompt()

    def _show_prompt(self) -> None:
        prompt = Prompt(
            state=self.game.state,
            over=self.game.is_over,
            waits_for_key=self.game.waits_for_key,
            paused=self.game.paused,
            paused_by_focus=self._paused_by_focus,
            realtime=self.game.clock.realtime,
            listening=self.input.listening,
            asked=tuple(q.agent for q in self.input.questions),
            agents=len(self._view.agents) if self._view is not None else 1,
            turn=self._view.turn if self._view is not None else (),
            refusal=self._refusal,
            typed="".join(seat.typed for seat in self.input.seats),
            people=len(self.people.keys),
            hands=self.people.hands(next(iter(self.people.keys), "")),
        )
        said = prompt_for(prompt)
        if said is not None:
            self.stage_card.set_prompt(*said)

    def _show_facts(self) -> None:
        view, card = self._view, self._card
        clock = self.game.clock
        limit = (self.game.config.max_steps if self.game.config else None) or (
            card.max_steps if card else None
        )
        step = view.step if view is not None else 0
        steps = f"step {step} of {limit}" if limit else f"step {step}"
        pace = f"{clock.rate:g} steps/s" if clock.realtime else "waits for you"
        self.stage_card.facts.setText(f"{steps} · {pace}" if self.game.people else steps)

    def _on_setting_changed(self, name: str) -> None:
        if name == "spectator_overlay":
            self.stage_card.stage.set_overlay_shown(self.context.settings.values.spectator_overlay)
        elif name == "key_repeat":
            self._seat_people()

    # -- documentation ---------------------------------------------------------------

    def read_documentation(self) -> None:
        """Show all of it in the stage's place; a game in real time waits."""
        if self._card is not None:
            self._stack.setCurrentWidget(self.documentation)
            self.documentation.browser.setFocus()

    def _on_documentation_closed(self) -> None:
        self._stack.setCurrentWidget(self.stage_card)
        self.stage_card.take_keys()
