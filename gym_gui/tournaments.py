"""Plays tournaments from Python: ``gym_gui.tournament`` lets a pool of policies meet in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from gym_gui.analysis import Run, open_run, write_report
from gym_gui.analysis.compute.summary_builder import summarize
from gym_gui.analysis.findings.cross_play import CrossPlay, Found
from gym_gui.analysis.findings.standings import Standings
from gym_gui.analysis.records.reader import OperatorRun
from gym_gui.analysis.reporting import find_standings, found_text
from gym_gui.controllers.runs.experiment_run import ExperimentRun
from gym_gui.controllers.runs.script_execution import OnProgress
from gym_gui.controllers.runs.tournament_run import TournamentRun
from gym_gui.core.config import ExecutionConfig
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.experiment.tournament import Tournament, environment, read_held_out, schedule_from_data
from gym_gui.core.experiment.tournament_pool import SLOTS, BySlot, Player
from gym_gui.core.protocols import check_policy
from gym_gui.core.trusted.trust import TYPED
from gym_gui.core.validation import mapping
from gym_gui.evaluation.evaluation_run import open_here, run_to_end, seed_list
from gym_gui.evaluation.players import Policy, as_assignment, is_configured
from gym_gui.services.policies.group_operators import pool_of
from mosaic_worker.failures import author_part


@dataclass(frozen=True)
class TournamentResults:
    """Results of a tournament. Printing the object prints the table of ratings or of cross-play.

    Attributes:
        folder: The run folder, for ``mosaic report`` and ``mosaic verify``.
        status: ``completed``, ``failed`` (some game failed) or ``stopped``.
    """

    folder: Path
    status: str

    @cached_property
    def run(self) -> Run:
        """The run folder, opened for reading; its operators are the pairings."""
        return open_run(self.folder)

    @cached_property
    def standings(self) -> Standings:
        """Ratings, payoffs, cycles of wins, and the advantage of each seat.

        Raises:
            UsageError: All agents are on one side; see :attr:`cross_play` instead.
        """
        if isinstance(self._found, CrossPlay):
            raise UsageError("policies of one team have no ratings", fix="Use cross_play instead")
        return self._found

    @cached_property
    def cross_play(self) -> CrossPlay:
        """Scores of self-play, cross-play and held-out partners, and each policy's effect on its team.

        Raises:
            UsageError: The sides compete; see :attr:`standings` instead.
        """
        if isinstance(self._found, Standings):
            raise UsageError("sides that compete have no cross-play", fix="Use standings instead")
        return self._found

    @cached_property
    def _found(self) -> Found:
        found = find_standings([self.run])
        assert found is not None
        return found

    @cached_property
    def page(self) -> Path:
        """Path of the report as one HTML page in the run folder, written at the first access.

        Raises:
            UsageError: The page cannot be written.
        """
        return write_report(summarize(self.run), self.folder, [self.run], self._found)

    @property
    def pairings(self) -> Mapping[str, OperatorRun]:
        """Recorded games by pairing; each pairing is an operator of the run."""
        return self.run.operators

    def __str__(self) -> str:
        return f"{found_text(self._found)}\nRun:  {self.folder}"


def tournament(
    env_id: str,
    policies: Mapping[str, Policy],
    *,
    schedule: str | Mapping[str, int] | Sequence[Sequence[str]] | None = None,
    held_out: Sequence[str] = (),
    seeds: Iterable[int] | int = 20,
    out: str | Path | None = None,
    resume: str | Path | None = None,
    max_steps: int | None = None,
    concurrency: int = 16,
    api: str | None = None,
    teams: Mapping[str, Sequence[str]] | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    on_progress: OnProgress | None = None,
) -> TournamentResults:
    """Let policies meet on the same seeds, each pairing from every seat, and record all games.

    Args:
        env_id: Id, or ``"module:factory"``, of an environment with several agents. If all agents are on one
            side, its seats are filled with each policy and with each two policies (cross-play).
        policies: The pool: policies by name, in the forms that :func:`gym_gui.evaluate` takes. A policy plays
            all agents of its side; pass a class to get one object per agent. In cross-play,
            ``{"slots": {slot: policy}}`` is a member of the pool with a different policy in each slot.
        schedule: ``"round_robin"``, ``"swiss"``, ``{"swiss": rounds}``, or a list of the pairings; if all
            agents are on one side, ``"cross_play"``. By default, it depends on the environment.
        held_out: Policies that play only as partners in cross-play, and are not rated.
        seeds: Seeds in order, or their number (0, 1, …, n - 1).
        out: Folder for the run folder; ``MOSAIC_RUNS_DIR`` or ``runs`` by default.
        resume: The run folder of a tournament to resume; policies and seeds may have been added, and only
            new games are played.
        max_steps: Environment steps after which a game is truncated.
        concurrency: Number of games in flight.
        api: ``"aec"`` or ``"parallel"``, if the environment offers both.
        teams: Agents of each side, if these are not the environment's own teams.
        env_kwargs: Keyword arguments for the environment's factory.
        on_progress: Receives the progress a few times per second.

    Returns:
        The results, including failed games with their errors.

    Raises:
        UsageError: Something to fix: a name, a policy that cannot take a seat, an environment without sides.

    Example:
        >>> from gym_gui import tournament
        >>> print(tournament("tictactoe_v3", {"a": {"type": "random"}, "b": lambda obs, legal: legal[0]}))
    """
    given = {"max_steps": max_steps, "api": api, "teams": teams, "env_kwargs": env_kwargs}
    try:
        players, objects = _players_of(policies)
        execution = ExecutionConfig(None, seed_list(seeds), concurrency=concurrency)
        execution.check_distinct()
        pool = pool_of(players)
        asked = Tournament(
            pool.policies,
            environment(env_id, given, TYPED),
            schedule_from_data(schedule).among(pool),
            execution,
            held_out=pool.named(read_held_out(held_out)),
            trainings=pool.trainings,
        )
        folder = None if resume is None else Path(resume)
        tournament_run = TournamentRun.of(asked, objects, None if folder is None else open_run(folder))
        run = ExperimentRun(
            tournament_run,
            open_here,
            None if out is None else Path(out),
            resume=folder,
            on_progress=on_progress,
        )
        result = run_to_end(run.run())
        return TournamentResults(result.folder, result.status)
    except MosaicError as error:
        raise error.with_traceback(None) from author_part(error.__cause__)


def _players_of(
    policies: Mapping[str, Policy],
) -> tuple[dict[str, Player], dict[str, Mapping[str, object]]]:
    """Return the players by name, and the policy objects by name and slot; slot ``""`` means every slot."""
    players: dict[str, Player] = {}
    objects: dict[str, Mapping[str, object]] = {}
    for name, policy in policies.items():
        slots: Mapping[str, Policy] = {"": policy}
        if by_slot := isinstance(policy, Mapping) and SLOTS in policy:
            slots = mapping(cast("Mapping[str, object]", policy)[SLOTS], f"policies.{name}.{SLOTS}")
        read = {slot: as_assignment(p) if is_configured(p) else None for slot, p in slots.items()}
        players[name] = BySlot(read) if by_slot else read[""]
        held = {slot: p for slot, p in slots.items() if read[slot] is None}
        for each in held.values():
            check_policy(each)
        if held:
            objects[name] = held
    return players, objects


__all__: Sequence[str] = ["TournamentResults", "tournament"]
