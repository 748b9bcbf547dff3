"""``mosaic run``: what was asked for, read and checked; ``play`` does it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gym_gui.analysis.reader import open_run
from gym_gui.cli.runs import find_run
from gym_gui.core.config import Experiment
from gym_gui.core.errors import UsageError
from gym_gui.services.experiment_file import load_experiment


def run_experiment(
    file: Path | None,
    *,
    out: Path | None = None,
    episodes: int | None = None,
    concurrency: int | None = None,
    processes: int | None = None,
    resume: Path | None = None,
    dry_run: bool = False,
    as_json: bool = False,
) -> int:
    """Run an experiment file, or go on with a run.

    Returns:
        Exit status.

    Raises:
        UsageError: Something the person can fix; nothing was played.
    """
    resume = find_run(resume) if resume is not None else None
    experiment = _experiment(file, resume, episodes, concurrency)
    # The engine takes a third of a second to import: who misspelled a key need not wait for it.
    from gym_gui.cli.play import play

    return play(experiment, out=out, processes=processes, resume=resume, dry_run=dry_run, as_json=as_json)


def _experiment(
    file: Path | None, resume: Path | None, episodes: int | None, concurrency: int | None
) -> Experiment:
    if (file is None) == (resume is None):
        raise UsageError(
            "one of an experiment file and --resume is needed", fix="For example: mosaic run experiment.py"
        )
    if resume is not None and episodes is not None:
        raise UsageError("--episodes does not go with --resume", fix="Leave it out")
    if resume is not None:
        open_run(resume)  # says what to do where there is no run
    source = file if file is not None else resume
    assert source is not None
    experiment = load_experiment(source, allow_code=True, episodes=episodes)
    if concurrency is not None:
        execution = replace(experiment.execution, concurrency=concurrency)
        experiment = Experiment(experiment.operators, execution)
    return experiment
