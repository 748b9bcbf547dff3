"""What a describer is: it says in words what the agents of one environment see and may do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

from gym_gui.core.experiment.prompt_inputs import Frame, Mode, Renaming
from gym_gui.core.paradigms import Place
from gym_gui.core.spaces import sample_legal, to_space
from gym_gui.core.types import AgentID, Choice, Mask
from gym_gui.envs.describers.other_words import Terms, made_up
from gym_gui.envs.describers.value_words import action_form, is_picture
from gym_gui.envs.facts import Fact
from gym_gui.envs.instance import Instance
from gym_gui.envs.pictures import Picture, as_picture
from mosaic_worker.renaming import Names


class ActionWord(NamedTuple):
    """A discrete action as it is said.

    Attributes:
        word: What the agent answers with, for example ``"forward"``.
        meaning: What it does, in a few words without a full stop; may be ``""``.
    """

    word: str
    meaning: str = ""


class Limit(NamedTuple):
    """How long a game may last.

    Attributes:
        most: By the rules, as it was made; ``None`` where they do not say.
        unit: Of what.
    """

    most: int | None
    unit: str = "steps"


class Describer(ABC):
    """Says what one environment instance shows; asked between its steps.

    A describer may look into the environment, but tells an agent only what its observation
    holds (and, where the mode is ``visible_teammates``, its team-mates inside its field of view).
    It changes nothing, draws no random numbers, and says the same of the same state.

    Args:
        environment: The instance it speaks of.
    """

    def __init__(self, environment: Instance) -> None:
        self.environment = environment

    @abstractmethod
    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        """What ``agent`` sees now.

        Args:
            agent: A current agent.
            observation: As the environment gave it, the action mask taken out.
            mode: Whether the text names team-mates inside the field of view.
        """

    def facts(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> Sequence[Fact]:
        """What ``agent`` sees now as ground facts, out of the same reading of it as :meth:`text`.

        Args:
            agent: A current agent of which :meth:`can_state` holds.
            observation: As :meth:`text` takes it.
            mode: As :meth:`text` takes it.
        """
        return ()

    def can_state(self, agent: AgentID) -> bool:
        """Whether there are :meth:`facts` of what ``agent`` sees."""
        return False

    def measures(self, agent: AgentID) -> bool:
        """Whether :meth:`facts` are the numbers of a vector, each by its name."""
        return False

    @abstractmethod
    def game(self, agent: AgentID) -> str:
        """What the game is and what is wanted, in a few full sentences."""

    def limit(self, agent: AgentID) -> Limit:
        """How long the game may last; :meth:`briefing` says it once, or where a run cuts it off sooner."""
        return Limit(self.environment.max_episode_steps)

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        """How to read :meth:`text`, in full sentences; ``""`` where it speaks for itself."""
        return ""

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        """The words of a ``Discrete`` action space, in the order of the actions.

        Empty where there are none: then the answer is a number or a list of numbers, or
        :meth:`choices` says the words of every moment.
        """
        return [ActionWord(word) for word in self.environment.action_meanings(agent)]

    def choices(self, agent: AgentID, observation: Any, mask: Mask | None) -> tuple[Choice, ...]:
        """The legal actions of this moment in words, where the words depend on the position."""
        return ()

    def any_action(self, agent: AgentID, mask: Mask | None, draw: int) -> Any:
        """A legal action of this moment, drawn at random.

        Args:
            agent: A current agent.
            mask: Its legal actions.
            draw: A random number; the same one draws the same action.
        """
        return sample_legal(to_space(self.environment.adapter.action_space(agent)), mask, draw)

    def terms(self, agent: AgentID) -> Terms:
        """Words that can be renamed without making it another game.

        By default these are the actions, where each has a meaning beside its word: an agent could not play a
        word that it does not know and that no text explains.
        """
        words = self.actions(agent)
        return Terms(tuple(each.word for each in words) if all(each.meaning for each in words) else ())

    def other_names(self, agent: AgentID, rename: Renaming, seed: int) -> Names:
        """Names for what is wanted of :meth:`terms`; the same of the same seed.

        Args:
            agent: A slot.
            rename: Which of them.
            seed: Which names.
        """
        return made_up(self.terms(agent), rename, seed)

    def retold(self, names: Names, hide_legal: bool) -> Describer:
        """Who draws with other marks, and does not say what is legal; words are replaced in what it says.

        Args:
            names: Of :meth:`other_names`.
            hide_legal: What is legal is not said; only where :meth:`can_hide_legal` holds.
        """
        return self

    def can_hide_legal(self, agent: AgentID) -> bool:
        """Whether one can answer without having been told what is legal."""
        return True

    @property
    def names_are_marks(self) -> bool:
        """Whether :meth:`other_names` are marks on a board, which a picture of it shows as they are."""
        return False

    def can_say(self, agent: AgentID) -> bool:
        """Whether what ``agent`` sees can be put into words."""
        return True

    def sees_all(self, agent: AgentID) -> bool:
        """Whether the whole picture shows ``agent`` no more than it may know."""
        return not self.environment.hidden_information

    def can_draw(self, agent: AgentID) -> bool:
        """Whether there is a :meth:`seat_picture` of ``agent`` once the environment is made to draw.

        By default where it sees everything, and where what it observes is a picture.
        """
        return self.sees_all(agent) or self._observes_picture(agent)

    def _observes_picture(self, agent: AgentID) -> bool:
        space = to_space(self.environment.adapter.observation_space(agent))
        return is_picture(space) and (len(space.shape) == 2 or space.shape[2:] in ((1,), (3,)))

    def seat_picture(self, agent: AgentID, observation: Any) -> Picture | None:
        """What ``agent`` itself may see, as a picture, with where it is marked; its own memory.

        Args:
            agent: A current agent of which :meth:`can_draw` holds.
            observation: As :meth:`text` takes it.

        Returns:
            (H, W, 3) ``uint8``; ``None`` where nothing was drawn.
        """
        if self.sees_all(agent):
            return self.environment.picture()
        return as_picture(observation)

    def legend(self, agent: AgentID) -> str:
        """How to read :meth:`seat_picture`, in full sentences: above all where ``agent`` is in it."""
        return ""

    def cells(self, agent: AgentID, frame: Frame) -> tuple[int, int] | None:
        """Rows and columns of the game's own cells in a picture, which a grid over it should follow.

        Args:
            agent: Who is shown it.
            frame: Whether it is the whole picture, or the one of :meth:`seat_picture`.

        Returns:
            ``None`` where a game has no such cells: then a grid divides the picture evenly.
        """
        return None

    def in_picture(self, agent: AgentID, place: Place, frame: Frame) -> tuple[int, int] | None:
        """Row and column, in the :meth:`cells` of a picture, of a place relative to ``agent``.

        Returns:
            ``None`` where places cannot be found in the picture, or this one is not in it.
        """
        return None

    def briefing(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        """The text that an agent gets once, before its first episode: game, reading, actions."""
        game = " ".join(filter(None, (self.game(agent), self._lasts(agent))))
        parts = [game, self.reading(agent, mode), self._how_to_act(agent)]
        return "\n\n".join(part for part in parts if part)

    def _lasts(self, agent: AgentID) -> str:
        """When a game ends at the latest: one number, be it the environment's or the run's."""
        (own, unit), cut = self.limit(agent), self.environment.cut_off
        if cut is not None and (own is None or cut < own):
            return f"Here a game ends after {cut} step{'s' * (cut != 1)} at the latest."
        return "" if own is None else f"A game ends after {own} {unit} at the latest."

    def _how_to_act(self, agent: AgentID) -> str:
        words = self.actions(agent)
        if not words:
            return action_form(to_space(self.environment.adapter.action_space(agent)))
        lines = [f"- {each.word}: {each.meaning}" if each.meaning else f"- {each.word}" for each in words]
        return "\n".join(("Your actions:", *lines))
