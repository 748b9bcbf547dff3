"""What every behaviour is, and the list of those there are."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, Generic, TypeVar

from mosaic_worker.worker import Batch, EpisodeStart, LoadError, Slot

BEHAVIORS: dict[str, str] = {
    "random": "operators_worker.random_legal:RandomLegal",
    "noop": "operators_worker.fixed:Noop",
    "cycle": "operators_worker.fixed:Cycle",
    "minigrid_path": "operators_worker.minigrid_path:MiniGridPath",
    "minigrid_manager": "operators_worker.minigrid_two_levels:MiniGridManager",
    "minigrid_skills": "operators_worker.minigrid_two_levels:MiniGridSkills",
    "soccer_chaser": "operators_worker.soccer_chaser:SoccerChaser",
    "soccer_manager": "operators_worker.soccer_two_levels:SoccerManager",
    "soccer_skills": "operators_worker.soccer_two_levels:SoccerSkills",
    "connect_four_one_ply": "operators_worker.connect_four_one_ply:ConnectFourOnePly",
    "tictactoe_one_ply": "operators_worker.tictactoe_one_ply:TicTacToeOnePly",
}
"""Name to ``module:class``; a module is imported when its behaviour is first asked for."""

State = TypeVar("State")


class Behavior(ABC):
    """Decides for one slot.

    Args:
        slot: The slot to play; a subclass checks in its constructor that the spaces fit.

    Raises:
        LoadError: When the slot cannot be played this way; says what would be needed.
    """

    def __init__(self, slot: Slot) -> None:
        self.slot = slot

    @abstractmethod
    def select(self, batch: Batch) -> Any:
        """One action per decision, in the batch's order."""

    def reset(self, starts: Sequence[EpisodeStart]) -> None:
        """Episodes begin; a behaviour without memory has nothing to do."""
        return

    def forget(self, episodes: Iterable[int]) -> None:
        """Episodes are over; likewise."""
        return


class EpisodicBehavior(Behavior, Generic[State]):
    """A behaviour that remembers something within an episode.

    The memory of an episode starts with its first decision and goes when it ends, so
    any number of episodes may be interleaved. A retry of a decision gets the same
    answer without a second update of the memory.
    """

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        self._states: dict[int, State] = {}
        self._last: dict[int, tuple[int, Any]] = {}
        self._seats: dict[int, str] = {}

    @abstractmethod
    def new_state(self, seed: int, agent_id: str) -> State:
        """Memory at the start of an episode.

        Args:
            seed: Policy seed of the episode.
            agent_id: The agent played in it: the slot's own, unless seats are swapped.
        """

    @abstractmethod
    def act(self, state: State, batch: Batch, i: int) -> Any:
        """Decide the ``i``-th decision of ``batch`` and update ``state``."""

    def select(self, batch: Batch) -> list[Any]:
        return [self._answer(batch, i) for i in range(len(batch))]

    def _answer(self, batch: Batch, i: int) -> Any:
        episode, step = batch.episodes[i], batch.steps[i]
        last = self._last.get(episode)
        if last is not None and last[0] == step:
            return last[1]
        state = self._states.get(episode)
        if state is None:
            state = self._states[episode] = self.new_state(
                int(batch.seeds[i]), self._seats.get(episode, self.slot.agent_id)
            )
        action = self.act(state, batch, i)
        self._last[episode] = (step, action)
        return action

    def reset(self, starts: Sequence[EpisodeStart]) -> None:
        self.forget(start.episode for start in starts)
        self._seats.update((start.episode, start.agent_id or self.slot.agent_id) for start in starts)

    def forget(self, episodes: Iterable[int]) -> None:
        for episode in episodes:
            self._states.pop(episode, None)
            self._last.pop(episode, None)
            self._seats.pop(episode, None)


def make_behavior(name: object, slot: Slot) -> Behavior:
    """Build the behaviour ``name`` for ``slot``.

    Raises:
        LoadError: When there is none of that name (the nearest is named), or it cannot play the slot.
    """
    target = BEHAVIORS.get(name) if isinstance(name, str) else None
    if target is None:
        near = difflib.get_close_matches(str(name), BEHAVIORS, n=1, cutoff=0.4)
        hint = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(BEHAVIORS)}"
        raise LoadError(f"unknown behavior {name!r}. {hint}")
    module, _, cls = target.partition(":")
    return getattr(import_module(module), cls)(slot)


def require(condition: bool, behavior: str, needs: str, slot: Slot) -> None:
    """Refuse a slot that a behaviour cannot play.

    Args:
        condition: Whether the slot has what is needed.
        behavior: Name of the behaviour.
        needs: What it needs, completing "behavior 'x' needs …".
        slot: The slot, for its environment's and agent's name.

    Raises:
        LoadError: When ``condition`` is false.
    """
    if not condition:
        raise LoadError(f"behavior {behavior!r} needs {needs}; {slot.agent_id!r} of {slot.env_id!r} has not")
