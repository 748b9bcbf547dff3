"""Self-play: PPO against its own past selves and a pool, each met according to how strong it is.

A game is an environment with one agent for the learner (:mod:`cleanrl_worker.games`), the algorithm is PPO
(:mod:`cleanrl_worker.ppo`); what is particular is whom it meets. Now and then the learner leaves itself in
its league (:mod:`cleanrl_worker.league`) as it is; mixing the latest of these with older ones keeps it from
forgetting how to beat them (Heinrich, Lanctot and Silver, "Fictitious Self-Play in Extensive-Form Games",
2015).
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import safetensors.torch

from cleanrl_worker.config.self_play import SelfPlayConfig
from cleanrl_worker.games import Games
from cleanrl_worker.league import League, Member, members_of
from cleanrl_worker.policy import Policy
from cleanrl_worker.ppo import PPO, collect_rollout, update
from cleanrl_worker.session import Session, finite_weights
from mosaic_worker.checkpoint import save_checkpoint
from mosaic_worker.evaluation import EVALUATION_SEEDS, Interrupted
from mosaic_worker.training_report import RECENT


@dataclass(frozen=True)
class Opponent:
    """A member, ready to play."""

    name: str
    policy: Policy


class Opponents:
    """The league as those who sit down at the board.

    Args:
        config: Every setting.
    """

    def __init__(self, config: SelfPlayConfig) -> None:
        self._config = config
        self._draws = np.random.default_rng((config.seed, 2))
        self._ready: dict[str, Opponent] = {}
        self.league: League | None = None

    def __call__(self) -> Opponent:
        """Who plays the other sides of a game that begins."""
        assert self.league is not None
        odds = self.league.odds(self._config.matchmaking)
        return self.of(self.league.members[int(self._draws.choice(len(odds), p=odds))])

    def of(self, member: Member) -> Opponent:
        """A member, its policy read once."""
        assert self.league is not None
        found = self._ready.get(member.name)
        if found is None:
            policy = Policy.load(self.league.place(member))
            found = self._ready[member.name] = Opponent(member.name, policy)
        return found


def make_games(config: SelfPlayConfig) -> Games:
    """The games of a training; they begin when it has a league.

    Raises:
        ConfigError: It is no game of the kind, or somebody of the pool is missing.
    """
    members_of(config.pool_folders)
    return Games(config, Opponents(config))


def train(config: SelfPlayConfig, games: Games, session: Session) -> PPO:
    """Train until ``config.total_steps`` are spent or the session says to stop.

    Args:
        config: Every setting; a step is one decision of the learner.
        games: Where it learns; the caller closes them.
        session: Hears how it goes, and says when to stop.

    Raises:
        TrainingFailed: A loss is no finite number, or a game raised.
        ConfigError: A league that is gone on with has lost a member.
    """
    learner = PPO(config, games, session.device, session.restored)
    opponents = games.choose
    assert isinstance(opponents, Opponents)
    if session.restored is None:
        league = opponents.league = League(session.folder, members_of(config.pool_folders))
        leave(league, learner, session)
    else:
        league = opponents.league = League.read(session.folder)
    recent: deque[float] = deque(maxlen=RECENT)
    seen = games.begin()
    for number in range(session.step // config.batch_size, config.num_updates):
        learner.anneal(number)
        rollout, seen = collect_rollout(learner, games, session, seen)
        for result in games.taken():
            league.played(next(m for m in league.members if m.name == result.opponent), result.score)
            recent.append(result.score)
        metrics = update(learner, rollout)
        if recent:
            metrics |= {"league/rating": league.rating, "league/score": sum(recent) / len(recent)}
        session.metrics(session.step, {**metrics, "league/members": len(league.members)})
        if (
            session.step // config.snapshot_every
            > (session.step - config.batch_size) // config.snapshot_every
        ):
            leave(league, learner, session)
        league.write(session.step)
        if not session.advance(session.step, learner):
            break
    return learner


def leave(league: League, learner: PPO, session: Session) -> None:
    """Have the learner as it is now in the league."""
    name = f"past_{session.step:09d}"
    if any(member.name == name for member in league.members):
        return  # gone on with from just here
    description = session.describe(learner)
    save_checkpoint(league.folder / name, description, safetensors.torch.save(finite_weights(learner)))
    league.add(Member(name, name, session.step, league.rating))
    league.write(session.step)


def evaluate(games: Games, policy: Policy, go_on: Callable[[], bool]) -> float:
    """Mean return of a policy's best actions against all members, each met as often in every seat.

    Args:
        games: Of the training; those that are on are given up.
        policy: What is evaluated.
        go_on: Asked between members; false ends the evaluation.

    Raises:
        Interrupted: ``go_on`` said so.
    """
    opponents = games.choose
    assert isinstance(opponents, Opponents)
    assert opponents.league is not None
    totals: list[float] = []
    for member in opponents.league.members:
        if not go_on():
            raise Interrupted
        totals += [result.total for result in games.match(policy, opponents.of(member), EVALUATION_SEEDS)]
    return float(np.mean(totals))
