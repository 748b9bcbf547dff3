"""Data classes of a report on algorithms: scores of trainings, estimates, comparisons, learning curves.

:func:`~gym_gui.analysis.compute.algorithms.compare_algorithms` builds an :class:`AlgorithmReport`; the text,
the page and ``algorithms.json`` only show it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from gym_gui.analysis.statistics.summary_numbers import EXACT_SHARE, Estimate

if TYPE_CHECKING:
    from gym_gui.analysis.statistics.intervals import (
        Floats,  # imports numpy, which a summary does not need
    )

MEAN_RETURN: Final = "mean return"
BOOTSTRAP_TRAININGS: Final = "stratified bootstrap-t over trainings"
PERCENTILE_TRAININGS: Final = "stratified expanded percentile bootstrap over trainings"
SPLITS_EXACT: Final = "two-sample permutation, exact"
SPLITS_SAMPLED: Final = "two-sample permutation, random splits"

ALGORITHM_METHODS: Mapping[str, str] = {
    "score": "of a training: the mean return of its final policy in its own evaluation",
    "normalised": "(score - that of random play) / (that of the reference - that of random play)",
    "mean": "mean over environments of the mean over trainings",
    "iqm": "interquartile mean over trainings of all environments together (Agarwal et al. 2021)",
    BOOTSTRAP_TRAININGS: (
        "95 % interval of a mean or of a difference of means: 9,999 resamples of whole trainings within "
        "each environment, each measured in its own standard error (Efron & Tibshirani 1993)"
    ),
    PERCENTILE_TRAININGS: (
        "95 % interval from 9,999 resamples of whole trainings within each environment, percentiles widened "
        "for few trainings (Hesterberg 2015)"
    ),
    "improvement": (
        "probability that a training of the first does better than one of the second, ties half, mean over "
        "environments (Agarwal et al. 2021)"
    ),
    "profile": (
        "share of trainings with at least this score; its 95 % interval is Clopper and Pearson's (1934), for "
        "each score separately"
    ),
    "curve": (
        "IQM over trainings of the mean return of their last 100 training episodes; its band is a 95 % "
        "interval for each step separately"
    ),
    "rank": "mean over environments of the rank by mean score; equal scores share a rank",
    SPLITS_EXACT: "two-sided test, every way to split the trainings of two algorithms (Chung & Romano 2013)",
    SPLITS_SAMPLED: "two-sided test, 19,999 random ways to split the trainings, fixed random seed",
    "Holm": "p-values of one report are corrected by Holm's step-down procedure (1979)",
    EXACT_SHARE: "exact 95 % interval of a share (1934)",
}


class MissingTraining(NamedTuple):
    """Training without a score.

    Attributes:
        seed: Seed of the training.
        state: ``waiting``, ``running``, ``stopped``, ``failed`` or ``damaged``.
        reason: Reason why there is no score; may be empty.
    """

    seed: int
    state: str
    reason: str = ""


class LearningCurve(NamedTuple):
    """Steps and returns of the episodes of one training, in order.

    Attributes:
        steps: Steps of the training at the end of each episode.
        returns: Return of each episode.
    """

    steps: Floats
    returns: Floats


@dataclass(frozen=True)
class TrainedScores:
    """Scores of one algorithm in one environment, one per training.

    Attributes:
        algorithm: Name of the algorithm, the same in every environment.
        group: Name of the group of its trainings in this environment.
        env_id: The environment.
        scores: Score of each finished training, by seed.
        steps: Planned steps of a training, 0 if unknown.
        missing: Trainings without a score.
        curves: Episodes of the finished trainings, by seed.
        about: Description of the trainings: text by heading (``Worker``, ``Steps``, …).
    """

    algorithm: str
    group: str
    env_id: str
    scores: Mapping[int, float]
    steps: int = 0
    missing: tuple[MissingTraining, ...] = ()
    curves: Mapping[int, LearningCurve] = field(default_factory=dict[int, LearningCurve])
    about: Mapping[str, str] = field(default_factory=dict[str, str])


class Scale(NamedTuple):
    """Mean returns that count as 0 and as 1 in normalized scores of one environment.

    Attributes:
        random: Mean return of random play, which counts as 0.
        reference: Mean return of the reference, which counts as 1.
    """

    random: float
    reference: float


@dataclass(frozen=True)
class AlgorithmResults:
    """Results of one algorithm in one environment, as a report shows them.

    Attributes:
        group: Name of the group of its trainings in this environment.
        env_id: The environment.
        scores: Score of each training, by seed.
        mean: Mean of the scores.
        iqm: IQM of the scores.
        missing: Trainings without a score.
        about: Description of the trainings: text by heading.
    """

    group: str
    env_id: str
    scores: Mapping[int, float]
    mean: Estimate
    iqm: Estimate
    missing: tuple[MissingTraining, ...]
    about: Mapping[str, str]


@dataclass(frozen=True)
class AlgorithmSummary:
    """Results of one algorithm over all environments.

    Attributes:
        name: Name of the algorithm.
        trained: Results by environment.
        mean: Mean over environments, of normalized scores if there are several environments.
        iqm: IQM over the trainings of all environments, of the same scores.
        rank: Mean rank over environments, ``None`` with one environment or one algorithm.
        profile: Share of trainings that reach each score of :attr:`AlgorithmReport.levels`, with both ends of
            its interval; the ends are ``None`` with too few trainings.
    """

    name: str
    trained: tuple[AlgorithmResults, ...]
    mean: Estimate
    iqm: Estimate
    rank: Estimate | None
    profile: tuple[tuple[float, float | None, float | None], ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain data, as stored in ``algorithms.json``."""
        trained = [
            asdict(each) | {"missing": [missing._asdict() for missing in each.missing]}
            for each in self.trained
        ]
        return asdict(self) | {"trained": trained}

    @property
    def trainings(self) -> int:
        """Number of trainings with a score."""
        return sum(len(each.scores) for each in self.trained)


