"""Sentences that describe the plan and the progress of an experiment or a tournament."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gym_gui.analysis.words.wording import duration
from gym_gui.ui.numbers import count, local, size
from gym_gui.ui.operators.script_job import OperatorRunProgress, ScriptPlan
from gym_gui.ui.spare_host import free_memory

if TYPE_CHECKING:
    from gym_gui.controllers.runs.tournament_run import TournamentRun

_MOST_OF_FREE, _WORTH_IT = 0.8, 0.75
"""Thresholds of a memory warning: needed share of free memory, and share of that need after sharing."""


def words_of(plan: ScriptPlan) -> str:
    """Return sentences that say what an experiment or tournament file will play."""
    return plan_words(plan) if plan.tournament_run is None else tournament_words(plan, plan.tournament_run)


def plan_words(plan: ScriptPlan) -> str:
    """Return sentences that say what an experiment will play."""
    execution = plan.experiment.execution
    operators, episodes = len(plan.operators), execution.num_episodes
    seeds = sorted(set(execution.seeds[:episodes]))
    if len(seeds) == 1:
        seed_words = f"seed {seeds[0]}"
    elif seeds == list(range(seeds[0], seeds[-1] + 1)):
        seed_words = f"seeds {seeds[0]} to {seeds[-1]}"
    else:
        seed_words = f"{len(seeds)} seeds"
    decided = execution.until == "decided"
    most, until = ("at most ", ", until every comparison is decided") if decided else ("", "")
    parts = [
        f"{count(operators, 'operator')}, {most}{count(episodes, 'episode')} each, {seed_words}{until}",
        f"played in {plan.processes} process{'es' * (plan.processes != 1)}",
    ]
    if plan.most_steps is not None:
        parts.append(f"at most {count(plan.most_steps, 'step')} in all")
    if execution.isolation == "worker":
        parts.append("slots of a team share a worker process")
    parts += [f"not played: {line}" for line in plan.not_played]
    return ". ".join(part[:1].upper() + part[1:] for part in parts) + "."


def memory_warning(plan: ScriptPlan) -> str:
    """Return a warning if worker processes need most of the free memory and sharing helps, else ``""``."""
    from gym_gui.controllers.sessions.worker_memory import with_shared_processes, worker_bytes

    operators = [each.resolved for each in plan.operators if each.resolved is not None]
    needed = worker_bytes(plan.experiment, operators, plan.processes)
    shared = worker_bytes(with_shared_processes(plan.experiment), operators, plan.processes)
    free = free_memory()
    if needed < _MOST_OF_FREE * free or shared > _WORTH_IT * needed:
        return ""
    return (
        f"The worker processes need about {size(needed)} of memory, and {size(free)} are free. "
        f"If slots of a team share a process, they need about {size(shared)}."
    )


def tournament_words(plan: ScriptPlan, tournament_run: TournamentRun) -> str:
    """Return sentences that say what a tournament will play."""
    parts = [
        pairing_words(tournament_run),
        f"played in {plan.processes} process{'es' * (plan.processes != 1)}",
    ]
    limits = [each.most_steps for each in plan.operators]
    if plan.playable and None not in limits:
        parts.append(f"at most {count(plan.episodes * max(limit or 0 for limit in limits), 'step')}")
    return ". ".join(part[:1].upper() + part[1:] for part in parts) + "."


def pairing_words(tournament_run: TournamentRun) -> str:
    """Return a sentence, without its full stop, that says which policies meet and how often."""
    asked = tournament_run.tournament
    pool, task, kind = len(asked.policies), asked.operator.task, asked.schedule.kind
    execution, pairings = asked.executed(tournament_run.seatings), len(tournament_run.pairings)
    games = execution.num_episodes
    seats = (
        f" from {'both' if tournament_run.seatings == 2 else 'all'} seats"
        if tournament_run.seatings > 1
        else ""
    )
    how = {
        "round_robin": "round robin",
        "cross_play": "each with itself and in one seat of each other's team",
        "swiss": f"Swiss, {count(asked.rounds, 'round')}",
    }.get(kind, "who meets whom as the file says")
    first = "in its first round " if kind == "swiss" else ""
    what = "team" if tournament_run.is_cross_play else "pairing"
    total = count(pairings * games, "game")
    words = (
        f"{local(pool):,} policies at {task}, {how}: "
        f"{first}{count(pairings, what)} of {count(games, 'game')} "
        f"({count(len(execution.seeds), 'seed')}{seats}), {total} {'in it' if first else 'in all'}"
    )
    return f"{words}; each further round is paired by the results" if first else words


def progress_words(standings: Mapping[str, OperatorRunProgress], episode: str = "episode") -> str:
    """Return the progress of all operators together, and the time left if each has an estimate.

    Args:
        standings: Progress by operator id.
        episode: Singular word for an episode, such as ``game``.
    """
    done = sum(s.done for s in standings.values())
    total = sum(s.total for s in standings.values())
    left = [s.left_s for s in standings.values() if s.done < s.total]
    most = "at most " if any(s.at_most for s in standings.values()) else ""
    words = f"{local(done):,} of {most}{count(total, episode)}"
    known = [seconds for seconds in left if seconds is not None]
    if known and len(known) == len(left):
        words += f", about {duration(max(known), rough=True)} left"
    return words
