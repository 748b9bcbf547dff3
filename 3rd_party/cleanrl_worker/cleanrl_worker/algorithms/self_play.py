"""Self-play: PPO against past copies of the learner and a pool; ratings determine how often each is chosen.

To the learner a game is an environment with one agent (:mod:`cleanrl_worker.games`), and the algorithm is PPO
(:mod:`cleanrl_worker.algorithms.ppo`); only the choice of the other players differs. In cooperative games the
other players are partners. At regular intervals a copy of the learner joins the league
(:mod:`cleanrl_worker.algorithms.league`). A mixture of the latest copy with older ones prevents the learner
from forgetting how to beat them (Heinrich, Lanctot and Silver, "Fictitious Self-Play in Extensive-Form
Games", 2015).
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
    """Make the games of a training; they begin once the training has a league.

    Args:
        config: Settings of the training.
        folder: The run folder.
        warn: Called with each message about a member of the pool.

    Raises:
        ConfigError: The environment is not such a game, or a member of the pool is missing or cannot play it.
    """

    def paid(call: str) -> None:
        with (folder / CALLS).open("a", encoding="utf-8") as calls:
            calls.write(call + "\n")

    games = Games(config, warn, paid)
    if not games.all_alike and config.snapshot_every:
        games.close()
        raise ConfigError(
            f"agents of {config.env_id} are of different kinds, so past copies of {config.seat} cannot play "
            "the others. Set snapshot_every to 0, and name a pool"
        )
    return games


def train(config: SelfPlayConfig, games: Games, session: Session) -> PPO:
    """Train up to ``config.total_steps`` steps or until the session stops.

    Args:
        config: Settings; a step is one decision of the learner.
        games: Games to learn in; the caller closes them.
        session: Receives metrics and says when to stop.

    Raises:
        TrainingFailed: A loss is not finite, or a game raised.
        ConfigError: The league of a resumed training lacks a member.
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
        for result in games.ended_games():
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
    """Return the league of a new or resumed training; its past copies are ready to play.

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
            games.register(member.name, SeatedPolicy(found.place(member)))
        elif member.name not in pool:
            raise ConfigError(
                f"{member.name}, a member of the league, is no longer in the pool. Put it back, or "
                f"remove it from {session.folder / LEAGUE}"
            )
    return found


def leave(league: League, games: Games, learner: PPO, session: Session) -> None:
    """Add a copy of the current learner to the league."""
    name = f"{PAST}{session.step:09d}"
    if any(member.name == name for member in league.members):
        return  # the training was resumed at this step
    session.learner = learner
    description, weights = session.policy()
    save_checkpoint(league.folder / name, description, safetensors.torch.save(weights))
    league.add(Member(name, name, session.step, league.rating))
    games.register(name, SeatedPolicy(league.folder / name))
    league.write(session.step)


def evaluate(games: Games, policy: Policy, folder: Path, go_on: Callable[[], bool]) -> float:
    """Return the mean return of a policy's best actions over games with all members.

    Each member plays equally often in every seat.

    Args:
        games: Games of the training; running ones are abandoned.
        policy: Policy to evaluate.
        folder: The run folder.
        go_on: Called before the games with each member; false ends the evaluation.

    Raises:
        Interrupted: ``go_on`` returned false.
    """
    totals: list[float] = []
    for member in League.read(folder).members:
        if not go_on():
            raise Interrupted
        totals += [result.total for result in games.match(policy, member.name, EVALUATION_SEEDS)]
    return float(np.mean(totals))
