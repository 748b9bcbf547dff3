"""Compares algorithms by the scores of their trainings; the statistical unit is the training."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from gym_gui.analysis.compute.algorithm_pairs import compare_pairs
from gym_gui.analysis.compute.learning_curves import curve_band
from gym_gui.analysis.findings.trainings import (
    BOOTSTRAP_TRAININGS,
    MEAN_RETURN,
    PERCENTILE_TRAININGS,
    AlgorithmReport,
    AlgorithmResults,
    AlgorithmSummary,
    Scale,
    TrainedScores,
)
from gym_gui.analysis.statistics import stratified
from gym_gui.analysis.statistics.distributions import MIN_INTERVAL
from gym_gui.analysis.statistics.intervals import Floats, share_interval, unseen_share
from gym_gui.analysis.statistics.stats import mean
from gym_gui.analysis.statistics.stratified import MIN_TRAININGS, IntervalEnds
from gym_gui.analysis.statistics.summary_numbers import Estimate
from gym_gui.analysis.words import wording
from gym_gui.core.errors import UsageError

_LEVELS = 60
"""Number of scores at which a performance profile is computed."""


def shared_environments(groups: Sequence[TrainedScores]) -> tuple[str, ...]:
    """Return the environments in which every algorithm was trained, in the order of the groups."""
    by_name = _by_algorithm(groups)
    return tuple(
        env_id
        for env_id in dict.fromkeys(group.env_id for group in groups)
        if all(env_id in of for of in by_name.values())
    )


def compare_algorithms(
    groups: Sequence[TrainedScores],
    scales: Mapping[str, Scale] | None = None,
    reference: str = "",
    scored: str = MEAN_RETURN,
) -> AlgorithmReport:
    """Compare algorithms by their trainings.

    Args:
        groups: Trainings, one group for each algorithm and environment.
        scales: Scores that count as 0 and as 1, by environment; required for several environments.
        reference: Description of the score that counts as 1, such as ``the mean of PPO there``.
        scored: Name of the score if it is not normalized.

    Raises:
        UsageError: Nothing can be compared: a group is given twice, the algorithms share no environment,
            a group has no finished training, or a reference is no better than random play.
    """
    _check(groups)
    environments = shared_environments(groups)
    scales = {env_id: scale for env_id, scale in (scales or {}).items() if env_id in environments}
    if len(environments) > 1 and set(scales) != set(environments):
        raise UsageError("scores of several environments must be normalized before they are combined")
    if len(environments) == 1:
        scales, reference = {}, ""
    _check_scales(scales, reference)
    by_name = _by_algorithm(groups)
    samples = {name: _sample(of, environments, scales) for name, of in by_name.items()}
    order = sorted(samples, key=lambda name: -_mean_score(samples[name]))
    levels = _levels([samples[name] for name in order])
    ranks = _ranks([samples[name] for name in order], environments)
    algorithms = [
        AlgorithmSummary(
            name=name,
            trained=tuple(_trained(group) for group in groups if group.algorithm == name),
            mean=_estimate(samples[name], "mean"),
            iqm=_estimate(samples[name], "iqm"),
            rank=rank,
            profile=tuple(_profile(samples[name], levels)),
        )
        for name, rank in zip(order, ranks, strict=True)
    ]
    measure = "normalized score" if scales else scored
    compared = {name: [of[env_id] for env_id in environments] for name, of in by_name.items()}
    comparisons = compare_pairs(order, samples, compared, measure)
    return AlgorithmReport(
        algorithms=tuple(algorithms),
        comparisons=tuple(comparisons),
        environments=environments,
        curves=tuple(band for group in groups if (band := curve_band(group)) is not None),
        levels=levels,
        scales=scales,
        reference=reference,
        notes=tuple(_notes(groups, environments, list(samples.values()))),
        scored=scored,
    )


def _by_algorithm(groups: Sequence[TrainedScores]) -> dict[str, dict[str, TrainedScores]]:
    found: dict[str, dict[str, TrainedScores]] = defaultdict(dict)
    for group in groups:
        found[group.algorithm][group.env_id] = group
    return dict(found)


def _check(groups: Sequence[TrainedScores]) -> None:
    if not groups:
        raise UsageError("no group of trainings was named", fix="Train one: mosaic train --seeds 5")
    seen: set[tuple[str, str]] = set()
    for group in groups:
        key = (group.algorithm, group.env_id)
        if key in seen:
            raise UsageError(f"{group.algorithm} in {group.env_id} was named twice", fix="Name it once")
        seen.add(key)
        if not group.scores:
            raise UsageError(
                f"no training of {group.group} is done",
                fix="Wait until one is, or run its mosaic train again",
            )
    if not shared_environments(groups):
        raise UsageError(
            "these algorithms share no environment",
            fix="Train all of them in one environment, or make a report of each",
        )


def _check_scales(scales: Mapping[str, Scale], reference: str) -> None:
    for env_id, scale in scales.items():
        if not scale.reference > scale.random:
            raise UsageError(
                f"{reference or 'the reference'} is no better than random play in {env_id} "
                f"({wording.number(scale.reference)} against {wording.number(scale.random)}), "
                "so scores cannot be normalized by it",
                fix="Choose another algorithm with --reference",
            )


def _sample(
    of: Mapping[str, TrainedScores], environments: Sequence[str], scales: Mapping[str, Scale]
) -> list[Floats]:
    """Return an algorithm's scores, one array (trainings,) per environment; normalized if it has a scale."""
    found: list[Floats] = []
    for env_id in environments:
        scores = np.array([score for _, score in sorted(of[env_id].scores.items())])
        scale = scales.get(env_id)
        found.append(scores if scale is None else (scores - scale.random) / (scale.reference - scale.random))
    return found


