"""Implements ``mosaic rerun``: a run's policies play its episodes again, recorded as a new run."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from gym_gui.analysis import Run, open_run
from gym_gui.cli.errors import DONE, INTERRUPTED, WORK_FAILED, print_message
from gym_gui.cli.output import write_json, write_line
from gym_gui.cli.progress import run_progress
from gym_gui.cli.recorded_runs.verify import versions_line
from gym_gui.cli.running.play_run import until_signal
from gym_gui.controllers.child_jobs.rerunning import (
    Cause,
    DifferenceCause,
    DivergingPolicy,
    Episodes,
    OperatorRerun,
    changed_versions,
    compare_rerun,
    goes_another_way,
    recorded_episodes,
    suspects,
)
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.reexecution.divergence import counted
from gym_gui.controllers.reexecution.verification import chosen_episodes
from gym_gui.controllers.runs.experiment_run import ExperimentRun, PlannedExperiment
from gym_gui.controllers.runs.matrix_check import resolve_all
from gym_gui.controllers.runs.script_execution import OnProgress
from gym_gui.core.config import Experiment
from gym_gui.core.errors import UsageError
from gym_gui.core.paths import find_run
from gym_gui.core.record_fields import mapping, text
from gym_gui.core.records import IN_PROCESS
from gym_gui.host.prestart import CommandHosts
from gym_gui.processes.cores import usable_cores
from gym_gui.services.experiment_file import load_experiment
from gym_gui.services.runs.recorder import COMPLETED, FAILED, RERUN, STOPPED

_MAX_DEPARTURES: Final = 5
_RANGE: Final = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_MAX_EPISODES: Final = 1_000_000
_FINDINGS: Final = {
    DifferenceCause.MODEL: "models do not repeat themselves, recorded replies do: mosaic run --replay {run}",
    DifferenceCause.PERSON: "people do not repeat themselves",
    DifferenceCause.NOT_DETERMINISTIC: "it is not deterministic: a third play of the episode differed again",
    DifferenceCause.ANOTHER: "it has changed since: a third play of the episode repeated the new decisions",
}


def rerun_run(
    run: Path,
    *,
    episodes: str | None,
    out: Path | None,
    processes: int | None,
    as_json: bool,
    hosts: CommandHosts,
) -> int:
    """Let a run's policies play its episodes again; print where and why they differ from the record.

    Args:
        run: The run folder.
        episodes: Episodes to play, such as ``0,3,5-9``; all recorded episodes by default.
        out: Folder for the new run folder.
        processes: Number of session processes.
        as_json: Whether to print JSON.
        hosts: Opens the session processes and reads the environments' slots.

    Returns:
        Exit status: 0 if all episodes are as recorded, 1 if one differs.

    Raises:
        UsageError: The user can fix the problem; nothing was played.
    """
    recorded = open_run(find_run(run))
    chosen = recorded_episodes(recorded, None if episodes is None else _indices(episodes))
    _check_players(recorded)
    loaded = load_experiment(recorded.path, allow_code=False)
    # Take all operators that have a record, also of a matrix: none of them is unplayable.
    experiment = Experiment(
        [operator for operator in loaded.operators if operator.operator_id in recorded.operators],
        loaded.execution,
    )
    resolved, _ = resolve_all(experiment, seats_of=hosts.seats)
    # A whole run is played by its schedule, including interim looks; chosen episodes are played without them.
    whole = (
        episodes is None
        and recorded.record.status in (COMPLETED, FAILED)
        and chosen_episodes(recorded) is None
    )
    replayer = _Replayer(recorded, experiment, resolved, processes or experiment.execution.processes, hosts)
    with run_progress(as_json=as_json) as show:
        logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
        again, status = replayer.once(out, None if whole else chosen, show)
        results = asyncio.run(compare_rerun(recorded, again, chosen))
        found = [] if status == STOPPED else replayer.suspects(again, results, show)
    versions = changed_versions(recorded, again)
    if as_json:
        write_json(_record(recorded, again, results, found, versions))
    else:
        for line in _lines(recorded, again, results, found):
            write_line(line)
        if versions:
            write_line(versions_line(versions))
        write_line(f"Run:  {again.path}")
    if status == STOPPED:
        print_message(f"stopped; resume with: mosaic run --resume {again.path}")
        return INTERRUPTED
    return WORK_FAILED if any(result.divergences for result in results) else DONE


def _indices(given: str) -> list[int]:
    found: list[int] = []
    for part in given.split(","):
        match = _RANGE.fullmatch(part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last < first + _MAX_EPISODES:
            raise UsageError(f"--episodes {given!r} names no episodes", fix="Write a list such as 0,3,5-9")
        found += range(first, last + 1)
    return found


def _check_players(run: Run) -> None:
    """Raise an error if a policy of the run was a Python object, which cannot be loaded again.

    Raises:
        UsageError: A policy was an object of a Python program.
    """
    for operator_id, slots in (mapping(run.record.extra.get("players")) or {}).items():
        for agent, player in (mapping(slots) or {}).items():
            if (mapping(player) or {}).get("worker_id") == IN_PROCESS:
                policy = text((mapping(player) or {}).get("policy"))
                raise UsageError(
                    f"{agent} of operator {operator_id!r} was played by {policy}, a Python object that the "
                    "run folder does not contain",
                    fix="Play the recorded actions again: mosaic verify",
                )


class _Replayer:
    """Plays episodes of a recorded run again with the run's policies."""

    def __init__(
        self,
        run: Run,
        experiment: Experiment,
        resolved: list[ResolvedOperator],
        processes: int | None,
        hosts: CommandHosts,
    ) -> None:
        self._run, self._experiment, self._resolved, self._hosts = run, experiment, resolved, hosts
        self._processes = processes or usable_cores()

    def once(self, out: Path | None, only: Episodes | None, show: OnProgress) -> tuple[Run, str]:
        """Play episodes into a new run folder and return the new run and its status.

        Args:
            out: Folder for the new run folder.
            only: Indices of episodes by operator; ``None`` for the whole schedule.
            show: Receives the progress.
        """
        about: dict[str, Any] = {"run": str(self._run.path.absolute())}
        if only is not None:
            about["episodes"] = {name: sorted(indices) for name, indices in only.items()}
        again = ExperimentRun(
            PlannedExperiment(self._experiment, self._resolved),
            self._hosts.open_session,
            out,
            processes=self._processes,
            header={RERUN: about},
            only=only,
            on_progress=show,
        )
        result = self._hosts.run(until_signal(again))
        if not result.folder.is_dir():
            raise UsageError("nothing was played", fix=result.problem)
        return open_run(result.folder), result.status

    def suspects(self, again: Run, results: list[OperatorRerun], show: OnProgress) -> list[DivergingPolicy]:
        """Return policies that decided differently on the same input, with the cause.

        If the cause is unknown, the episode is played a third time to see whether it differs again.
        """
        found: list[DivergingPolicy] = []
        for suspect, open_question in suspects(self._run, results):
            if not open_question:
                found.append(suspect)
                continue
            only = dict.fromkeys(self._run.operators, ()) | {suspect.operator_id: (suspect.episode_index,)}
            with tempfile.TemporaryDirectory(prefix="mosaic-rerun-") as folder:
                third, _ = self.once(Path(folder), only, show)
                differs = goes_another_way(again, third, suspect.operator_id, suspect.episode_index)
            finding = DifferenceCause.NOT_DETERMINISTIC if differs else suspect.finding
            found.append(dataclasses.replace(suspect, finding=finding))
        return found


