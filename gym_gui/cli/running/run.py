"""Implements ``mosaic run``: checks the arguments and reads the experiment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gym_gui.analysis.records.reader import open_run
from gym_gui.controllers.runs.resuming import experiment_to_resume, shard_of
from gym_gui.core.config import Experiment
from gym_gui.core.errors import UsageError
from gym_gui.core.paths import find_run
from gym_gui.core.trusted.trust import Origin, require
from gym_gui.core.validation import under
from gym_gui.services.experiment_file import load_experiment, need_of_program, needs_code
from gym_gui.services.runs.recorder import REPLAY

if TYPE_CHECKING:
    from gym_gui.core.experiment.matrix_expansion import PlacesOf
    from gym_gui.host.prestart import CommandHosts


def run_experiment(
    file: Path | None,
    *,
    out: Path | None = None,
    episodes: int | None = None,
    concurrency: int | None = None,
    processes: int | None = None,
    budgets: Mapping[str, float | None] | None = None,
    resume: Path | None = None,
    replay: Path | None = None,
    shard: str | None = None,
    dry_run: bool = False,
    as_json: bool = False,
    hosts: CommandHosts,
) -> int:
    """Run an experiment file, resume a run, or play a run again with its recorded calls.

    Args:
        file: The experiment file.
        out: Folder for the run folder.
        episodes: Number of episodes, in place of the file's.
        concurrency: Number of concurrent episodes per process.
        processes: Number of session processes.
        budgets: Budgets of the run, by their key in ``execution``; ``None`` leaves a budget unchanged.
        resume: A run folder to resume.
        replay: A run whose recorded calls replace the models.
        shard: Shards to play, as ``3/64`` or ``1-16/64``; ``None`` for the whole experiment.
        dry_run: Whether to only print the plan and its estimated cost.
        as_json: Whether to print JSON.
        hosts: Opens the session processes and reads the environments' slots.

    Returns:
        Exit status.

    Raises:
        UsageError: The user can fix the problem; nothing was played.
    """
    parts = None
    if shard is not None:
        from gym_gui.cli.running.experiment_parts import asked_parts  # few runs are parts of one

        parts = asked_parts(shard, resume, replay)
        resume = None
    resume = find_run(resume) if resume is not None else None
    replay = find_run(replay) if replay is not None else None
    experiment = asked_experiment(
        file, resume, replay, episodes, concurrency, looked_at=dry_run, places_of=hosts.places
    )
    experiment = with_budgets(experiment, budgets or {})
    part = None if parts is None or not dry_run else parts.only
    if resume is not None:
        replay, part = _replayed_by(resume), shard_of(resume)
    # Importing the engine takes a third of a second, so the file is checked before.
    from gym_gui.cli.running.play_run import part_player, play

    if parts is not None and not dry_run:
        keep = len(parts.shards) > 1
        player = part_player(experiment, processes=processes, as_json=as_json, hosts=hosts, keep=keep)
        return parts.play(player, out, f"mosaic run {file}")
    return play(
        experiment,
        out=out,
        processes=processes,
        resume=resume,
        replay=replay,
        shard=part,
        dry_run=dry_run,
        as_json=as_json,
        hosts=hosts,
    )


def _replayed_by(resume: Path) -> Path | None:
    """Return the run whose recorded replies a resumed run uses; ``None`` if it calls the models."""
    written = open_run(resume).record.extra.get(REPLAY)
    return Path(written) if isinstance(written, str) else None


def asked_experiment(
    file: Path | None,
    resume: Path | None,
    replay: Path | None,
    episodes: int | None,
    concurrency: int | None,
    *,
    looked_at: bool,
    places_of: PlacesOf,
) -> Experiment:
    """Return the experiment of a command line, read from a file or a run.

    Args:
        file: The experiment file.
        resume: A run folder to resume.
        replay: A run whose recorded calls replace the models.
        episodes: Number of episodes, in place of the file's.
        concurrency: Number of concurrent episodes per process.
        looked_at: Whether the experiment is only inspected; a ``.py`` file is then executed only if the user
            has allowed it.
        places_of: Returns the slots of the environments of a matrix.

    Raises:
        UsageError: The experiment cannot be read, or the arguments exclude each other.
    """
    given = [source for source in (file, resume, replay) if source is not None]
    again = resume is not None and file is not None and replay is None
    if len(given) != 1 and not again:
        raise UsageError(
            "an experiment file, --resume or --replay is needed",
            fix="For example: mosaic run experiment.py",
        )
    if resume is not None and episodes is not None:
        raise UsageError("--episodes cannot be combined with --resume", fix="Leave it out")
    if resume is not None or file is None:
        open_run(resume or given[0])  # raises an error with a fix if there is no run
    # A command that runs a .py file thereby allows it; a command that only inspects the file does not.
    if looked_at and needs_code(given[0]):
        require([need_of_program(given[0])], Origin(str(given[0])))
    if resume is None or file is not None:
        experiment = load_experiment(given[0], allow_code=True, episodes=episodes, places_of=places_of)
        experiment = experiment if resume is None else experiment_to_resume(resume, experiment)
    else:
        experiment = experiment_to_resume(resume, places_of=places_of)
    if concurrency is not None:
        execution = replace(experiment.execution, concurrency=concurrency)
        experiment = replace(experiment, execution=execution)
    return experiment


def with_budgets(experiment: Experiment, budgets: Mapping[str, float | None]) -> Experiment:
    """Return the experiment with other budgets, which are given by their key in ``execution``."""
    given: dict[str, Any] = {name: budget for name, budget in budgets.items() if budget is not None}
    if not given:
        return experiment
    with under("execution"):
        execution = replace(experiment.execution, **given)
    return replace(experiment, execution=execution)
