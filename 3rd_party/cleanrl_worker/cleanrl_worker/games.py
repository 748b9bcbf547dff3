"""Copies of a game in which a learner plays one agent and other players play the other agents.

To the learner a game is an environment with one agent (see :mod:`cleanrl_worker.vector_environments`), which
has only the learner's own turns. MOSAIC's engine plays the games, so the learner can play against any player
that can fill a slot.
"""

# Values returned by environments are untyped.

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from cleanrl_worker.config.self_play import SelfPlayConfig
from cleanrl_worker.environments import OURS, preprocessing_for
from cleanrl_worker.moments import RewardScale
from cleanrl_worker.policy import Policy
from cleanrl_worker.seated_policy import SeatedPolicy, seated
from cleanrl_worker.vector_environments import PolicyInput, Transition
from mosaic_worker.environments import open_learner_session
from mosaic_worker.failures import described, one_line, with_place
from mosaic_worker.learning.training_command import ConfigError, TrainingFailed
from mosaic_worker.preprocessing import Pipeline, PreprocessingError
from mosaic_worker.worker import LoadError

_MOST_FAILURES = 5
"""Number of consecutive failed games with one player that end the training; a single failed game is
truncated.
"""


class GameResult(NamedTuple):
    """Result of a finished game.

    Attributes:
        others: Name of the player of the other agents.
        seat: Agent that the learner played.
        total: The learner's undiscounted return.
        score: 1 if the learner's side won, 0.5 for a draw, 0 if it lost; ``None`` if all agents are on one
            side.
        length: Number of decisions of the learner.
        error: Error that ended the game; empty without one.
    """

    others: str
    seat: str
    total: float
    score: float | None
    length: int
    error: str = ""


@dataclass
class _Row:
    """One copy of the game: its current game, the learner's seat in it and its last observation."""

    stream: Any
    index: int = -1
    seat: str = ""
    others: str = ""
    length: int = 0
    shown: Any = None
    mask: NDArray[np.bool_] | None = None


