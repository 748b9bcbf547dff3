"""``gym_gui.tournament``: a pool of policies that meet, in one call from Python."""

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
from gym_gui.core.experiment.tournament import Tournament, environment, held_out_from_data, schedule_from_data
from gym_gui.core.experiment.tournament_pool import SLOTS, BySlot, Player
from gym_gui.core.protocols import check_policy
from gym_gui.core.trusted.trust import TYPED
from gym_gui.core.validation import mapping
from gym_gui.evaluation.evaluation_run import open_here, run_to_end, seed_list
from gym_gui.evaluation.players import Policy, as_assignment, is_configured
from gym_gui.services.policies.group_operators import pool_of
from mosaic_worker.failures import own_part


@dataclass(frozen=True)
class TournamentResults:
    """What a tournament gave. Printing it prints the table.

    Attributes:
        folder: The run folder; ``mosaic report`` and ``mosaic verify`` take it.
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
        """Ratings, payoffs, circles, what seats are worth.

        Raises:
            UsageError: All are on one side: there is :attr:`cross_play`.
        """
        if isinstance(self._found, CrossPlay):
            raise UsageError("policies of one team have no ratings", fix="See cross_play")
        return self._found

    @cached_property
    def cross_play(self) -> CrossPlay:
        """Self-play, cross-play, held-out partners, who lifts whose team.

        Raises:
            UsageError: The sides compete: there are :attr:`standings`.
        """
        if isinstance(self._found, Standings):
            raise UsageError("sides that compete are rated", fix="See standings")
        return self._found

    @cached_property
    def _found(self) -> Found:
        found = find_standings([self.run])
        assert found is not None
        return found

    @cached_property
    def page(self) -> Path:
        """The report as one HTML page beside the run's files; written when it is first asked for.

        Raises:
            UsageError: It cannot be written.
        """
        return write_report(summarize(self.run), self.folder, [self.run], self._found)

    @property
    def pairings(self) -> Mapping[str, OperatorRun]:
        """Games by who met: their rows, as those of any operator."""
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
    """Let policies meet on the same seeds, each pairing from every seat, and keep it as a run folder.

    Args:
        env_id: Environment id, or ``"module:factory"``, of several agents: of one team, its seats are filled
            with each policy and with each two (cross-play).
        policies: The pool: a name and who plays for it, as :func:`gym_gui.evaluate` takes it. Of a side with
            several agents the policy plays all; pass a class to have an object for each. In cross-play
            ``{"slots": {slot: policy}}`` is a policy that is another one in each slot.
        schedule: ``"round_robin"``, ``"swiss"``, ``{"swiss": rounds}``, or a list of who meets; where all
            agents are on one side, ``"cross_play"``. Left out, it goes by the environment.
        held_out: Policies that play only as partners in cross-play, and are not rated.
        seeds: Seeds in order, or how many (0, 1, …, n - 1).
        out: Folder for the run folder; ``MOSAIC_RUNS_DIR`` or ``runs`` by default.
        resume: The run folder of a tournament to resume; policies and seeds may have been added, and only
            what is new is played.
        max_steps: Environment steps after which a game is truncated.
        concurrency: Games in flight.
        api: ``"aec"`` or ``"parallel"``, where there is a choice.
        teams: Agents of each side, where the environment's own are not meant.
        env_kwargs: For the environment's factory.
        on_progress: Told how far it is, a few times a second.

    Returns:
        Ratings and games; games that failed are in them, with their errors.

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
            held_out=pool.named(held_out_from_data(held_out)),
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
        raise error.with_traceback(None) from own_part(error.__cause__)


def _players_of(
    policies: Mapping[str, Policy],
) -> tuple[dict[str, Player], dict[str, Mapping[str, object]]]:
    """Who plays by name, and the objects among them by name and slot; ``""`` is every slot."""
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
