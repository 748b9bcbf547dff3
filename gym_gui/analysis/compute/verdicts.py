"""Which of two is better, and whether that may be said at all; here it is decided what is decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from gym_gui.analysis.compute import power
from gym_gui.analysis.compute.estimates import estimate
from gym_gui.analysis.compute.outliers import outlier_note
from gym_gui.analysis.compute.power import ALPHA
from gym_gui.analysis.findings.comparison import Comparison, Stage
from gym_gui.analysis.statistics import intervals, stats
from gym_gui.analysis.statistics.distributions import CONFIDENCE, MIN_INTERVAL
from gym_gui.analysis.statistics.summary_numbers import FLIP_EXACT, SEQUENTIAL, STUDENT, Bounds, Estimate
from gym_gui.analysis.statistics.units import Sample, Scope, units_of
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.wording import whole

_HOPELESS = 1e4
"""Standard deviations of a difference, in differences, beyond which no number of seeds is named."""
MOST_LOST = 0.1
"""Share of what was to be compared that may be lost to failures, where both sides failed as often."""


class Sides(NamedTuple):
    """What is compared with what.

    Attributes:
        kind: Operators, or teams of one operator.
        operator: The operator's key for teams, else empty.
        first: Key or name for the record.
        second: The same of the other.
        first_name: How sentences call it.
        second_name: The same of the other.
        measure: ``return`` or ``score``.
        trained: Which of them is the outcome of one training: a claim holds for it alone.
        within: Of which operator that is said, where several are told of beside each other.
    """

    kind: Literal["operators", "teams"]
    operator: str
    first: str
    second: str
    first_name: str
    second_name: str
    measure: str
    trained: tuple[bool, bool] = (False, False)
    within: str = ""

    @property
    def subjects(self) -> tuple[str, str]:
        """What claims are about."""
        names = (self.first_name, self.second_name)
        first, second = (
            _with_remark(name, "this checkpoint") if trained else name
            for name, trained in zip(names, self.trained, strict=True)
        )
        return first, second


def _with_remark(name: str, remark: str) -> str:
    """``PPO (remark)``; ``PPO (200k, remark)`` where something stands there already."""
    return f"{name[:-1]}, {remark})" if name.endswith(")") else f"{name} ({remark})"


@dataclass(frozen=True)
class Pairs:
    """What two sides achieved under the same conditions.

    Attributes:
        samples: What tells which pairs are independent.
        differences: First minus second, of each.
        shared: Episodes that each side was to play there, and has ended in some way.
        failed: Of these, those in which the first and the second failed, or that gave no finite return.
        stopped: Of these, those that were stopped, or lost with a process, on one side.
        unshared: Episodes that only the first, and only the second, has played.
        bounds: What the mean difference could be, whatever the missing episodes had given.
        score: What a failed episode counts as, ``None`` where the experiment does not say.
        finished: Whether the runs have come to their end.
        gone: Episodes of either side that its run counts, and that have no line in its folder any more.
        begun_again: Episodes of the first and the second that were begun again, a process being lost.
        chosen: How many seeds there are was decided by looking at results, of which a test knows nothing.
        alike: Both sides are the same policies in each other's seats, which leaves nothing to test.
        unlike: Nothing says that what the sides achieved is of one kind, which leaves nothing to test.
        least: Units below which no interval is shown.
    """

    samples: tuple[Sample, ...]
    differences: tuple[float, ...]
    shared: int
    failed: tuple[int, int] = (0, 0)
    stopped: int = 0
    unshared: tuple[int, int] = (0, 0)
    bounds: Bounds | None = None
    score: float | None = None
    finished: bool = True
    gone: int = 0
    begun_again: tuple[int, int] = (0, 0)
    chosen: bool = False
    alike: bool = False
    unlike: bool = False
    least: int = MIN_INTERVAL

    @property
    def left_out(self) -> int:
        """Shared episodes that are not compared."""
        return self.shared - len(self.differences)

    @property
    def is_lopsided(self) -> bool:
        """Whether what is missing may be what decides: a sample without it is no fair one."""
        if not self.left_out:
            return False
        if self.failed[0] != self.failed[1] or self.left_out > MOST_LOST * self.shared:
            return True
        return self.bounds is None or self.bounds.low <= 0 <= self.bounds.high


class Tested(NamedTuple):
    """A pair of sides with its test, ``None`` where nothing can be tested."""

    sides: Sides
    pairs: Pairs
    codes: list[int]
    scope: Scope
    test: stats.PairedTest | None

    @property
    def is_testable(self) -> bool:
        """Whether there are independent seeds, and nothing that makes a test of them say something else."""
        p = self.pairs
        untestable = p.is_lopsided or p.chosen or p.alike or p.unlike
        return bool(p.differences) and self.scope == "seeds" and not untestable

    @property
    def by_unit(self) -> intervals.Floats:
        """Sum of differences per unit: seats swapped on one seed count as one."""
        return np.bincount(self.codes, weights=self.pairs.differences).astype(np.float64)


def compare_all(asked: Sequence[tuple[Sides, Pairs] | Comparison]) -> list[Comparison]:
    """Compare, in the order asked for; all of them are one family, but those that are compared already."""
    rest = iter(compare_family([each for each in asked if not isinstance(each, Comparison)]))
    return [each if isinstance(each, Comparison) else next(rest) for each in asked]


def compare_family(entries: Sequence[tuple[Sides, Pairs]]) -> list[Comparison]:
    """Test each pair of a family and correct for their number."""
    found = [_gathered(sides, pairs) for sides, pairs in entries]
    family = sum(t.is_testable for t in found)
    found = [_tested(t, family) for t in found]
    adjusted = iter(stats.holm([t.test.p for t in found if t.test is not None]))
    return [compared(t, None if t.test is None else next(adjusted), family) for t in found]


def tested(sides: Sides, pairs: Pairs) -> Tested:
    """A pair of sides with its test, as far as the sample allows one, by itself."""
    return _tested(_gathered(sides, pairs), 1)


def _gathered(sides: Sides, pairs: Pairs) -> Tested:
    codes, scope = units_of(pairs.samples)
    return Tested(sides, pairs, codes, scope, None)


def _tested(t: Tested, family: int) -> Tested:
    return t._replace(test=stats.paired_test(t.by_unit, ALPHA / family)) if t.is_testable else t


def compared(t: Tested, p_adjusted: float | None, family: int, stage: Stage | None = None) -> Comparison:
    """The comparison of two sides, with its verdict.

    Args:
        t: The sides and their test.
        p_adjusted: Its p-value within its family, ``None`` where there is none.
        family: Comparisons in the family.
        stage: Where it was looked at while seeds were added.
    """
    sides, pairs, test = t.sides, t.pairs, t.test
    d, seeds = pairs.differences, tuple(sample.seed for sample in pairs.samples)
    confidence = CONFIDENCE if stage is None else stage.confidence
    difference = estimate(d, pairs.samples, paired=True, confidence=confidence, least=pairs.least)
    verdict = _verdict(t, difference, p_adjusted, confidence)
    claim, detail = _verdict_words(t, difference, verdict, p_adjusted, family, stage)
    if stage is None:
        p, method = (None, FLIP_EXACT) if test is None else test
    else:
        p, method = None if test is None else stage.p, SEQUENTIAL
    return Comparison(
        kind=sides.kind,
        operator=sides.operator,
        first=sides.first,
        second=sides.second,
        measure=sides.measure,
        pairs=len(d),
        left_out=pairs.left_out,
        difference=difference,
        p=p,
        p_adjusted=p_adjusted,
        family=family,
        method=method,
        ahead=sum(x > 0 for x in d),
        level=sum(x == 0 for x in d),
        behind=sum(x < 0 for x in d),
        verdict=verdict,
        claim=f"{sides.within}: {claim}" if sides.within else claim,
        detail=detail,
        seeds=seeds,
        differences=d,
        outliers=outlier_note(d, t.codes, seeds, f"difference in {sides.measure}"),
        shared=pairs.shared,
        failed=pairs.failed,
        unshared=pairs.unshared,
        bounds=pairs.bounds,
        stage=stage,
    )


def _verdict(
    t: Tested, difference: Estimate, p: float | None, confidence: float
) -> Literal["first", "second", "undecided"]:
    """Decided is what test and interval agree on, of runs that have come to their end.

    Differences that are all equal have no interval. That of few seeds is too sure of itself to be shown; the
    test needs it beside it all the same.
    """
    if p is None or p >= ALPHA or difference.value is None or not t.pairs.finished or t.pairs.gone:
        return "undecided"
    if difference.units < intervals.MIN_UNITS:
        return "undecided"
    low, high = difference.low, difference.high
    if difference.units < t.pairs.least and confidence < 1:
        d, least = t.pairs.differences, intervals.MIN_UNITS
        few = intervals.paired_interval(d, t.codes, confidence=confidence, least=least)
        low, high = (None, None) if few is None else few[:2]
    low = difference.value if low is None else low
    high = difference.value if high is None else high
    return "first" if low > 0 else "second" if high < 0 else "undecided"


# ------------------------------------------------------------------------ in words


def _verdict_words(
    t: Tested, difference: Estimate, verdict: str, p: float | None, family: int, stage: Stage | None
) -> tuple[str, str]:
    sides, pairs = t.sides, t.pairs
    failures = _failures(sides, pairs)
    how = ["sequential test"] if stage is not None else []
    by_student = stage is None and t.test is not None and t.test.method == STUDENT
    how += ["t test"] if by_student else []
    how += [f"Holm, {family} comparisons"] if family > 1 else []
    correction = f" ({', '.join(how)})" if how else ""
    certainty = f", {wording.p_value(p)}{correction}" if p is not None else ""
    if verdict == "undecided":
        claim = f"{sides.subjects[0]} against {sides.subjects[1]} is not decided"
        size = f"difference in {sides.measure} {wording.estimate(difference)} {_where(t, difference)}"
        size += f"{_at_worst(sides, pairs)}{_looked_at(stage)}{certainty}"
        parts = [
            failures if pairs.is_lopsided else "",
            size if difference.n else _nothing_shared(t),
            failures if not pairs.is_lopsided else "",
            _begun_again(sides, pairs),
            _no_larger(difference, stage),
            _hint(t, difference, stage, p, family) if difference.n else "",
        ]
        return claim, ": " + "; ".join(part for part in parts if part)
    winner, loser = sides.subjects
    if verdict == "second":
        winner, loser = loser, winner
        difference = negated(difference)
    size = f" by {wording.estimate(difference)} in {sides.measure} {_where(t, difference)}"
    size += f", decided{_looked_at(stage)[1:]}{certainty}" if stage is not None else certainty
    parts = (
        failures,
        _begun_again(sides, pairs),
        _assumed(family) if by_student else "",
        # Said of every verdict: where a sample shows two sizes of differences, another seed may show a third.
        wording.not_ruled_out(difference.units, "seed", difference.unseen, difference.value or 0.0),
    )
    return f"{winner} is better than {loser}", "; ".join([size, *(part for part in parts if part)])


def _looked_at(stage: Stage | None) -> str:
    """`` , after 20 of 100 seeds``; empty where nobody looked before the end."""
    return "" if stage is None else f", after {whole(stage.seeds)} of {wording.count(stage.largest, 'seed')}"


def _no_larger(difference: Estimate, stage: Stage | None) -> str:
    """What a comparison that has come to its largest number of seeds rules out."""
    low, high = difference.low, difference.high
    if stage is None or stage.seeds < stage.largest or low is None or high is None:
        return ""
    return f"no difference larger than {wording.number(max(abs(low), abs(high)))} was found"


def _assumed(family: int) -> str:
    return (
        f"signs of so few seeds cannot decide {family} comparisons: the t test takes differences for normal"
    )


def _failures(sides: Sides, pairs: Pairs) -> str:
    """``A failed in 10 of 20 episodes``; empty where nobody failed."""
    first, second = pairs.failed
    of = f"of {wording.count(pairs.shared, 'episode')}"
    counted = "" if pairs.score is None else f", each counted as {wording.number(pairs.score)}"
    stopped = f"{whole(pairs.stopped)} {of} stopped or lost" if pairs.stopped else ""
    if sides.kind == "teams":
        told = f"{whole(first)} {of} failed" if first else ""
    elif first and second:
        told = f"{sides.first_name} failed in {whole(first)} and {sides.second_name} in {whole(second)}"
        told += f" {of}{counted}"
    elif first or second:
        name = sides.first_name if first else sides.second_name
        told = f"{name} failed in {whole(first or second)} {of}{counted}"
    else:
        told = ""
    return ", ".join(part for part in (told, stopped) if part)


def _begun_again(sides: Sides, pairs: Pairs) -> str:
    """``3 episodes of A begun again``; empty where no process was lost."""
    names = ("", "") if sides.kind == "teams" else (f" of {sides.first_name}", f" of {sides.second_name}")
    counts = pairs.begun_again[: 1 if sides.kind == "teams" else 2]
    told = [f"{wording.count(n, 'episode')}{name}" for n, name in zip(counts, names, strict=False) if n]
    return f"{' and '.join(told)} begun again" if told else ""


def _at_worst(sides: Sides, pairs: Pairs) -> str:
    """What the difference could be with the missing episodes in it."""
    b = pairs.bounds
    if b is None or not pairs.left_out:
        return ""
    digits = wording.decimals(b.low, b.high)
    low, high = wording.number(b.low, digits), wording.number(b.high, digits)
    return f", {low} to {high} with the worst or best {sides.measure} seen for those missing"


def _where(t: Tested, difference: Estimate) -> str:
    seeds = wording.count(difference.units, "seed")
    episodes = wording.count(difference.n, "episode")
    left = (
        "" if not t.pairs.left_out else "that both completed" if t.sides.kind == "operators" else "completed"
    )
    if t.scope == "one seed":
        return f"in {episodes} on seed {t.pairs.samples[0].seed} only"
    if t.scope == "identical":
        return f"in {episodes}"
    if t.sides.kind == "teams":
        return f"in {episodes}" if difference.units == difference.n else f"in {episodes} on {seeds}"
    shared = f"{seeds} {left}" if left else wording.count(difference.units, "shared seed")
    return f"on {shared}" if difference.units == difference.n else f"on {shared} ({difference.n} episodes)"


def _nothing_shared(t: Tested) -> str:
    if t.sides.kind == "teams":
        return "no episode was completed"
    return "no seed that both completed" if t.pairs.shared else "they share no seed"


def _hint(t: Tested, difference: Estimate, stage: Stage | None, p: float | None, family: int) -> str:
    """What would settle it."""
    if t.pairs.chosen:
        return "seeds were added until something else was decided, which leaves nothing to test here"
    if t.pairs.alike:
        return "both sides have the same players"
    if t.pairs.unlike:
        return "they differ in size, and neither a winner nor a score says which return is the better one"
    if t.scope == "identical":
        return "they are all the same, which is one observation"
    if t.pairs.finished and t.pairs.gone:
        are = "is" if t.pairs.gone == 1 else "are"
        return f"{wording.count(t.pairs.gone, 'episode')} {are} missing"
    if not t.pairs.finished or (stage is not None and stage.seeds < stage.largest):
        return "the run is not finished"
    if t.test is None and t.pairs.is_lopsided:
        return ""
    if t.scope == "one seed":
        return f"at least {intervals.MIN_UNITS} seeds are needed"
    if stage is None and (few := _too_few(difference.units, family)):
        return few
    if difference.units < intervals.MIN_UNITS:
        return f"at least {intervals.MIN_UNITS} seeds are needed"
    if not any(t.pairs.differences):
        return "they did the same on all of them"
    more = _more_seeds(t.by_unit, difference, family)
    if p is not None and p < ALPHA:
        holds = f"the {'95 % ' if stage is None else ''}interval does not exclude 0"
        return f"{holds}; {more}" if more else holds
    return more


def _too_few(seeds: int, family: int) -> str:
    """What it takes where signs of so many seeds cannot decide one of so many comparisons."""
    needed = power.seeds_by_signs(max(family, 1))
    if seeds >= needed:
        return ""
    return f"at least {needed} seeds are needed" + (f" for {family} comparisons" if family > 1 else "")


def _more_seeds(by_unit: intervals.Floats, difference: Estimate, family: int) -> str:
    """How many more seeds a difference like the one seen would need, and how sure that is."""
    needed = _seeds_for(by_unit, float(np.abs(by_unit.mean())), family)
    if needed is None or needed <= difference.units:
        return ""
    said = f"about {_two_digits(needed - difference.units)} more seeds would settle a difference of this size"
    if difference.value and difference.low is not None and difference.high is not None:
        most = max(abs(difference.low), abs(difference.high))
        least = _seeds_for(by_unit, abs(float(by_unit.mean())) * most / abs(difference.value), family)
        if least is not None and least > difference.units:
            few = _two_digits(least - difference.units)
            largest = f"{wording.number(most)}, the largest that the interval holds"
            said += f", about {few} more if it were {largest}"
    return f"{said}; a smaller one takes more"


def _seeds_for(by_unit: intervals.Floats, size: float, family: int) -> int | None:
    """Seeds that a mean difference of this size takes; ``None`` where it is 0, or cannot be judged."""
    spread = float(by_unit.std(ddof=1)) if len(by_unit) > 1 else 0.0
    if size == 0 or spread == 0 or spread / size > _HOPELESS:
        return None
    return power.seeds_needed(size, spread, comparisons=max(family, 1))


def _two_digits(n: int) -> str:
    """A number that is an estimate."""
    return whole(float(f"{n:.2g}"))


def negated(e: Estimate) -> Estimate:
    """The difference the other way round."""

    def minus(x: float | None) -> float | None:
        return None if x is None else -x

    return replace(e, value=minus(e.value), low=minus(e.high), high=minus(e.low))