def _lines(run: Run, again: Run, results: list[OperatorRerun], found: list[DivergingPolicy]) -> list[str]:
    lines: list[str] = []
    for result in results:
        same = result.episodes - len(result.divergences)
        lines.append(f"{result.name}: {same} of {counted(result.episodes, 'episode')} as recorded.")
        lines += [f"Differs: {d}" for d in result.divergences[:_MAX_DEPARTURES]]
        if (more := len(result.divergences) - _MAX_DEPARTURES) > 0:
            lines.append(f"And {counted(more, 'more episode')}.")
        if any(d.cause is Cause.ENVIRONMENT for d in result.divergences):
            lines.append(
                f"The environment of {result.name} did not repeat the recorded steps. "
                f"See: mosaic verify {run.path}"
            )
    for s in found:
        why = _FINDINGS[s.finding].format(run=run.path)
        who = f"{s.policy} ({s.worker_id}, {s.agent_id} of {again.operators[s.operator_id].name})"
        lines.append(f"{who} decided differently on the same input; {why}.")
    return lines


def _record(
    run: Run,
    again: Run,
    results: list[OperatorRerun],
    found: list[DivergingPolicy],
    versions: dict[str, tuple[str, str]],
) -> dict[str, Any]:
    return {
        "run": str(run.path),
        "again": str(again.path),
        "equal": not any(result.divergences for result in results),
        "operators": [
            {"operator_id": r.operator_id, "episodes": r.episodes, "equal": r.episodes - len(r.divergences)}
            for r in results
        ],
        "departures": [dataclasses.asdict(d) for r in results for d in r.divergences],
        "policies": [dataclasses.asdict(suspect) for suspect in found],
        "versions": {name: list(pair) for name, pair in versions.items()},
    }
