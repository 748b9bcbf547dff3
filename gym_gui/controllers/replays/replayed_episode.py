"""Steps one recorded episode through its environment again, one round of decisions at a time.

Replays, films and demonstrations use this module. Verification of a whole run uses the engine itself
(:func:`~gym_gui.controllers.replays.replay.replay_operator`), with the same
:class:`~gym_gui.controllers.replays.replay.ReplayBackend` in its slots.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from gym_gui.controllers.engine.bound_operator import Player
from gym_gui.controllers.engine.episode import Episode
from gym_gui.controllers.engine.episode_rows import SeatCodecs
from gym_gui.controllers.replays.replay import REPLAY, ReplayBackend
from gym_gui.core.enums import ActionSource
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.core.experiment.slot_patterns import is_pattern
from gym_gui.core.records import IN_PROCESS
from gym_gui.core.types import AgentID, Answer, Decision
from gym_gui.envs import Environment
from gym_gui.services.backends import SlotInfo


class ReplayedEpisode:
    """Episode of the engine in which all agents play the recorded actions.

    Args:
        plan: Index and seed.
        environment: Environment of the episode, which nothing else uses while the episode runs.
        slots: Spaces of every agent.
        rows: The episode's rows, as in ``steps.jsonl``.
        max_steps: Environment steps after which the engine cut the episode off, or ``None``.
        seats: Configured slot by seat; by default every agent has its own.
        views: Prompt inputs of slots.

    Attributes:
        episode: The engine's episode, with its results.
        rows: The recorded rows.
        played: How many of the rows have been played.
        pending: Decisions of the next round; empty once the game is over.
    """

    def __init__(
        self,
        plan: EpisodePlan,
        environment: Environment,
        slots: Mapping[AgentID, SlotInfo],
        rows: Sequence[Mapping[str, Any]],
        max_steps: int | None,
        *,
        seats: Mapping[AgentID, AgentID] | None = None,
        views: Mapping[AgentID, PromptInputs] | None = None,
    ) -> None:
        self.rows, self.played = rows, 0
        self.pending: list[Decision] = []
        self._answers: list[Answer] = []
        self._backend = ReplayBackend(slots, lambda _: rows, self._answers.extend)
        patterns = {agent: slot for agent, slot in slots.items() if is_pattern(agent)}
        seats = seats or {agent: agent for agent in slots}
        codecs = SeatCodecs(slots, {seat: slot for seat, slot in seats.items() if seat not in patterns})
        if patterns:
            environment.seat([])
        self.episode = Episode(plan, environment, codecs, max_steps, count(1).__next__, views=views)
        self.episode.patterns, self.episode.on_join = patterns, self._on_join
        self.episode.players = dict.fromkeys(patterns, Player(IN_PROCESS, REPLAY, REPLAY))

    def _on_join(self, episode: Episode, info: SlotInfo) -> None:
        self._backend.seat(episode.index, info.agent_id, info)

    def open(self) -> None:
        """Reset the environment and collect the first decisions.

        Raises:
            EpisodeError: The environment failed.
        """
        self._backend.begin(self.episode.index, self.episode.plan.seed)
        self.episode.open()
        self.pending = self.episode.pending

    def rounds(self) -> Iterator[Sequence[Answer]]:
        """Play on until the game or the record ends; call :meth:`open` first.

        Yields:
            The answers of a round, once the environment has taken the step.

        Raises:
            EpisodeError: The environment failed.
        """
        while self.pending and self.played < len(self.rows):
            self._answers.clear()
            self._backend.ask(self.pending)
            answers = tuple(self._answers)
            if any(answer.failure for answer in answers):
                return
            for answer in answers:
                self.episode.accept(answer, ActionSource.POLICY)
            self.played += len(answers)
            self.episode.advance()
            self.pending = self.episode.pending
            if self.pending and self.played == len(self.rows) and self.rows[-1].get("truncated"):
                self.episode.end_early("")  # a limit, or a clock, ended it here
            yield answers
