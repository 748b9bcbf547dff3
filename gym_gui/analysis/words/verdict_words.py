"""Formats verdicts as sentences: which of two sides is better, or that this is not decided."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gym_gui.analysis.findings.comparison import LastInterimLook
from gym_gui.analysis.findings.pairs import Pairs, Sides, TestedPairs
from gym_gui.analysis.findings.standings import NOT_RANDOM, Standing
from gym_gui.analysis.findings.trainings import AlgorithmComparison
from gym_gui.analysis.statistics import intervals
from gym_gui.analysis.statistics.seeds_needed import ALPHA, seeds_by_signs, seeds_needed
from gym_gui.analysis.statistics.summary_numbers import STUDENT, Estimate
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.wording import whole

_HOPELESS = 1e4
"""Largest ratio of a difference's standard deviation to its mean for which needed seeds are estimated."""


def verdict_words(
    t: TestedPairs,
    difference: Estimate,
    verdict: str,
    p: float | None,
    family: int,
    stage: LastInterimLook | None,
) -> tuple[str, str]:
    """Return the verdict on two sides as text: the claim, and the numbers that support it.

    Args:
        t: The sides and their test.
        difference: Estimated difference, first minus second.
        verdict: ``first``, ``second`` or ``undecided``.
        p: Adjusted p-value within the family, ``None`` without a test.
        family: Number of comparisons in the family.
        stage: Last interim look, if the comparison had interim looks while seeds were added.
    """
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
        difference = difference.negated()
    size = f" by {wording.estimate(difference)} in {sides.measure} {_where(t, difference)}"
    size += f", decided{_looked_at(stage)[1:]}{certainty}" if stage is not None else certainty
    parts = (
        failures,
        _begun_again(sides, pairs),
        _assumed(family) if by_student else "",
        # Added to every verdict, because a seed outside the sample may differ in a way that no seed here did.
        wording.not_ruled_out(difference.units, "seed", difference.unseen, difference.value or 0.0),
    )
    return f"{winner} is better than {loser}", "; ".join([size, *(part for part in parts if part)])


def _looked_at(stage: LastInterimLook | None) -> str:
    """Return e.g. ``, after 20 of 100 seeds``; empty if there were no interim looks."""
    return "" if stage is None else f", after {whole(stage.seeds)} of {wording.count(stage.largest, 'seed')}"


def _no_larger(difference: Estimate, stage: LastInterimLook | None) -> str:
    """Return the largest difference in the interval as text, if all planned seeds have been played."""
    low, high = difference.low, difference.high
    if stage is None or stage.seeds < stage.largest or low is None or high is None:
        return ""
    return f"no difference larger than {wording.number(max(abs(low), abs(high)))} was found"


def _assumed(family: int) -> str:
    return (
        f"sign flips on so few seeds cannot decide {family} comparisons, so a t test was used, which assumes "
        "normal differences"
    )


def _failures(sides: Sides, pairs: Pairs) -> str:
    """Return e.g. ``A failed in 10 of 20 episodes``; empty if no episode failed, was stopped or was lost."""
    first, second = pairs.failed
    of = f"of {wording.count(pairs.shared, 'episode')}"
    counted = "" if pairs.score is None else f", each counted as {wording.number(pairs.score)}"
    stopped = f"{whole(pairs.stopped)} {of} stopped or lost" if pairs.stopped else ""
    if sides.kind == "teams":
        words = f"{whole(first)} {of} failed" if first else ""
    elif first and second:
        words = f"{sides.first_name} failed in {whole(first)} and {sides.second_name} in {whole(second)}"
        words += f" {of}{counted}"
    elif first or second:
        name = sides.first_name if first else sides.second_name
        words = f"{name} failed in {whole(first or second)} {of}{counted}"
    else:
        words = ""
    return ", ".join(part for part in (words, stopped) if part)


def _begun_again(sides: Sides, pairs: Pairs) -> str:
    """Return e.g. ``3 episodes of A begun again``; empty if no episode was repeated after a lost process."""
    names = ("", "") if sides.kind == "teams" else (f" of {sides.first_name}", f" of {sides.second_name}")
    counts = pairs.begun_again[: 1 if sides.kind == "teams" else 2]
    parts = [f"{wording.count(n, 'episode')}{name}" for n, name in zip(counts, names, strict=False) if n]
    return f"{' and '.join(parts)} begun again" if parts else ""


def _at_worst(sides: Sides, pairs: Pairs) -> str:
    """Return the range of the difference for any observed results in place of missing ones, as text."""
    b = pairs.bounds
    if b is None or not pairs.left_out:
        return ""
    digits = wording.decimals(b.low, b.high)
    low, high = wording.number(b.low, digits), wording.number(b.high, digits)
    return f", {low} to {high} if missing episodes had the worst or best observed {sides.measure}"


def _where(t: TestedPairs, difference: Estimate) -> str:
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


def _nothing_shared(t: TestedPairs) -> str:
    if t.sides.kind == "teams":
        return "no episode was completed"
    return "no seed that both completed" if t.pairs.shared else "they share no seed"


def _hint(
    t: TestedPairs, difference: Estimate, stage: LastInterimLook | None, p: float | None, family: int
) -> str:
    """Return as text why a comparison is undecided, or what would decide it."""
    if t.pairs.chosen:
        return "seeds were added until another comparison was decided, so a test of this one is not valid"
    if t.pairs.alike:
        return "both sides have the same players"
    if t.pairs.unlike:
        return "the sides differ in size, and neither a winner nor a score tells which return is better"
    if t.scope == "identical":
        return "all episodes are the same, so they are a single observation"
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
        return "both sides had the same results on all seeds"
    more = _more_seeds(t.by_unit, difference, family)
    if p is not None and p < ALPHA:
        holds = f"the {'95 % ' if stage is None else ''}interval does not exclude 0"
        return f"{holds}; {more}" if more else holds
    return more


