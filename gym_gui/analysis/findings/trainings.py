"""What a report on algorithms is made from, and what it says: one score for each training.

:func:`~gym_gui.analysis.compute.algorithms.compare_algorithms` makes an :class:`AlgorithmReport`; the text,
the page and ``algorithms.json`` only show it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from gym_gui.analysis.statistics.summary_numbers import EXACT_SHARE, Estimate

if TYPE_CHECKING:
    from gym_gui.analysis.statistics.intervals import (
        Floats,  # numpy, which a summary's own data can do without
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
        "share of trainings that reach a score at least; its 95 % interval is Clopper and Pearson's (1934) "
        "at each score by itself"
    ),
    "curve": (
        "IQM over trainings of the mean return of their last 100 training episodes; its band is a 95 % "
        "interval at each step by itself"
    ),
    "rank": "mean over environments of the rank by mean score, equals share a rank",
    SPLITS_EXACT: "two-sided test, every way to split the trainings of two algorithms (Chung & Romano 2013)",
    SPLITS_SAMPLED: "the same by 19,999 random ways to split them, fixed random seed",
    "Holm": "p-values of one report are corrected by Holm's step-down procedure (1979)",
    EXACT_SHARE: "exact 95 % interval of a share (1934)",
}


class Missing(NamedTuple):
    """A training without a score.

    Attributes:
        seed: Its seed.
        state: ``waiting``, ``running``, ``stopped``, ``failed`` or ``damaged``.
        reason: Why, empty where there is nothing to say.
    """

    seed: int
    state: str
    reason: str = ""


class LearningCurve(NamedTuple):
    """The episodes of one training in order.

    Attributes:
        steps: Steps of the training at the end of each.
        returns: The return of each.
    """

    steps: Floats
    returns: Floats


@dataclass(frozen=True)
class TrainedScores:
    """One algorithm in one environment, trained several times.

    Attributes:
        algorithm: What it is called, the same in every environment.
        group: Name of the group of its trainings in this environment.
        env_id: The environment.
        scores: One for each training that is done, by its seed.
        steps: Steps that a training was to take, 0 where that is not known.
        missing: Trainings that have none.
        curves: Episodes of the trainings that are done, by seed.
        about: How it was trained: text by heading (``Worker``, ``Steps``, …).
    """

    algorithm: str
    group: str
    env_id: str
    scores: Mapping[int, float]
    steps: int = 0
    missing: tuple[Missing, ...] = ()
    curves: Mapping[int, LearningCurve] = field(default_factory=dict[int, LearningCurve])
    about: Mapping[str, str] = field(default_factory=dict[str, str])


class Scale(NamedTuple):
    """What 0 and 1 of normalised scores are in one environment.

    Attributes:
        random: Mean return of random play.
        reference: That of the reference.
    """

    random: float
    reference: float


@dataclass(frozen=True)
class Trained:
    """One algorithm in one environment, as a report shows it.

    Attributes:
        group: Name of the group of its trainings in this environment.
        env_id: The environment.
        scores: Score of each training, by seed.
        mean: Of the scores.
        iqm: Of the scores.
        missing: Trainings that have none.
        about: What trained it and how.
    """

    group: str
    env_id: str
    scores: Mapping[int, float]
    mean: Estimate
    iqm: Estimate
    missing: tuple[Missing, ...]
    about: Mapping[str, str]


@dataclass(frozen=True)
class AlgorithmSummary:
    """One algorithm.

    Attributes:
        name: What it is called.
        trained: By environment.
        mean: Over environments: scores themselves where there is one, else normalised.
        iqm: Likewise.
        rank: Mean rank over environments, ``None`` with one environment or one algorithm.
        profile: Share of trainings that reach each score of :attr:`AlgorithmReport.levels`, with the ends of
            its interval, which are ``None`` with too few trainings.
    """

    name: str
    trained: tuple[Trained, ...]
    mean: Estimate
    iqm: Estimate
    rank: Estimate | None
    profile: tuple[tuple[float, float | None, float | None], ...]

    def to_json(self) -> dict[str, Any]:
        """As ``algorithms.json`` has it."""
        trained = [
            asdict(each) | {"missing": [missing._asdict() for missing in each.missing]}
            for each in self.trained
        ]
        return asdict(self) | {"trained": trained}

    @property
    def trainings(self) -> int:
        """How many have a score."""
        return sum(len(each.scores) for each in self.trained)


@dataclass(frozen=True)
class AlgorithmComparison:
    """Two algorithms over their trainings.

    Attributes:
        first: The one whose mean score is higher.
        second: The other.
        difference: First minus second of the mean score.
        improvement: Probability that a training of the first does better than one of the second.
        p: Of the test, ``None`` where there is none.
        p_adjusted: Corrected for all comparisons of the report.
        family: How many these are.
        method: Of the test.
        verdict: Whether the first is better.
        claim: The same in words.
        detail: The numbers behind it; continues the sentence.
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
    """How fast an algorithm learns in one environment.

    Attributes:
        algorithm: Which.
        env_id: Where.
        steps: Steps of a training.
        values: IQM over trainings of the mean return of their last episodes there.
        low: Lower end of its interval at each, empty with too few trainings.
        high: Upper end.
        trainings: The curve of each training, by seed.
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
    """Everything that a report on algorithms says.

    Attributes:
        algorithms: Best first.
        comparisons: Every two, best first.
        environments: In which all of them were trained.
        curves: By environment and algorithm.
        levels: Scores of which the profile says how many trainings reach them.
        scales: What 0 and 1 of normalised scores are, by environment; empty with one environment.
        reference: Whose scores are 1, as words; empty with one environment.
        notes: Sentences on what weakens it.
        methods: How the numbers are made.
        scored: What a score is called where it is not normalised.
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
        """What a score is called."""
        return "normalised score" if self.scales else self.scored

    def to_json(self) -> dict[str, Any]:
        """As ``algorithms.json`` has it."""
        return asdict(self) | {
            "measure": self.measure,
            "algorithms": [algorithm.to_json() for algorithm in self.algorithms],
            "scales": {env_id: scale._asdict() for env_id, scale in self.scales.items()},
        }
