"""Base class of describers, which express observations and actions of an environment as text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

from gym_gui.core.experiment.prompt_inputs import Frame, Mode, Renaming
from gym_gui.core.paradigms import RelativePosition
from gym_gui.core.spaces import sample_legal, to_space
from gym_gui.core.types import AgentID, Choice, Mask
from gym_gui.envs.describers.other_words import Terms, made_up
from gym_gui.envs.describers.value_words import action_form, is_picture
from gym_gui.envs.facts import Fact
from gym_gui.envs.instance import Instance
from gym_gui.envs.pictures import Picture, as_picture
from mosaic_worker.renaming import Names


class ActionWord(NamedTuple):
    """Name and meaning of a discrete action, for prompts.

    Attributes:
        word: Name with which the agent answers, for example ``"forward"``.
        meaning: What the action does, in a few words without a full stop; may be ``""``.
    """

    word: str
    meaning: str = ""


class Limit(NamedTuple):
    """Longest duration of a game, for prompts.

    Attributes:
        most: Largest number of units by the rules of this instance; ``None`` if there is no limit or it is
            unknown.
        unit: Unit of ``most``.
    """

    most: int | None
    unit: str = "steps"


class Describer(ABC):
    """Describer of one environment instance; its methods are called between steps.

    A describer may read the environment's state, but its texts contain only the information of an agent's
    observation (and, in mode ``visible_teammates``, the team-mates inside the field of view). It changes
    nothing, draws no random numbers, and returns the same text for the same state.

    Args:
        environment: The described instance.
    """

    def __init__(self, environment: Instance) -> None:
        self.environment = environment

    @abstractmethod
    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        """Return the current observation of ``agent`` as text.

        Args:
            agent: A current agent.
            observation: Observation from the environment, without the action mask.
            mode: Whether team-mates inside the field of view are named.
        """

    def facts(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> Sequence[Fact]:
        """Return the current observation of ``agent`` as ground facts, with the information of :meth:`text`.

        Args:
            agent: A current agent for which :meth:`can_state` is true.
            observation: As in :meth:`text`.
            mode: As in :meth:`text`.
        """
        return ()

    def can_state(self, agent: AgentID) -> bool:
        """Return whether :meth:`facts` supports the observations of ``agent``."""
        return False

    def measures(self, agent: AgentID) -> bool:
        """Return whether :meth:`facts` are the named numbers of a vector."""
        return False

    @abstractmethod
    def game(self, agent: AgentID) -> str:
        """Return sentences about the game and its goal, for ``agent``."""

    def limit(self, agent: AgentID) -> Limit:
        """Return the longest duration of a game; :meth:`briefing` mentions it, or a run's shorter limit."""
        return Limit(self.environment.max_episode_steps)

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        """Return sentences that explain :meth:`text`; ``""`` if it needs no explanation."""
        return ""

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        """Return the names of a ``Discrete`` action space, in the order of the actions.

        The result is empty if the actions have no names: then an answer is a number or a list of numbers, or
        :meth:`choices` returns names for the current position.
        """
        return [ActionWord(word) for word in self.environment.action_meanings(agent)]

    def choices(self, agent: AgentID, observation: Any, mask: Mask | None) -> tuple[Choice, ...]:
        """Return the legal actions with names, if the names depend on the current position; else ``()``."""
        return ()

    def any_action(self, agent: AgentID, mask: Mask | None, draw: int) -> Any:
        """Return a random action that is legal now.

        Args:
            agent: A current agent.
            mask: Mask of the agent's legal actions, or ``None``.
            draw: A random number; the same number gives the same action.
        """
        return sample_legal(to_space(self.environment.adapter.action_space(agent)), mask, draw)

    def terms(self, agent: AgentID) -> Terms:
        """Return the names that can be replaced in prompts without changing the game.

        By default these are the actions, if each has a meaning in addition to its name: an agent could not
        use an unknown name that no text explains.
        """
        words = self.actions(agent)
        return Terms(tuple(each.word for each in words) if all(each.meaning for each in words) else ())

    def other_names(self, agent: AgentID, rename: Renaming, seed: int) -> Names:
        """Return replaced names for some of :meth:`terms`; the same seed gives the same names.

        Args:
            agent: A slot.
            rename: Which terms get new names.
            seed: Seed of the names.
        """
        return made_up(self.terms(agent), rename, seed)

    def retold(self, names: Names, hide_legal: bool) -> Describer:
        """Return a describer with replaced marks and, if requested, without legal actions.

        Names in texts are replaced later, by :class:`RenamedDescriber`.

        Args:
            names: Names from :meth:`other_names`.
            hide_legal: Whether legal actions are left out; only if :meth:`can_hide_legal` is true.
        """
        return self

    def can_hide_legal(self, agent: AgentID) -> bool:
        """Return whether an agent can answer if the prompt does not list the legal actions."""
        return True

    @property
    def names_are_marks(self) -> bool:
        """Whether :meth:`other_names` are marks on a board, which a picture of the board does not show."""
        return False

    def can_say(self, agent: AgentID) -> bool:
        """Return whether the observations of ``agent`` can be expressed as text."""
        return True

    def sees_all(self, agent: AgentID) -> bool:
        """Return whether the whole picture shows ``agent`` only what it may know."""
        return not self.environment.hidden_information

    def can_draw(self, agent: AgentID) -> bool:
        """Return whether :meth:`seat_picture` supports ``agent`` in an environment that renders.

        By default it does if the agent sees everything or its observation is a picture.
        """
        return self.sees_all(agent) or self._observes_picture(agent)

    def _observes_picture(self, agent: AgentID) -> bool:
        space = to_space(self.environment.adapter.observation_space(agent))
        return is_picture(space) and (len(space.shape) == 2 or space.shape[2:] in ((1,), (3,)))

    def seat_picture(self, agent: AgentID, observation: Any) -> Picture | None:
        """Return a new picture of what ``agent`` may see, with its own position marked.

        Args:
            agent: A current agent for which :meth:`can_draw` is true.
            observation: As in :meth:`text`.

        Returns:
            RGB picture of shape (H, W, 3), ``uint8``; ``None`` if nothing was drawn.
        """
        if self.sees_all(agent):
            return self.environment.picture()
        return as_picture(observation)

    def legend(self, agent: AgentID) -> str:
        """Return sentences that explain :meth:`seat_picture`, above all the position of ``agent`` in it."""
        return ""

    def cells(self, agent: AgentID, frame: Frame) -> tuple[int, int] | None:
        """Return rows and columns of the game's cells in a picture, for a grid over the picture.

        Args:
            agent: Agent that gets the picture.
            frame: Which picture: the whole one, or that of :meth:`seat_picture`.

        Returns:
            ``None`` if the picture has no cells of the game; then a grid divides it evenly.
        """
        return None

    def in_picture(self, agent: AgentID, place: RelativePosition, frame: Frame) -> tuple[int, int] | None:
        """Return the cell of a picture (row, column) that shows a position relative to ``agent``.

        Returns:
            ``None`` if the picture has no cells, or the position is outside of it.
        """
        return None

    def briefing(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        """Return the text that an agent gets once, before its first episode: game, reading, actions."""
        game = " ".join(filter(None, (self.game(agent), self._lasts(agent))))
        parts = [game, self.reading(agent, mode), self._how_to_act(agent)]
        return "\n\n".join(part for part in parts if part)

    def _lasts(self, agent: AgentID) -> str:
        """Return a sentence about the longest game, from the shorter of the game's and the run's limits."""
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