@dataclass(frozen=True)
class AlgorithmComparison:
    """Comparison of two algorithms over their trainings.

    Attributes:
        first: Name of the algorithm with the higher mean score.
        second: Name of the other algorithm.
        difference: Mean score of the first minus that of the second.
        improvement: Probability that a training of the first algorithm scores higher than one of the second.
        p: p-value of the test, ``None`` without a test.
        p_adjusted: p-value corrected for all comparisons of the report.
        family: Number of comparisons of the report.
        method: Name of the test.
        verdict: ``first`` if the first is better, else ``undecided``.
        claim: The verdict as text.
        detail: Numbers behind the verdict as text, which continues the claim.
    """

    first: str
    second: str
    difference: Estimate
    improvement: Estimate
    p: float | None
    p_adjusted: float | None
    family: int
    method: str
    verdict: Literal["first", "undecided"]
    claim: str = ""
    detail: str = ""


@dataclass(frozen=True)
class CurveBand:
    """Learning curve of an algorithm in one environment, with a band.

    Attributes:
        algorithm: Name of the algorithm.
        env_id: Id of the environment.
        steps: Steps of a training.
        values: At each step, IQM over trainings of the mean return of their last episodes.
        low: Lower end of the interval at each step, empty with too few trainings.
        high: Upper end of the interval at each step, empty with too few trainings.
        trainings: Curve of each training, by seed.
    """

    algorithm: str
    env_id: str
    steps: tuple[float, ...]
    values: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    trainings: Mapping[int, tuple[float, ...]]


@dataclass(frozen=True)
class AlgorithmReport:
    """Contents of a report on algorithms.

    Attributes:
        algorithms: Algorithms, best first.
        comparisons: Comparisons of all pairs, best first.
        environments: Environments in which all algorithms were trained.
        curves: Learning curves by environment and algorithm.
        levels: Scores at which performance profiles are computed.
        scales: Scores that count as 0 and 1, by environment; empty with one environment.
        reference: Description of the score that counts as 1; empty with one environment.
        notes: Sentences on limits of the results.
        methods: Description of each method by its name.
        scored: Name of the score if it is not normalized.
    """

    algorithms: tuple[AlgorithmSummary, ...]
    comparisons: tuple[AlgorithmComparison, ...]
    environments: tuple[str, ...]
    curves: tuple[CurveBand, ...]
    levels: tuple[float, ...]
    scales: Mapping[str, Scale]
    reference: str
    notes: tuple[str, ...]
    methods: Mapping[str, str] = field(default_factory=lambda: dict(ALGORITHM_METHODS))
    scored: str = MEAN_RETURN

    @property
    def measure(self) -> str:
        """Name of the score."""
        return "normalized score" if self.scales else self.scored

    def to_json(self) -> dict[str, Any]:
        """Return plain data, as stored in ``algorithms.json``."""
        return asdict(self) | {
            "measure": self.measure,
            "algorithms": [algorithm.to_json() for algorithm in self.algorithms],
            "scales": {env_id: scale._asdict() for env_id, scale in self.scales.items()},
        }