def _mean_score(sample: Sequence[Floats]) -> float:
    return stratified.mean_of_tasks(sample)


def _trained(group: TrainedScores) -> AlgorithmResults:
    scores = [np.array([score for _, score in sorted(group.scores.items())])]
    return AlgorithmResults(
        group.group,
        group.env_id,
        dict(sorted(group.scores.items())),
        _estimate(scores, "mean"),
        _estimate(scores, "iqm"),
        group.missing,
        group.about,
    )


def _estimate(sample: Sequence[Floats], statistic: Literal["mean", "iqm"]) -> Estimate:
    pooled = np.concatenate(sample)
    least = min(map(len, sample))
    if statistic == "mean":
        value = mean(pooled) if len(sample) == 1 else stratified.mean_of_tasks(sample)
        return _with_ends(value, stratified.mean_ends(sample), sample, statistic, BOOTSTRAP_TRAININGS, least)
    ends = stratified.iqm_ends(sample)
    return _with_ends(stratified.pooled_iqm(sample), ends, sample, statistic, PERCENTILE_TRAININGS, least)


def _with_ends(
    value: float, ends: IntervalEnds | None, sample: Sequence[Floats], statistic: str, method: str, least: int
) -> Estimate:
    n = sum(map(len, sample))
    if ends is None:
        pooled = np.concatenate(sample)
        equal = least >= MIN_TRAININGS and pooled.min() == pooled.max()
        few = "" if stratified.enough(sample) else "too few trainings"
        note = f"all {n} equal" if equal else few or "middle half equal"
        each = () if stratified.enough(sample) else tuple(map(float, pooled))
        unseen = unseen_share(least)
        return Estimate(value, None, None, n, least, statistic, note=note, unseen=unseen, values=each)
    return Estimate(
        value, ends.low, ends.high, n, least, statistic, method=method, unseen=unseen_share(least)
    )


def _levels(samples: Sequence[Sequence[Floats]]) -> tuple[float, ...]:
    """Return evenly spaced scores from the lowest to the highest of all, for performance profiles."""
    every = np.concatenate([x for sample in samples for x in sample])
    low, high = float(every.min()), float(every.max())
    return tuple(map(float, np.linspace(low, high, _LEVELS))) if high > low else (low,)


def _profile(
    sample: Sequence[Floats], levels: Sequence[float]
) -> Iterator[tuple[float, float | None, float | None]]:
    n = sum(map(len, sample))
    for level in levels:
        # By a rounding error, the last level may be slightly above the highest score.
        reached = float(np.mean([np.mean(x >= level - 1e-9 * abs(level)) for x in sample]))
        if min(map(len, sample)) < MIN_TRAININGS:
            yield reached, None, None
            continue
        found = share_interval(reached * n, n)
        assert found is not None
        yield reached, found.low, found.high


def _ranks(samples: Sequence[Sequence[Floats]], environments: Sequence[str]) -> list[Estimate | None]:
    if len(samples) < 2 or len(environments) < 2:
        return [None] * len(samples)
    values, ends = stratified.ranks_of(samples), stratified.rank_ends(samples)
    least = min(len(x) for sample in samples for x in sample)
    few = "" if stratified.enough(*samples) else "too few trainings"
    return [
        Estimate(
            float(value),
            None if end is None else end.low,
            None if end is None else end.high,
            sum(map(len, sample)),
            least,
            "rank",
            method="" if end is None else PERCENTILE_TRAININGS,
            note="" if end is not None else few or "always the same",
        )
        for value, end, sample in zip(values, ends, samples, strict=True)
    ]


def _notes(
    groups: Sequence[TrainedScores], environments: Sequence[str], samples: Sequence[Sequence[Floats]]
) -> Iterator[str]:
    if not stratified.enough(*samples):
        yield (
            f"Fewer than {MIN_INTERVAL} trainings, or {MIN_TRAININGS} in an environment, give no interval, "
            "because they may all be of one kind."
        )
    for group in groups:
        for missing in group.missing:
            why = f": {missing.reason}" if missing.reason else ""
            yield f"Seed {missing.seed} of {group.group} has no score ({missing.state}{why})."
        if group.env_id not in environments:
            yield f"{group.group} is not compared: not every algorithm was trained in {group.env_id}."
    for env_id in environments:
        here = [group for group in groups if group.env_id == env_id]
        if len({group.steps for group in here}) > 1:
            listed = wording.names([f"{group.algorithm} for {group.steps:,}" for group in here])
            yield f"In {env_id} trainings took different numbers of steps: {listed}."
    if (
        len({len(group.scores) for group in groups if group.env_id in environments}) > 1
        and len(environments) > 1
    ):
        yield "Numbers of trainings differ: in an IQM over environments each training weighs the same."
