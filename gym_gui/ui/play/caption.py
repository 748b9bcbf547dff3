"""Texts around the picture of a game: score, step and pace above it, and the prompt below it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.ui.input.human_answers import HumanInput
from gym_gui.ui.input.keys_panel import KeysPanel
from gym_gui.ui.input.people import People
from gym_gui.ui.live.state_words import starting_words
from gym_gui.ui.numbers import local
from gym_gui.ui.play.game import PlayGame
from gym_gui.ui.play.game_controller import GameController
from gym_gui.ui.play.stage_card import StageCard
from gym_gui.ui.renderers import seat_words

if TYPE_CHECKING:
    from gym_gui.controllers.setup.environment_info import EnvironmentInfo
    from gym_gui.core.live import HumanQuestion, LiveView


class Caption(QObject):
    """Updates the texts around the picture of a game whenever the game changes.

    Create a caption after :class:`GameController` and :class:`~gym_gui.ui.play.input_binding.InputBinding`:
    it then reads their state after they have handled a change.

    Args:
        game: The game.
        people_input: Holds the open requests to people.
        people: People who play at this window, with their keys.
        keys: Panel of keys; the countdown is that of the panel's slot.
        controller: Provides the reason why the game is paused.
        card: Card that shows the texts.
        parent: Qt parent.

    Attributes:
        view: The last view of the episode; ``None`` before the first.
    """

    def __init__(
        self,
        game: PlayGame,
        people_input: HumanInput,
        people: People,
        keys: KeysPanel,
        controller: GameController,
        card: StageCard,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._game, self._input, self._people = game, people_input, people
        self._keys, self._controller, self._card = keys, controller, card
        self.view: LiveView | None = None
        self._known: EnvironmentInfo | None = None
        self._name = ""
        self._refusal = ""
        game.changed.connect(self._on_changed)
        game.viewed.connect(self._on_viewed)
        people.changed.connect(self._show_prompt)
        people_input.questions_changed.connect(self._on_questions_changed)
        people_input.refused.connect(self._on_refused)
        people_input.listening_changed.connect(self._show_prompt)
        people_input.mouse.caught_changed.connect(self._show_prompt)

    def begin(self, task: str) -> None:
        """Clear the picture of the game and show that an environment is starting.

        Args:
          task: Id of the environment.
        """
        self._name = task.rpartition("/")[2]
        self._known = self.view = None
        self._card.stage.clear("Starting…", "")
        self._card.headline.setText(self._name)
        self._card.facts.setText("")
        self._card.set_prompt("muted", "Starting…")
        self._card.dock_slot.set_title(self._name)

    def set_env_info(self, known: EnvironmentInfo) -> None:
        """Set the environment's description, with which the title and the step limit are shown."""
        self._known, self._name = known, known.page.title
        if self.view is not None:
            self._card.show_view(self.view, self._name)
        self.show_facts()

    def show_facts(self) -> None:
        """Show step, step limit and pace; after the end of the episode only step and limit."""
        game, known = self._game, self._known
        limit = (game.config.max_steps if game.config else None) or (known.page.max_steps if known else None)
        step = self.view.step if self.view is not None else 0
        steps = f"step {local(step):,} of {local(limit):,}" if limit else f"step {local(step):,}"
        pace = f"{local(game.clock.rate):g} steps/s" if game.clock.realtime else "waits for your move"
        self._card.facts.setText(f"{steps} · {pace}" if game.people and not game.is_over else steps)

    def _on_changed(self) -> None:
        if self.view is not None:
            self.show_facts()
        self._show_prompt()

    def _on_viewed(self, view: LiveView) -> None:
        self.view = view
        self._card.show_view(view, self._name)
        self.show_facts()
        self._show_prompt()

    def _on_questions_changed(self) -> None:
        questions = self._input.questions
        if questions:
            self._refusal = ""
        self._card.stage.set_interactive(bool(questions))
        shown = next((q for q in questions if q.slot == self._keys.slot), None)
        self._show_countdown(shown or next(iter(questions), None))
        self._show_prompt()

    def _show_countdown(self, question: HumanQuestion | None) -> None:
        if question is None:
            self._card.countdown.stop()
        elif question.deadline_s is not None:
            self._card.countdown.start(question.deadline_s)

    def _on_refused(self, sentence: str) -> None:
        self._refusal = sentence
        self._show_prompt()

    def _policies_to_act(self) -> tuple[str, ...]:
        """Return the names of agents that have to act and that no person at this window plays."""
        if self.view is None:
            return ()
        mine = {agent.agent for agent in self.view.agents if agent.slot in self._game.people}
        return tuple(self._seat_name(agent) for agent in self.view.turn if agent not in mine)

    def _seat_name(self, agent: str) -> str:
        """Return the name of an agent's seat in this game."""
        seats = self.view.agents if self.view is not None else ()
        return next((seat_words(seat) for seat in seats if seat.agent == agent), agent)

    def _show_prompt(self) -> None:
        game, people, view = self._game, self._people, self.view
        if view is None and game.operator is not None and game.operator.player.compiling is not None:
            self._card.stage.clear(*starting_words(game.operator.player.compiling))
        prompt = Prompt(
            state=game.state,
            over=game.is_over,
            waits_for_key=game.waits_for_key,
            waits_for_go=game.waits_for_go,
            paused=game.paused,
            paused_by_focus=self._controller.paused_by_focus,
            realtime=game.clock.realtime,
            listening=self._input.listening,
            asked=tuple(self._seat_name(q.agent) for q in self._input.questions),
            agents=len(view.agents) if view is not None else 1,
            turn=self._policies_to_act(),
            refusal=self._refusal,
            typed="".join(seat.typed for seat in self._input.seats),
            people=len(people.keys),
            watched=self._known is not None and not game.people,
            inputs=people.hands(next(iter(people.keys), "")),
            caught=self._input.mouse.caught,
        )
        tone_and_text = prompt_for(prompt)
        if tone_and_text is not None:
            self._card.set_prompt(*tone_and_text)


