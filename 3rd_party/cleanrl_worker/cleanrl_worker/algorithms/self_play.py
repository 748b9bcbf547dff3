"""Self-play: PPO against its own past selves and a pool, each met according to how strong it is.

A game is an environment with one agent for the learner (:mod:`cleanrl_worker.games`), the algorithm is PPO
(:mod:`cleanrl_worker.algorithms.ppo`); what is particular is whom it meets. Where all agents are on one side
they are its partners. Now and then the learner leaves itself in its league
(:mod:`cleanrl_worker.algorithms.league`) as it is; mixing the latest of these with older ones keeps it from
forgetting how to beat them (Heinrich, Lanctot and Silver, "Fictitious Self-Play in Extensive-Form Games",
2015).
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path

import numpy as np
import safetensors.torch

from cleanrl_worker.algorithms.league import League, Member
from cleanrl_worker.algorithms.ppo import PPO, collect_rollout, update
from cleanrl_worker.config.self_play import SelfPlayConfig
from cleanrl_worker.games import Games
from cleanrl_worker.policy import Policy
from cleanrl_worker.seated_policy import SeatedPolicy
from cleanrl_worker.session import Session
from mosaic_worker.checkpoint import save_checkpoint
from mosaic_worker.learning.evaluation import EVALUATION_SEEDS, Interrupted
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.learning.training_report import RECENT
from mosaic_worker.training import CALLS, LEAGUE, PAST


def make_games(config: SelfPlayConfig, folder: Path, warn: Callable[[str], None]) -> Games:
    """The games of a training; they begin when it has a league.

    Args:
        config: Every setting.
        folder: The run folder.
        warn: Called with what is wrong with a member of the pool.

    Raises:
        ConfigError: It is no game of the kind, or a member of the pool is missing or cannot play it.
    """

    def paid(call: str) -> None:
        with (folder / CALLS).open("a", encoding="utf-8") as calls:
            calls.write(call + "\n")

    games = Games(config, warn, paid)
    if not games.all_alike and config.snapshot_every:
        games.close()
        raise ConfigError(
            f"agents of {config.env_id} are of different kinds, and past selves of {config.seat} cannot play "
            "the others. Set snapshot_every to 0, and name a pool"
        )
    return games


def train(config: SelfPlayConfig, games: Games, session: Session) -> PPO:
    """Train until ``config.total_steps`` are spent or the session says to stop.

    Args:
        config: Every setting; a step is one decision of the learner.
        games: Where it learns; the caller closes them.
        session: Takes metrics, and says when to stop.

    Raises:
        TrainingFailed: A loss is no finite number, or a game raised.
        ConfigError: The league of a training that is resumed has lost a member.
    """
    learner = PPO(config, games, session.device, session.restored)
    league = _league(config, games, session)
    draws = np.random.default_rng((config.seed, 2, session.step))

    def choose() -> str:
        odds = league.odds()
        return league.members[int(draws.choice(len(odds), p=odds / odds.sum()))].name

    games.choose = choose
    if session.restored is None and config.snapshot_every:
        leave(league, games, learner, session)
    recent: deque[float] = deque(maxlen=RECENT)
    seen = games.begin()
    for number in range(session.step // config.batch_size, config.num_updates):
        learner.anneal(number)
        rollout, seen = collect_rollout(learner, games, session, seen)
        for result in games.taken():
            league.met(league.of(result.others), result.score, result.total)
            if result.score is not None:
                recent.append(result.score)
        metrics = update(learner, rollout)
        if recent:
            metrics |= {"league/rating": league.rating, "league/score": sum(recent) / len(recent)}
        session.metrics(session.step, {**metrics, "league/members": len(league.members)})
        every = config.snapshot_every
        if every and session.step // every > (session.step - config.batch_size) // every:
            leave(league, games, learner, session)
        league.write(session.step)
        if not session.advance(session.step, learner):
            break
    return learner


def _league(config: SelfPlayConfig, games: Games, session: Session) -> League:
    """The league of a training that begins or is resumed, its members ready to play.

    Raises:
        ConfigError: A member is missing.
    """
    pool = {each.name: each for each in games.invited}
    if session.restored is None:
        found = League(session.folder, env_id=config.env_id, rated=not games.cooperative)
        for each in games.invited:
            found.add(Member(each.name, each.folder, None, plays=each.plays, player=each.player))
    else:
        found = League.read(session.folder)
    found.matchmaking = config.matchmaking
    for member in found.members:
        if member.step is not None:
            games.hold(member.name, SeatedPolicy(found.place(member)))
        elif member.name not in pool:
            raise ConfigError(
                f"{member.name}, a member of the league, is not in the pool any more. Put it back, or "
                f"take it out of {session.folder / LEAGUE}"
            )
    return found


def leave(league: League, games: Games, learner: PPO, session: Session) -> None:
    """Have the learner as it is now in the league."""
    name = f"{PAST}{session.step:09d}"
    if any(member.name == name for member in league.members):
        return  # the training was resumed at this very step
    session.learner = learner
    description, weights = session.policy()
    save_checkpoint(league.folder / name, description, safetensors.torch.save(weights))
    league.add(Member(name, name, session.step, league.rating))
    games.hold(name, SeatedPolicy(league.folder / name))
    league.write(session.step)


def evaluate(games: Games, policy: Policy, folder: Path, go_on: Callable[[], bool]) -> float:
    """Mean return of a policy's best actions with all members, each met as often in every seat.

    Args:
        games: Of the training; those that are on are given up.
        policy: What is evaluated.
        folder: The run folder.
        go_on: Asked between members; false ends the evaluation.

    Raises:
        Interrupted: ``go_on`` said so.
    """
    totals: list[float] = []
    for member in League.read(folder).members:
        if not go_on():
            raise Interrupted
        totals += [result.total for result in games.match(policy, member.name, EVALUATION_SEEDS)]
    return float(np.mean(totals))