class Games:
    """Copies of a game; if agents are alike, the learner changes seats from episode to episode.

    Args:
        config: Settings: the game, the number of copies and the pool.
        on_log: Called with each message about workers of the pool.
        on_call: Called, as JSON, with each paid call that a worker of the pool makes to a model.

    Attributes:
        choose: Called when a game begins; returns the name of the player of the other agents. Set it before
            :meth:`begin`.
        invited: Players of the pool that the learner can meet: ``name``, ``plays`` and ``folder`` of each.
        agents: Agents that the learner plays in turn.
        cooperative: Whether all agents are on one side.
        all_alike: Whether the learner can play each of the agents.

    Raises:
        ConfigError: The environment is not such a game, cannot be made, or a member of the pool cannot play
            it.
    """

    exact = True

    def __init__(
        self,
        config: SelfPlayConfig,
        on_log: Callable[[str], None] = lambda text: None,
        on_call: Callable[[str], None] = lambda call: None,
    ) -> None:
        self.env_id, self.count, self._seed = config.env_id, config.num_envs, config.seed
        self.choose: Callable[[], str] = _no_opponent
        self._session, self.invited = self._open(config, on_log, on_call)
        try:
            self._describe(config)
        except BaseException:
            self._session.close()
            raise
        self._rows = [_Row(self._pipeline.stream()) for _ in range(self.count)]
        self._next, self._gamma = 0, config.gamma
        self._scale = RewardScale(self.count, config.gamma) if config.normalize_rewards else None
        self._failures: dict[str, int] = {}
        self._results: list[GameResult] = []

    def _open(
        self, config: SelfPlayConfig, on_log: Callable[[str], None], on_call: Callable[[str], None]
    ) -> tuple[Any, Sequence[Any]]:
        try:
            return open_learner_session(
                config.env_id,
                config.pool_entries,
                seated,
                learner=config.seat,
                concurrency=config.num_envs,
                on_log=on_log,
                on_call=on_call,
            )
        except LoadError as error:
            raise ConfigError(str(error)) from error
        except (ImportError, ValueError, TypeError, AttributeError) as error:
            raise ConfigError(
                with_place(f"{self.env_id} cannot be played: {one_line(error)}", error, OURS)
            ) from error

    def _describe(self, config: SelfPlayConfig) -> None:
        session = self._session
        slot = session.slots[session.seats[0]]
        self.raw_observation_space: Any = slot.observation_space
        self.action_space: Any = slot.action_space
        self.agents = tuple(session.seats)
        self.cooperative = len(session.teams) < 2
        self.all_alike = len(session.seats) == len(session.slots)
        if len(session.slots) < 2:
            raise ConfigError(f"self-play is for games of several agents, but {self.env_id} has one agent")
        if not self.all_alike and not config.seat:
            raise ConfigError(
                f"{self.env_id} has agents of different kinds: name the agent that learns, "
                f"--seat {session.seats[0]}, and the players of the others, --pool"
            )
        if not isinstance(self.action_space, spaces.Discrete):
            raise ConfigError(f"self-play learns discrete actions; but {self.env_id} has {self.action_space}")
        self.actions, self._offset = int(self.action_space.n), int(self.action_space.start)
        self.preprocessing = preprocessing_for(config, self.raw_observation_space)
        try:
            self._pipeline = Pipeline(self.preprocessing, self.raw_observation_space)
        except PreprocessingError as error:
            raise ConfigError(f"observations of {self.env_id} cannot be prepared: {error}") from error
        self.observation_space: Any = self._pipeline.input_space
        if not isinstance(self.observation_space, spaces.Box):
            raise ConfigError(
                f"{self.env_id} observes {self.observation_space}, which cannot be converted to an array"
            )

    def register(self, name: str, policy: SeatedPolicy) -> None:
        """Register a policy under a name, so that the learner can play with it."""
        self._session.register_policy(name, policy)

    def begin(self) -> PolicyInput:
        """Begin a game in every copy, up to the learner's first turn.

        Raises:
            TrainingFailed: The game raised, or a player of the other agents could not be started.
        """
        self._in_words(lambda: self._fill(self._rows))
        return self._as_seen()

    def step(self, actions: NDArray[Any]) -> Transition:
        """Play the learner's actions, counted from zero, in every copy, up to its next turn.

        Raises:
            TrainingFailed: The game raised, or games with one player failed several times in a row.
        """
        return self._in_words(lambda: self._stepped(actions))

    def ended_games(self) -> list[GameResult]:
        """Return the games that ended since the last call, without failed ones."""
        results, self._results = self._results, []
        return results

    def match(self, policy: Policy, others: str, seeds: Sequence[int]) -> list[GameResult]:
        """Play whole games of the learner's best actions against one player; running games are abandoned.

        Args:
            policy: Policy that plays for the learner.
            others: Name of the player of the other agents.
            seeds: Seed of each game; the learner's seat changes from game to game.

        Raises:
            TrainingFailed: Games failed several times in a row.
        """
        self._in_words(self._session.abandon)
        results: dict[int, GameResult] = {}
        error, fruitless = "", 0
        while len(results) < len(seeds):
            before = len(results)
            left = [i for i in range(len(seeds)) if i not in results]
            for at in range(0, len(left), self.count):
                part = left[at : at + self.count]
                played = self._in_words(lambda part=part: self._matched(policy, others, seeds, part))
                results |= {i: result for i, result in played.items() if not result.error}
                error = next((result.error for result in played.values() if result.error), error)
            fruitless = fruitless + 1 if len(results) == before else 0
            if fruitless >= _MOST_FAILURES:
                raise TrainingFailed(f"{fruitless} games in a row with {others} failed: {error}")
        return [results[i] for i in range(len(seeds))]

    def state(self, step: int) -> dict[str, Any]:
        """Return the number of the next game and the reward scale; games in progress are not included."""
        return {
            "next": self._next,
            "reward_scale": None if self._scale is None else self._scale.state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a result of :meth:`state`; new games begin in place of the games that were in
        progress.
        """
        self._next = int(state["next"])
        if self._scale is not None:
            self._scale = RewardScale(self.count, self._gamma, state["reward_scale"])

    def close(self) -> None:
        """Close the games and release the other players."""
        self._session.close()

    # -- while the learner learns --

    def _stepped(self, actions: NDArray[Any]) -> Transition:
        rows = self._rows
        rewards, final = np.zeros(self.count), None
        terminated, truncated = np.zeros(self.count, bool), np.zeros(self.count, bool)
        finals: dict[int, Any] = {}
        for row in rows:
            row.length += 1
        chosen = {row.index: int(action) + self._offset for row, action in zip(rows, actions, strict=True)}
        places = {row.index: i for i, row in enumerate(rows)}
        progress = self._session.step(chosen)
        for outcome in progress.outcomes:
            i = places[outcome.episode]
            rewards[i] += outcome.reward
            terminated[i], truncated[i] = outcome.terminated, outcome.truncated and not outcome.terminated
            if truncated[i]:
                finals[i] = rows[i].stream.apply(outcome.observation)
        over = [
            (places[each.episode], self._result(rows[places[each.episode]], each)) for each in progress.over
        ]
        for i, _ in over:
            if not terminated[i]:
                truncated[i] = True  # the game failed, or did not report an end
        if truncated.any():
            shown = [finals.get(i, row.shown) for i, row in enumerate(rows)]
            final = PolicyInput(self._stacked(shown), None)
        self._see(rows, progress.decisions)
        self._note([result for _, result in over])
        self._fill([rows[i] for i, _ in over])
        if self._scale is not None:
            rewards = self._scale(rewards, terminated | truncated)
        finished = tuple((result.total, result.length) for _, result in over if not result.error)
        return Transition(self._as_seen(), rewards, terminated, truncated, final, finished)

    def _fill(self, rows: Sequence[_Row]) -> None:
        """Begin games until the learner has its first turn in each of these copies."""
        waiting = list(rows)
        while waiting:
            games = [self._game(row) for row in waiting]
            progress = self._session.begin(games)
            places = {row.index: row for row in waiting}
            self._note([self._result(places[each.episode], each) for each in progress.over])
            self._see(waiting, progress.decisions)
            # A game that ended before the learner's first turn is replaced by another.
            waiting = [places[each.episode] for each in progress.over]

    def _game(self, row: _Row, seat: int | None = None, others: str = "", seed: int | None = None) -> Any:
        """Return the next game of a copy, as ``gym_gui.evaluation.learning.Game``."""
        seats = self._session.seats
        row.index, row.length = self._next, 0
        self._next += 1
        row.seat = seats[(row.index if seat is None else seat) % len(seats)]
        row.others = others or self.choose()
        row.stream.reset()
        words = np.random.SeedSequence((self._seed, row.index if seed is None else seed)).generate_state(1)
        return self._session.game(row.index, int(words[0]) % 2**31, row.seat, row.others)

    def _note(self, results: Sequence[GameResult]) -> None:
        """Keep results; raise if games with one player failed several times in a row."""
        done = {result.others for result in results if not result.error}
        failed = {result.others: result.error for result in results if result.error}
        for others in done:
            self._failures.pop(others, None)
        for others, error in failed.items():
            times = self._failures[others] = self._failures.get(others, 0) + (others not in done)
            if times >= _MOST_FAILURES:
                raise TrainingFailed(f"{times} games in a row with {others} failed: {error}")
        self._results += [result for result in results if not result.error]

    # -- a match --

    def _matched(
        self, policy: Policy, others: str, seeds: Sequence[int], part: Sequence[int]
    ) -> dict[int, GameResult]:
        """Play one game for each index in ``part``; return results by index of the seed."""
        rows = self._rows[: len(part)]
        games = [self._game(row, i, others, seeds[i]) for row, i in zip(rows, part, strict=True)]
        places = {row.index: i for i, row in enumerate(rows)}
        results: dict[int, GameResult] = {}
        memory = np.zeros((len(rows), policy.memory), np.float32)
        progress = self._session.begin(games)
        while True:
            for over in progress.over:
                i = places[over.episode]
                results[part[i]] = self._result(rows[i], over)
            asked = sorted(places[index] for index in progress.decisions)
            if not asked:
                return results
            self._see(rows, progress.decisions)
            shown = self._stacked([rows[i].shown for i in asked])
            masks = np.stack([self._mask(rows[i]) for i in asked])
            choices = policy.choose(shown, masks, memory=memory[asked] if policy.memory else None)
            if choices.memory is not None:
                memory[asked] = choices.memory
            for i in asked:
                rows[i].length += 1
            progress = self._session.step(
                {rows[i].index: choices.actions[place] for place, i in enumerate(asked)}
            )

    # -- what is seen --

    def _see(self, rows: Sequence[_Row], decisions: Mapping[int, Any]) -> None:
        for row in rows:
            decision = decisions.get(row.index)
            if decision is not None:
                row.shown = row.stream.apply(decision.observation)
                mask = decision.action_mask
                row.mask = None if mask is None else np.asarray(mask, bool)

    def _mask(self, row: _Row) -> NDArray[np.bool_]:
        return np.ones(self.actions, bool) if row.mask is None else row.mask

    def _as_seen(self) -> PolicyInput:
        masks = None
        if any(row.mask is not None for row in self._rows):
            masks = np.stack([self._mask(row) for row in self._rows])
        return PolicyInput(self._stacked([row.shown for row in self._rows]), masks)

    def _stacked(self, shown: Sequence[Any]) -> NDArray[Any]:
        rows = np.stack(shown)
        return rows if rows.dtype == np.uint8 else rows.astype(np.float32)

    @staticmethod
    def _result(row: _Row, over: Any) -> GameResult:
        return GameResult(row.others, row.seat, over.total, over.score, row.length, over.error)

    def _in_words(self, do: Callable[[], Any]) -> Any:
        try:
            return do()
        except (ConfigError, TrainingFailed):
            raise
        except Exception as error:  # third-party code may raise anything
            raise TrainingFailed(f"{self.env_id} cannot be continued: {described(error, OURS)}") from error


def _no_opponent() -> str:
    raise AssertionError("no opponent was chosen")