# -- text of the prompt --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Prompt:
    """State of a game, from which the line below the picture of the game is made.

    Attributes:
        state: State of the session.
        over: Whether the episode is over.
        waits_for_key: Whether the game waits for a first key that starts the time.
        waits_for_go: Whether the game waits for Start, because the next move needs a request to a
            language model.
        paused: Whether the user paused the game.
        paused_by_focus: Whether the game was paused because the stage lost the focus.
        realtime: Whether the game is played in real time.
        listening: Whether the stage accepts keys.
        asked: Names of the agents for which a person has to choose an action.
        agents: Number of agents.
        turn: Names of the agents that have to act and that no person at this window plays.
        refusal: Sentence that says why the last key had no effect, or ``""``.
        typed: Digits typed so far.
        people: Number of people who play and whose keys are known.
        watched: Whether policies are known to play all slots.
        inputs: Input devices of the first person, as text.
        caught: Whether the game captures the mouse until Escape is pressed.
    """

    state: OperatorState
    over: bool = False
    waits_for_key: bool = False
    waits_for_go: bool = False
    paused: bool = False
    paused_by_focus: bool = False
    realtime: bool = False
    listening: bool = True
    asked: tuple[str, ...] = ()
    agents: int = 1
    turn: tuple[str, ...] = ()
    refusal: str = ""
    typed: str = ""
    people: int = 1
    watched: bool = False
    inputs: str = ""
    caught: bool = False


def prompt_for(p: Prompt) -> tuple[str, str] | None:
    """Return tone and text of the prompt below the picture of a game; ``None`` keeps the last text."""
    if p.state is OperatorState.BROKEN or p.over:
        return "muted", ""
    if p.state in (OperatorState.STARTING, OperatorState.IDLE, OperatorState.CLOSED):
        return "muted", "Starting…"
    if p.waits_for_key:
        # A key press would be lost before a person is bound to the keys.
        return _start_prompt(p) if p.people else ("muted", "Starting…")
    if p.waits_for_go:
        return "accent", "Press Start: the first request goes to a language model."
    if p.paused_by_focus:
        return (
            "warning",
            "Paused, because another part of the window gets the keys. Click the picture to continue.",
        )
    if p.paused:
        return "muted", "Paused."
    if p.refusal:
        return "warning", p.refusal
    if not p.people:
        # A person plays, but the page has not yet read this person's keys.
        return ("ok", "Only policies play.") if p.watched else ("muted", "Starting…")
    if p.realtime:
        if p.caught:
            return "ok", "Running. The mouse controls the game; Esc releases it."
        return ("ok", "Running.") if p.listening else ("muted", "Click the picture to use your keys.")
    return _turn_based(p)


def _start_prompt(p: Prompt) -> tuple[str, str]:
    if not p.listening:
        return "accent", "Click the picture, then press a key to begin."
    keys = p.inputs if p.inputs and p.inputs != "mouse" else "a key"
    keys = f"the {keys}" if keys.startswith("arrow") else keys
    return "accent", f"Press {keys} to begin: time runs from then on."


def _turn_based(p: Prompt) -> tuple[str, str] | None:
    if p.asked:
        if p.typed:
            return "accent", f"Action {p.typed}: Enter plays it, Backspace deletes a digit."
        who = f": {', '.join(p.asked)}" if p.agents > 1 and p.people > 1 else ""
        way = "" if p.listening or p.inputs == "mouse" else " Click the picture to use your keys."
        return "accent", f"Your move{who}.{way}"
    if p.state is OperatorState.THINKING:
        # If several policies act at once, the window does not know which ones have answered.
        return "warning", f"{p.turn[0]} is thinking…" if len(p.turn) == 1 else "Policies are thinking…"
    return None