def _too_few(seeds: int, family: int) -> str:
    """Return how many seeds sign flips need, if there are fewer; else an empty text."""
    needed = seeds_by_signs(max(family, 1))
    if seeds >= needed:
        return ""
    return f"at least {needed} seeds are needed" + (f" for {family} comparisons" if family > 1 else "")


def _more_seeds(by_unit: intervals.Floats, difference: Estimate, family: int) -> str:
    """Return as text how many more seeds would decide a difference of the observed size, or a larger one."""
    needed = _seeds_for(by_unit, float(np.abs(by_unit.mean())), family)
    if needed is None or needed <= difference.units:
        return ""
    words = (
        f"about {_two_digits(needed - difference.units)} more seeds would settle a difference of this size"
    )
    if difference.value and difference.low is not None and difference.high is not None:
        most = max(abs(difference.low), abs(difference.high))
        least = _seeds_for(by_unit, abs(float(by_unit.mean())) * most / abs(difference.value), family)
        if least is not None and least > difference.units:
            few = _two_digits(least - difference.units)
            largest = f"{wording.number(most)}, the largest that the interval holds"
            words += f", about {few} more if it were {largest}"
    return f"{words}; a smaller one takes more"


def _seeds_for(by_unit: intervals.Floats, size: float, family: int) -> int | None:
    """Return the number of seeds needed for a mean difference; ``None`` if it is 0 or too uncertain."""
    spread = float(by_unit.std(ddof=1)) if len(by_unit) > 1 else 0.0
    if size == 0 or spread == 0 or spread / size > _HOPELESS:
        return None
    return seeds_needed(size, spread, comparisons=max(family, 1))


def _two_digits(n: int) -> str:
    """Return a number as text, rounded to two significant digits."""
    return whole(float(f"{n:.2g}"))


def algorithm_verdict_words(c: AlgorithmComparison, reason: str, over: str, measure: str) -> tuple[str, str]:
    """Return the verdict on two algorithms as text: the claim, and the numbers that support it.

    Args:
        c: The comparison.
        reason: Reason why no verdict is possible; empty if one is.
        over: Compared trainings and environments, as text.
        measure: Name of the score.
    """
    certainty = "" if c.p_adjusted is None else f", {wording.p_value(c.p_adjusted)}"
    certainty += f" (Holm, {c.family} comparisons)" if c.p_adjusted is not None and c.family > 1 else ""
    share = _percent(c.improvement)
    chance = f"a training of {c.first} does better than one of {c.second} {share} of the time"
    if c.improvement.low is None:
        chance = f"of pairs of trainings {c.first} did better in {share}"
    size = f"{wording.estimate(c.difference)}"
    if c.verdict == "undecided":
        parts = [reason, f"difference in {measure} {size} over {over}{certainty}", chance]
        return f"{c.first} against {c.second} is not decided", f": {'; '.join(filter(None, parts))}"
    of = c.difference
    unseen = wording.not_ruled_out(of.units, "training", of.unseen, of.value or 0.0)
    by = f" by {size} in {measure} over {over}{certainty}"
    return f"{c.first} is better than {c.second}", f"{by}; {chance}; {unseen}"


def _percent(e: Estimate) -> str:
    """Return a share as text, with its interval if it has one, e.g. ``88 % [61, 99]``."""
    if e.low is None or e.high is None:
        return wording.percent(e.value)
    return f"{wording.percent(e.value)} [{100 * e.low:.0f}, {100 * e.high:.0f}]"


def tournament_verdict_words(
    policies: Sequence[Standing], games: int, planned: int, unplayed: int, rounds: tuple[int, int] | None
) -> tuple[str, str]:
    """Return the verdict on a tournament as text: the claim, and the numbers that support it.

    Args:
        policies: Standings of the policies, best first.
        games: Number of games that count.
        planned: Number of planned games.
        unplayed: Number of planned games without a record.
        rounds: Numbers of paired and of remaining rounds of a Swiss tournament; ``None`` for other schedules.
    """
    if not games:
        return "No game counts yet", ""
    paired, left = rounds or (0, 0)
    in_round = f", in round {paired} of {paired + left}" if rounds is not None else ""
    if unplayed:
        return "Not decided", f": {games:,} of {planned:,} games are played{in_round}"
    if left:
        return "Not decided", f": {paired} of {paired + left} rounds are played"
    best = policies[0]
    if best.ranks is None:
        why = (
            "its games are the same on every seed"
            if best.note == NOT_RANDOM
            else "at least 6 seeds are needed"
        )
        return "Not decided", f": {best.policy} is ahead, but {why}"
    if any(standing.failed for standing in policies):
        who = [standing.policy for standing in policies if standing.failed]
        return "Not decided", f": games of {wording.names(who)} failed, so results are missing"
    may = [standing.policy for standing in policies if standing.ranks and standing.ranks.best == 1]
    rating = f"{wording.number(best.rating.value, 0)} points"
    if best.rating.low is not None:
        rating += f" {wording.interval(best.rating.low, best.rating.high, 0)}"
    counted = f"{games:,} games"
    if may == [best.policy]:
        return f"{best.policy} is the best of {len(policies)} policies", f": {rating}, in {counted}"
    return "Who is best is not decided", f": {wording.names(may)} may be first, in {counted}"
