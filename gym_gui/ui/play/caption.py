"""What stands around the stage: the score, step and pace above it, whose move it is below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyQt6.QtCore import QObject

from gym_gui.ui.input.human_answers import HumanInput
from gym_gui.ui.input.keys_panel import KeysPanel
from gym_gui.ui.input.people import People
from gym_gui.ui.live.state_words import starting_words
from gym_gui.ui.numbers import local
from gym_gui.ui.play.course import Course
from gym_gui.ui.play.game import PlayGame
from gym_gui.ui.play.prompts import Prompt, prompt_for
from gym_gui.ui.play.stage_card import StageCard
from gym_gui.ui.renderers import seat_words

if TYPE_CHECKING:
    from gym_gui.controllers.setup.environment_sheet import EnvironmentSheet
    from gym_gui.core.live import HumanQuestion, LiveView


class Caption(QObject):
    """Writes it anew whenever something has changed that it tells.

    Made after :class:`Course` and :class:`~gym_gui.ui.play.hands.Hands`, whose answers to a
    change it tells.

    Args:
        game: What is played.
        people_input: What people are asked.
        people: Who plays here.
        keys: The panel whose person's time is counted down.
        course: Why it stands still.
        card: Where it is written.
        parent: Qt parent.

    Attributes:
        view: The last look at the episode.
    """

    def __init__(
        self,
        game: PlayGame,
        people_input: HumanInput,
        people: People,
        keys: KeysPanel,
        course: Course,
        card: StageCard,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._game, self._input, self._people = game, people_input, people
        self._keys, self._course, self._card = keys, course, card
        self.view: LiveView | None = None
        self._known: EnvironmentSheet | None = None
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
        """An environment is being opened."""
        self._name = task.rpartition("/")[2]
        self._known = self.view = None
        self._card.stage.clear("Starting…", "")
        self._card.headline.setText(self._name)
        self._card.facts.setText("")
        self._card.set_prompt("muted", "Starting…")
        self._card.berth.set_title(self._name)

    def set_sheet(self, known: EnvironmentSheet) -> None:
        """This is known of the environment now."""
        self._known, self._name = known, known.page.title
        if self.view is not None:
            self._card.show_view(self.view, self._name)
        self.show_facts()

    def show_facts(self) -> None:
        """Step, limit and pace; at the end there is no pace any more."""
        game, known = self._game, self._known
        limit = (game.config.max_steps if game.config else None) or (known.page.max_steps if known else None)
        step = self.view.step if self.view is not None else 0
        steps = f"step {local(step):,} of {local(limit):,}" if limit else f"step {local(step):,}"
        pace = f"{local(game.clock.rate):g} steps/s" if game.clock.realtime else "waits for you"
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

    def _others_asked(self) -> tuple[str, ...]:
        """Names of agents that are asked and that nobody here plays."""
        if self.view is None:
            return ()
        mine = {agent.agent for agent in self.view.agents if agent.slot in self._game.people}
        return tuple(self._called(agent) for agent in self.view.turn if agent not in mine)

    def _called(self, agent: str) -> str:
        """What a seat is called in this game."""
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
            paused_by_focus=self._course.paused_by_focus,
            realtime=game.clock.realtime,
            listening=self._input.listening,
            asked=tuple(self._called(q.agent) for q in self._input.questions),
            agents=len(view.agents) if view is not None else 1,
            turn=self._others_asked(),
            refusal=self._refusal,
            typed="".join(seat.typed for seat in self._input.seats),
            people=len(people.keys),
            watched=self._known is not None and not game.people,
            hands=people.hands(next(iter(people.keys), "")),
            caught=self._input.mouse.caught,
        )
        said = prompt_for(prompt)
        if said is not None:
            self._card.set_prompt(*said)
