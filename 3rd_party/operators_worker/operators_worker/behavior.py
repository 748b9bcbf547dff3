"""Base classes of behaviors and the list of all behaviors."""

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
"""Name to ``module:class``; a module is imported when its behavior is first used."""

State = TypeVar("State")


class Behavior(ABC):
    """A baseline that chooses actions for one slot.

    Args:
        slot: The slot to play; a subclass checks in its constructor that the spaces fit.

    Raises:
        LoadError: The slot cannot be played this way; the message says what is needed.
    """

    def __init__(self, slot: Slot) -> None:
        self.slot = slot

    @abstractmethod
    def select(self, batch: Batch) -> Any:
        """Return one action for each decision, in the batch's order."""

    def reset(self, starts: Sequence[EpisodeStart]) -> None:
        """Prepare for new episodes; a behavior without memory does nothing."""
        return

    def forget(self, episodes: Iterable[int]) -> None:
        """Drop the memory of finished episodes; a behavior without memory does nothing."""
        return


class EpisodicBehavior(Behavior, Generic[State]):
    """A behavior with a memory for each episode.

    The memory of an episode is created with its first decision and dropped at its end, so any number of
    episodes may be interleaved. A retry of a decision gets the same answer without a second update of the
    memory.
    """

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        self._states: dict[int, State] = {}
        self._last: dict[int, tuple[int, Any]] = {}
        self._seats: dict[int, str] = {}

    @abstractmethod
    def new_state(self, seed: int, agent_id: str) -> State:
        """Return the memory at the start of an episode.

        Args:
            seed: Policy seed of the episode.
            agent_id: The agent to play: that of the slot, unless seats are swapped.
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
    """Build the behavior ``name`` for ``slot``.

    Raises:
        LoadError: The name is unknown (the message names the nearest), or the behavior cannot play the slot.
    """
    target = BEHAVIORS.get(name) if isinstance(name, str) else None
    if target is None:
        near = difflib.get_close_matches(str(name), BEHAVIORS, n=1, cutoff=0.4)
        hint = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(BEHAVIORS)}"
        raise LoadError(f"unknown behavior {name!r}. {hint}")
    module, _, cls = target.partition(":")
    return getattr(import_module(module), cls)(slot)


def require(condition: bool, behavior: str, needs: str, slot: Slot) -> None:
    """Raise an error for a slot that a behavior cannot play.

    Args:
        condition: Whether the slot has what the behavior needs.
        behavior: Name of the behavior.
        needs: What it needs, completing "behavior 'x' needs …".
        slot: The slot, for its environment's and agent's name.

    Raises:
        LoadError: ``condition`` is false.
    """
    if not condition:
        raise LoadError(f"behavior {behavior!r} needs {needs}; {slot.agent_id!r} of {slot.env_id!r} has none")
