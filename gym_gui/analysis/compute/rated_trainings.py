"""Compares algorithms by the ratings of their trainings, if a tournament's pool has groups of trainings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gym_gui.analysis.compute.algorithms import compare_algorithms
from gym_gui.analysis.findings.standings import Standing
from gym_gui.analysis.findings.trainings import AlgorithmReport, MissingTraining, TrainedScores
from gym_gui.analysis.records.reader import Run
from gym_gui.analysis.words import wording
from gym_gui.core.errors import RunFormatError
from gym_gui.core.experiment.named_training_groups import TrainingOf
from gym_gui.core.record_fields import mapping
from gym_gui.core.records import TOURNAMENT
from gym_gui.core.validation import ConfigError


def trainings_of(run: Run) -> dict[str, TrainingOf]:
    """Return group and seed of the training of each policy, in the order of the pool.

    Raises:
        RunFormatError: The entry ``trainings`` of ``run.json`` is invalid.
    """
    about = mapping(run.record.extra.get(TOURNAMENT)) or {}
    written = mapping(about.get("trainings")) or {}
    try:
        return {name: TrainingOf.from_data(of, f"trainings.{name}") for name, of in written.items()}
    except ConfigError as error:
        raise RunFormatError(f"{run.path / 'run.json'}: {TOURNAMENT}", str(error)) from None


def rated_trainings(run: Run, policies: Sequence[Standing], task: str) -> AlgorithmReport | None:
    """Compare algorithms by the ratings of their trainings.

    If every policy met every other one, a rating does not depend on which training belongs to which
    algorithm. If two algorithms were the same, every assignment of their trainings would be equally likely:
    the test relies on this. In other schedules the opponents depend on the order of the pool, so nothing is
    compared.

    Args:
        run: The tournament.
        policies: Ratings of the policies.
        task: Name of the task.

    Returns:
        The report; ``None`` without groups, without ratings, in other schedules, or while the run is running.
    """
    trainings = trainings_of(run)
    about = mapping(run.record.extra.get(TOURNAMENT)) or {}
    if not trainings or not run.has_ended or about.get("schedule") != "round_robin":
        return None
    rated = {standing.policy: standing for standing in policies}
    groups: dict[str, dict[int, Standing]] = defaultdict(dict)
    for name, of in trainings.items():
        if name in rated:
            groups[of.name][of.seed] = rated[name]
    found = [_scores(name, task, of_seed) for name, of_seed in groups.items()]
    scored = [group for group in found if group.scores]
    if not scored:
        return None
    report = compare_algorithms(scored, scored="rating")
    methods = {**report.methods, "score": "of a training: its rating among all policies of this tournament"}
    return replace(report, methods=methods)


def _scores(name: str, task: str, of_seed: Mapping[int, Standing]) -> TrainedScores:
    scores: dict[int, float] = {}
    missing: list[MissingTraining] = []
    for seed, standing in sorted(of_seed.items()):
        if standing.failed or standing.rating.value is None:
            failed = (
                f"{wording.count(standing.failed, 'game')} failed at it" if standing.failed else "no game"
            )
            missing.append(MissingTraining(seed, "failed", failed))
        else:
            scores[seed] = standing.rating.value
    return TrainedScores(name, name, task, scores, missing=tuple(missing))
