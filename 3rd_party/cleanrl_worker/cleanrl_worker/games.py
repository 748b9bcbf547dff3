"""Games of a learner against others, side by side: what it sees when it is its turn.

To the learner they are environments with one agent (see :mod:`cleanrl_worker.vector_environments`); the
other sides are played in between, those of one member in all games together.
"""

# What environments hand out is untyped.
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from cleanrl_worker.config.base import ConfigError
from cleanrl_worker.config.self_play import SelfPlayConfig
from cleanrl_worker.environments import OURS, preprocessing_for
from cleanrl_worker.policy import Policy
from cleanrl_worker.vector_environments import Seen, Transition
from mosaic_worker.environments import make_game
from mosaic_worker.failures import described, one_line, with_place
from mosaic_worker.preprocessing import Pipeline, PreprocessingError
from mosaic_worker.training_command import TrainingFailed


class Result(NamedTuple):
    """A game that is over.

    Attributes:
        opponent: Name of who played the other sides.
        seat: Agent that the learner played.
        total: The learner's undiscounted return.
        others: The best return of another side.
        length: The learner's decisions.
    """

    opponent: str
    seat: str
    total: float
    others: float
    length: int

    @property
    def score(self) -> float:
        """1 where the learner has earned more than every other, 0.5 as much, 0 less."""
        return 0.5 if self.total == self.others else float(self.total > self.others)


class Opponent(Protocol):
    """Who plays the other sides of some games."""

    @property
    def name(self) -> str: ...
    @property
    def policy(self) -> Policy: ...


class _Game:
    """One copy, up to the learner's next turn."""

    def __init__(self, adapter: Any, pipelines: Mapping[str, Pipeline], number: int) -> None:
        self.adapter, self.number, self.episode = adapter, number, 0
        self._streams = {agent: pipeline.stream() for agent, pipeline in pipelines.items()}
        self.opponent: Opponent | None = None

    def begin(self, seed: int, opponent: Opponent, seat: int | None = None) -> None:
        agents = self.adapter.possible_agents
        self.opponent = opponent
        self.seat = agents[(self.number + self.episode if seat is None else seat) % len(agents)]
        self.returns = dict.fromkeys(agents, 0.0)
        self.memory = {agent: np.zeros(opponent.policy.memory, np.float32) for agent in agents}
        self.chosen: dict[str, Any] = {}
        self.earned, self.length, self.ended, self.cut = 0.0, 0, False, False
        for stream in self._streams.values():
            stream.reset()
        words = np.random.SeedSequence((seed, self.number, self.episode)).generate_state(1)
        self._seen(self.adapter.reset(seed=int(words[0]) % 2**31))
        self.episode += 1

    def play(self) -> None:
        """One step, for which everybody has chosen."""
        result = self.adapter.step(self.chosen)
        self.chosen = {}
        for agent, reward in result.rewards.items():
            self.returns[agent] += reward
        self.earned += result.rewards.get(self.seat, 0.0)
        self.ended = result.terminated.get(self.seat, False)
        self.cut = result.truncated.get(self.seat, False) and not self.ended
        self._seen(result.observations)

    @property
    def result(self) -> Result:
        """How it ended."""
        assert self.opponent is not None
        others = max(value for agent, value in self.returns.items() if agent != self.seat)
        return Result(self.opponent.name, self.seat, self.returns[self.seat], others, self.length)

    @property
    def waits_for(self) -> tuple[str, ...]:
        """Other sides whose turn it is and who have not chosen yet."""
        current = self.adapter.get_current_agents()
        return tuple(agent for agent in current if agent != self.seat and agent not in self.chosen)

    @property
    def learner_is_asked(self) -> bool:
        """Whether the learner's turn has come, and it has not chosen yet."""
        return self.seat in self.adapter.get_current_agents() and self.seat not in self.chosen

    def mask(self, agent: str, actions: int) -> NDArray[np.bool_]:
        """What an agent may do."""
        mask = self.adapter.action_mask(agent)
        return np.ones(actions, bool) if mask is None else np.asarray(mask, bool)

    def _seen(self, observations: Mapping[str, Any]) -> None:
        self.shown: dict[str, Any] = {
            **getattr(self, "shown", {}),
            **{agent: self._streams[agent].apply(seen) for agent, seen in observations.items()},
        }


