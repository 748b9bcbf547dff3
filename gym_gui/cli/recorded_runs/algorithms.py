"""Implements ``mosaic report GROUP…``: compares algorithms by the scores of their groups of trainings."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from statistics import fmean

from gym_gui.analysis.compute.algorithms import compare_algorithms, shared_environments
from gym_gui.analysis.findings.trainings import Scale, TrainedScores
from gym_gui.analysis.reporting import write_algorithms
from gym_gui.analysis.terminal_report import render_algorithms
from gym_gui.analysis.words.report_text import clean
from gym_gui.cli.errors import print_message
from gym_gui.cli.output import console, write_json
from gym_gui.core.errors import PolicyFailure, UnknownNameError, UsageError
from gym_gui.core.experiment.named_training_groups import GROUP_PREFIX
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.services.policies.policy_scores import STANDARD_SEEDS
from gym_gui.services.policy_files import read_policy_file
from gym_gui.services.trainings.training_groups import TrainingGroup, TrainingGroups, is_group_folder
from gym_gui.services.trainings.training_scores import scores_of


def are_groups(named: Sequence[Path], folders: Sequence[Path]) -> bool:
    """Return whether the command line names groups of trainings instead of runs.

    Args:
        named: Names as given.
        folders: Run folders for these names, if the names are those of runs.

    Raises:
        UsageError: Both groups and runs are named, or the name of a group is misspelled.
    """
    runs = [(folder / "run.json").exists() for folder in folders]
    if all(runs):
        return False
    known = {group.name for group in TrainingGroups().all()}
    groups = [
        not run and (str(each).startswith(GROUP_PREFIX) or str(each) in known or is_group_folder(each))
        for each, run in zip(named, runs, strict=True)
    ]
    if any(groups) and any(runs):
        raise UsageError(
            "runs and groups of trainings cannot be in one report", fix="Make one report of each kind"
        )
    if not any(groups):
        for each in named:
            if get_close_matches(str(each), known, n=1, cutoff=0.8) and not each.exists():
                TrainingGroups().find(each)  # raises an error that suggests the right name
    return any(groups)


def report_algorithms(
    named: Sequence[Path], *, reference: str = "", out: Path | None = None, as_json: bool = False
) -> None:
    """Print which algorithm is better, and write ``algorithms.json`` and ``algorithms.html``.

    Without ``out``, the files of a single group go into the group's folder, and those of several groups are
    not written.

    Args:
        named: Names or folders of groups.
        reference: With several environments, the algorithm whose mean counts as 1 in each; by default the
            first one.
        out: Folder for the files.
        as_json: Whether to print the report as JSON.

    Raises:
        UsageError: There is no such group, none of its trainings is finished, or nothing can be compared.
    """
    found = [TrainingGroups().find(each) for each in named]
    scores = [scores_of(group) for group in found]
    environments = shared_environments(scores)
    if reference and reference not in {each.algorithm for each in scores}:
        raise UnknownNameError("algorithm of this report", reference, [each.algorithm for each in scores])
    if len(environments) > 1:
        reference = reference or scores[0].algorithm
        scales = {
            env_id: Scale(
                _random_return(env_id, _agents(found, env_id), quiet=as_json),
                _mean_of(scores, reference, env_id),
            )
            for env_id in environments
        }
        report = compare_algorithms(scores, scales, f"the mean of {reference} there")
    else:
        report = compare_algorithms(scores)
    folder = out or _folder(found)
    if not as_json:
        render_algorithms(report, console())
    page = None if folder is None else write_algorithms(report, folder)
    if as_json:
        write_json(report.to_json() | {"report": None if page is None else str(page)})
    elif page is not None:
        console().print(f"Page: {clean(str(page))}", markup=False, soft_wrap=True)


def _folder(groups: Sequence[TrainingGroup]) -> Path | None:
    """Return the folder of a single group; ``None`` for several groups or the daemon's shared folder."""
    parents = {member.folder.parent for group in groups for member in group.members}
    if len(groups) > 1 or len(parents) > 1:
        return None
    folder = parents.pop()
    usual = bootstrap_default_services().store.data / "training"
    return None if folder.absolute() == usual.absolute() else folder


def _mean_of(scores: Sequence[TrainedScores], reference: str, env_id: str) -> float:
    return next(
        fmean(each.scores.values())
        for each in scores
        if (each.algorithm, each.env_id) == (reference, env_id) and each.scores
    )


def _agents(groups: Sequence[TrainingGroup], env_id: str) -> tuple[str, ...]:
    """Return the agents of an environment, as the trained policies name them."""
    folders = (each.folder for group in groups if group.env_id == env_id for each in group.completed)
    file = next(filter(None, map(read_policy_file, folders)), None)
    return file.agents if file is not None and len(file.agents) > 1 else ("agent",)


def _random_return(env_id: str, agents: Sequence[str], *, quiet: bool) -> float:
    """Return the mean return of random actions on the standard seeds, which also evaluate trainings."""
    from gym_gui.evaluation import evaluate  # imports the engine

    if not quiet:
        print_message(f"playing random actions in {env_id}")
    with tempfile.TemporaryDirectory(prefix="mosaic-random") as place:
        players = {agent: {"type": "random"} for agent in agents}
        episodes = evaluate(env_id, players, seeds=STANDARD_SEEDS, out=place).episodes
    returns = [sum(r for r in each.returns.values() if r is not None) for each in episodes if not each.error]
    if len(returns) < len(STANDARD_SEEDS):
        raise PolicyFailure(f"random play failed in {env_id}: {next(e.error for e in episodes if e.error)}")
    return fmean(returns)