class Games:
    """Copies of a game; the learner changes seats from episode to episode.

    Args:
        config: Which game, how many copies.
        choose: Says who plays the other sides of a game that begins.

    Attributes:
        choose: As given.

    Raises:
        ConfigError: It is no game of the kind, or cannot be made.
    """

    exact = True

    def __init__(self, config: SelfPlayConfig, choose: Callable[[], Opponent]) -> None:
        self.env_id, self.count, self._seed = config.env_id, config.num_envs, config.seed
        self.choose = choose
        self._draws = np.random.default_rng((config.seed, 1))
        adapters = [self._make() for _ in range(self.count)]
        first, *others = adapters[0].possible_agents
        self.raw_observation_space: Any = adapters[0].observation_space(first)
        self.action_space: Any = adapters[0].action_space(first)
        spaces_of = [(adapters[0].observation_space(a), adapters[0].action_space(a)) for a in others]
        if not others or any(each != (self.raw_observation_space, self.action_space) for each in spaces_of):
            raise ConfigError(
                f"self-play is for games whose agents see and act alike, and {self.env_id} "
                f"{'has agents of different kinds' if others else 'is for one agent'}"
            )
        if not isinstance(self.action_space, spaces.Discrete):
            raise ConfigError(f"self-play learns discrete actions; {self.env_id} acts in {self.action_space}")
        self.actions, self._offset = int(self.action_space.n), int(self.action_space.start)
        self.preprocessing = preprocessing_for(config, self.raw_observation_space)
        try:
            pipeline = Pipeline(self.preprocessing, self.raw_observation_space)
        except PreprocessingError as error:
            raise ConfigError(f"observations of {self.env_id} cannot be prepared: {error}") from error
        self.observation_space: Any = pipeline.input_space
        if not isinstance(self.observation_space, spaces.Box):
            raise ConfigError(
                f"{self.env_id} observes {self.observation_space}, which no step makes an array of"
            )
        pipelines = dict.fromkeys([first, *others], pipeline)
        self._games = [_Game(adapter, pipelines, i) for i, adapter in enumerate(adapters)]
        self._results: list[Result] = []

    def begin(self) -> Seen:
        """Begin in every copy, up to the learner's first turn.

        Raises:
            TrainingFailed: The game raised.
        """
        self._in_words(self._begun)
        return self._as_seen()

    def _begun(self) -> None:
        for game in self._games:
            game.begin(self._seed, self.choose())
        self._to_the_learner()

    def step(self, actions: NDArray[Any]) -> Transition:
        """The learner's actions, counted from zero, in every copy; up to its next turn.

        Raises:
            TrainingFailed: The game raised.
        """
        for game, action in zip(self._games, actions, strict=True):
            game.chosen[game.seat] = int(action) + self._offset
            game.length += 1
            game.earned = 0.0
        return self._in_words(self._stepped)

    def taken(self) -> list[Result]:
        """Games that have ended since this was last asked."""
        results, self._results = self._results, []
        return results

    def match(self, policy: Policy, opponent: Opponent, seeds: Sequence[int]) -> list[Result]:
        """Play whole games, the learner's best actions against an opponent; those that were on are given up.

        Args:
            policy: What plays for the learner.
            opponent: Who plays the other sides.
            seeds: A game for each, in another seat each time.
        """
        results: list[Result] = []
        for at in range(0, len(seeds), self.count):
            games = self._games[: len(seeds) - at]
            for i, game in enumerate(games, at):
                game.episode = seeds[i]
                game.begin(self._seed, opponent, seat=i)
            memory = np.zeros((len(games), policy.memory), np.float32)
            self._to_the_learner(games)
            while on := [i for i, game in enumerate(games) if not (game.ended or game.cut)]:
                rows = self._rows([games[i].shown[games[i].seat] for i in on])
                masks = np.stack([games[i].mask(games[i].seat, self.actions) for i in on])
                choices = policy.choose(rows, masks, memory=memory[on] if policy.memory else None)
                for place, i in enumerate(on):
                    games[i].chosen[games[i].seat] = choices.actions[place]
                    games[i].length += 1
                if choices.memory is not None:
                    memory[on] = choices.memory
                self._to_the_learner([games[i] for i in on])
            results += [game.result for game in games]
        return results

    def state(self, step: int) -> dict[str, Any]:
        """Games that were on are begun anew; those to come are others."""
        return {"episodes": [game.episode for game in self._games]}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on after :meth:`state`."""
        for game, episode in zip(self._games, state["episodes"], strict=True):
            game.episode = int(episode)

    def close(self) -> None:
        """Let go of the games."""
        for game in self._games:
            game.adapter.close()

    def _stepped(self) -> Transition:
        self._to_the_learner()
        over = [game for game in self._games if game.ended or game.cut]
        rewards = np.array([game.earned for game in self._games], np.float64)
        terminated = np.array([game.ended for game in self._games])
        truncated = np.array([game.cut for game in self._games])
        final = None
        if truncated.any():
            final = Seen(self._rows([game.shown[game.seat] for game in self._games]), None)
        results = [game.result for game in over]
        self._results += results
        for game in over:
            game.begin(self._seed, self.choose())
        self._to_the_learner()
        finished = tuple((result.total, result.length) for result in results)
        return Transition(self._as_seen(), rewards, terminated, truncated, final, finished)

    def _to_the_learner(self, games: Sequence[_Game] = ()) -> None:
        """Let the other sides play until each of these games, or of all, is over or waits for the learner."""
        while True:
            playing = [g for g in games or self._games if not (g.ended or g.cut) and not g.learner_is_asked]
            if not playing:
                return
            self._others_choose([game for game in playing if game.waits_for])
            for game in playing:
                game.play()

    def _others_choose(self, games: Sequence[_Game]) -> None:
        by_policy: dict[int, list[tuple[_Game, str]]] = {}
        for game in games:
            for agent in game.waits_for:
                by_policy.setdefault(id(game.opponent), []).append((game, agent))
        for asked in by_policy.values():
            opponent = asked[0][0].opponent
            assert opponent is not None
            rows = self._rows([game.shown[agent] for game, agent in asked])
            masks = np.stack([game.mask(agent, self.actions) for game, agent in asked])
            policy = opponent.policy
            memory = np.stack([game.memory[agent] for game, agent in asked]) if policy.memory else None
            draws = self._draws.random((len(asked),))
            choices = policy.choose(rows, masks, lambda _, draws=draws: draws, memory)
            for i, (game, agent) in enumerate(asked):
                game.chosen[agent] = choices.actions[i]
                if choices.memory is not None:
                    game.memory[agent] = choices.memory[i]

    def _as_seen(self) -> Seen:
        masks = np.stack([game.mask(game.seat, self.actions) for game in self._games])
        rows = self._rows([game.shown[game.seat] for game in self._games])
        return Seen(rows, None if masks.all() else masks)

    def _rows(self, shown: Sequence[Any]) -> NDArray[Any]:
        rows = np.stack(shown)
        return rows if rows.dtype == np.uint8 else rows.astype(np.float32)

    def _in_words(self, do: Callable[[], Any]) -> Any:
        try:
            return do()
        except ConfigError:
            raise
        except Exception as error:  # foreign code may raise anything
            raise TrainingFailed(f"{self.env_id} raised {described(error, OURS)}") from error

    def _make(self) -> Any:
        try:
            return make_game(self.env_id)
        except (ImportError, ValueError, TypeError, AttributeError) as error:
            raise ConfigError(
                with_place(f"game {self.env_id!r} cannot be made: {one_line(error)}", error, OURS)
            ) from error
