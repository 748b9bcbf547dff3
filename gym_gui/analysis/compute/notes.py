"""Builds the notes of a report: sentences on missing episodes, unequal seeds, hidden information, ..."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gym_gui.analysis.compute.collect import OperatorData
from gym_gui.analysis.compute.games import is_tournament
from gym_gui.analysis.compute.outliers import outlier_note
from gym_gui.analysis.compute.pairing import Entry, totals
from gym_gui.analysis.findings.comparison import Comparison
from gym_gui.analysis.findings.summary import OperatorSummary
from gym_gui.analysis.findings.trainings import AlgorithmReport
from gym_gui.analysis.records.reader import Run
from gym_gui.analysis.statistics.distributions import CONFIDENCE
from gym_gui.analysis.statistics.summary_numbers import Bounds
from gym_gui.analysis.statistics.units import units_of
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.wording import whole
from gym_gui.core.experiment.shards import SHARDS, Shard
from gym_gui.core.record_fields import items, mapping
from gym_gui.core.records import ENVIRONMENT, SESSION, WORKER

_MOST_LISTED, _MOST_NAMED = 12, 4

# ------------------------------------------------------------------ of one operator


def operator_notes(entry: Entry, operator: OperatorSummary) -> Iterable[str]:
    """Yield the notes on one operator, which a report shows beside the operator's numbers."""
    data = entry.data
    yield from _unit_notes(data)
    if len(data.squads) < 2:
        usable = totals(entry)
        samples = [sample for _, sample in usable]
        codes, seeds = units_of(samples).codes, [sample.seed for sample in samples]
        if note := outlier_note([total for total, _ in usable], codes, seeds, "mean return"):
            yield note
    yield from _failure_notes(operator)
    if operator.halved:
        yield (
            f"{wording.count(operator.halved, 'completed episode')} left out: "
            "a seed counts only where it was completed in every seating."
        )
    if data.taken_back:
        yield (
            f"{wording.count(data.taken_back, 'episode')} left out, because a player took back moves there."
        )
    if data.out_of_time:
        yield (
            f"{wording.count(data.out_of_time, 'episode')} left out, because a player ran out of time there: "
            "on another machine it may end differently."
        )
    if len(data.squads) > 1 and data.played and not data.swapped:
        yield "Seats were fixed: a difference between teams may be the seat's, not the policy's."
    if slots := _slots_with_rewards(entry):
        yield (
            f"Rewards were in the prompts of {', '.join(slots)} (tell_rewards: always). "
            "If seats hide information from each other, rewards may reveal it."
        )
    yield from _altered_prompt_notes(entry)
    for slot, episodes in data.saw_everything.items():
        yield (
            f"{data.team_title(slot)} was played by a person who saw what is hidden from that seat, in "
            f"{whole(episodes)} of {wording.count(operator.recorded, 'episode')}."
        )
    for slot, episodes in data.saw_state.items():
        yield (
            f"{data.team_title(slot)} received the simulator's whole state, in {whole(episodes)} of "
            f"{wording.count(operator.recorded, 'episode')}; other players observe less."
        )
    for team in operator.teams if data.swapped else ():
        measure = "score" if team.score else "return"
        parts = [
            f"{wording.estimate(e)} in the seats of {data.seat_title(seats)}"
            for seats, e in team.by_seats.items()
        ]
        if parts:
            yield f"Mean {measure} of {team.title}: {', '.join(parts)}."


def _slots_with_rewards(entry: Entry) -> list[str]:
    """Return the slots whose prompts contain rewards even if rewards may reveal hidden information."""
    return [slot for slot, given in _settings(entry).items() if given.get("tell_rewards") == "always"]


def _settings(entry: Entry) -> dict[str, Mapping[str, Any]]:
    """Return the configured settings of each slot."""
    workers = mapping(entry.operator.config.get("workers")) or {}
    return {slot: mapping((mapping(each) or {}).get("settings")) or {} for slot, each in workers.items()}


_RENAMED = {
    "actions": "actions",
    "objects": "objects",
    "both": "actions and objects, as far as there are any,",
}


def _altered_prompt_notes(entry: Entry) -> Iterable[str]:
    """Yield a note for each way in which the prompts of some slots were altered.

    Actions or objects may have other names, and the list of legal actions may be hidden.
    """
    by_way: dict[str, list[str]] = {}
    for slot, given in _settings(entry).items():
        if (what := _RENAMED.get(str(given.get("rename")))) is not None:
            seed = given.get("rename_seed") or 0
            by_way.setdefault(f"{what} had other names (rename_seed {seed})", []).append(slot)
        if given.get("hide_legal") is True:
            by_way.setdefault("the legal actions were not listed", []).append(slot)
    for way, slots in by_way.items():
        yield f"For {wording.names(slots)} {way}."


def _unit_notes(data: OperatorData) -> Iterable[str]:
    episodes = wording.count(len(data.played), "episode")
    scope = units_of([e.sample for e in data.played]).scope
    rounds = Counter(e.seed for e in data.played)
    if scope == "identical":
        yield f"All {episodes} are the same, step by step: they count as one observation."
    elif scope == "one seed":
        yield "One seed was repeated: the intervals hold for this seed and no other."
    elif len(set(rounds.values())) > 1:
        seed, most = rounds.most_common(1)[0]
        yield (
            f"Seeds were not played equally often: seed {seed} was played {most} times, "
            f"another {min(rounds.values())}, and weighs that much more in every mean."
        )


def _failure_notes(o: OperatorSummary) -> Iterable[str]:
    lost = o.failed + o.without_return
    if not lost and not o.aborted:
        return
    parts = [
        f"{whole(o.failed)} failed" if o.failed else "",
        f"{whole(o.without_return)} gave no finite return" if o.without_return else "",
        f"{whole(o.aborted)} were stopped" if o.aborted else "",
    ]
    words = f"of {wording.count(o.recorded, 'episode')}, {' and '.join(part for part in parts if part)}"
    if lost and o.failure_score is not None and not o.aborted:
        success = " and as no success" if o.success else ""
        yield f"{words}, each counted as {wording.number(o.failure_score)}{success}."
        return
    if o.bounds is None and o.success_bounds is None:
        yield f"{words}; no mean includes them."
        return
    could = [
        f"a mean return of {_range(o.bounds)}" if o.bounds else "",
        f"a success of {_percents(o.success_bounds)}" if o.success_bounds else "",
    ]
    yield (
        f"{words}; with the worst and best observed values in their place it would have "
        f"{' and '.join(part for part in could if part)}."
    )


def _range(b: Bounds) -> str:
    digits = wording.decimals(b.low, b.high)
    return f"{wording.number(b.low, digits)} to {wording.number(b.high, digits)}"


def _percents(b: Bounds) -> str:
    return f"{wording.percent(b.low)} to {wording.percent(b.high)}"


# -------------------------------------------------------------------------- of all


def summary_notes(
    runs: Sequence[Run],
    entries: Sequence[Entry],
    comparisons: Sequence[Comparison],
    operators: Sequence[OperatorSummary],
) -> Iterable[str]:
    """Yield the notes on runs and comparisons, which a report shows at its end."""
    for run in runs:
        yield from _restart_notes(run)
    yield from _version_notes(runs)
    if len({o.task for o in operators}) > 1:  # one name may stand for an operator in each environment
        operators = [replace(o, name=f"{o.name} in {o.task}") for o in operators]
    names = {o.key: o.name for o in operators}
    by_key: Mapping[str, OperatorSummary] = {o.key: o for o in operators}
    for c in comparisons:
        if c.outliers:
            yield f"{names.get(c.first, c.first)} against {names.get(c.second, c.second)}: {c.outliers}"
        if c.kind == "operators":
            first, second = by_key[c.first], by_key[c.second]
            yield from _count_notes(c, first, second)
            yield from _conflict_notes(c, first, second)


def families_note(
    entries: Sequence[Entry], comparisons: Sequence[Comparison], trainings: Sequence[AlgorithmReport]
) -> Iterable[str]:
    """Yield a note on how often chance alone leads to a verdict, if there are several families.

    Comparisons of different families cannot be corrected together.
    """
    of = {entry.key: (entry.run.run_id, entry.title) for entry in entries}
    looked = {of[c.first] for c in comparisons if c.stage is not None}
    at_once = any(c.stage is None and c.p is not None for c in comparisons)
    of_trainings = sum(any(c.p is not None for c in report.comparisons) for report in trainings)
    families = len(looked) + at_once + of_trainings
    if families > 1:
        chance = wording.percent(1 - CONFIDENCE**families)
        yield (
            f"These verdicts are of {families} families of comparisons that cannot be corrected together: "
            f"where all are equal, chance calls one better in up to {chance} of such reports."
        )


def missing_notes(
    runs: Sequence[Run], entries: Sequence[Entry], operators: Sequence[OperatorSummary]
) -> Iterable[str]:
    """Yield notes on what is missing: episodes of unfinished runs, lost episodes and missing steps."""
    several = len({o.task for o in operators}) > 1
    names = {o.key: f"{o.name} in {o.task}" if several else o.name for o in operators}
    if len(runs) > 1:
        yield from _seed_notes(entries, names)
    for run in runs:
        if shard := Shard.of_run(run.record.extra):
            yield f"Run {run.run_id} is {shard.words}: `mosaic runs merge` makes one run of all of them."
        of_run = [(names[entry.key], entry) for entry in entries if entry.run is run]
        played_on = is_tournament(run) and not run.has_ended  # its own findings report this
        if not run.has_ended and not played_on:
            yield _unfinished_note(run, sum(len(entry.data.indices) for _, entry in of_run))
        if run.record.problem:
            yield f"Run {run.run_id} ended early: {run.record.problem}"
        gone = {name: entry.lost_lines for name, entry in of_run if entry.lost_lines}
        if gone:
            are = "is" if sum(gone.values()) == 1 else "are"
            yield (
                f"Run {run.run_id} has ended, but {whole(sum(gone.values()))} of "
                f"{wording.count(sum(run.planned.values()), 'episode')} {are} missing, "
                f"{_names_and_command(gone, run)}"
            )
        nothing = [name for name, entry in of_run if name not in gone and not entry.data.indices]
        if nothing and not played_on:
            yield f"{wording.names(nothing)} {'has' if len(nothing) == 1 else 'have'} no finished episode."
        lost = {name: n for name, entry in of_run if (n := sum(e.lost for e in entry.data.unfinished))}
        if lost:
            left = wording.count(sum(lost.values()), "episode")
            yield (
                f"Run {run.run_id}: {left} could not be played because a process was lost, "
                f"{_names_and_command(lost, run)}"
            )
        bare = {name: entry.data.stepless for name, entry in of_run if entry.data.stepless}
        if bare:
            left, whose = wording.count(sum(bare.values()), "episode"), _names(bare)
            yield (
                f"Run {run.run_id}: steps of {left} are missing, of {whose}; "
                f"`mosaic verify {run.run_id}` says which."
            )


def _seed_notes(entries: Sequence[Entry], names: Mapping[str, str]) -> Iterable[str]:
    """Yield notes on seeds that not all operators of a task have played, if several runs are compared."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.title, []).append(entry)
    for group in groups.values():
        if len({entry.run.run_id for entry in group}) < 2:
            continue
        seeds = {e.key: {r.seed for r in (*e.data.completed, *e.data.unfinished)} - {None} for e in group}
        everybody = set[int | None].intersection(*seeds.values())
        some = set[int | None]().union(*seeds.values()) - everybody
        if some:
            where = f" in {group[0].title}" if len(groups) > 1 else ""
            whose = [f"{names[key]} {wording.count(len(each), 'seed')}" for key, each in seeds.items()]
            named = f" ({', '.join(whose)})" if len(whose) <= _MOST_NAMED and not where else ""
            common = f"{wording.count(len(everybody), 'seed')} {'is' if len(everybody) == 1 else 'are'}"
            rest = f"{wording.count(len(some), 'seed')} {'is' if len(some) == 1 else 'are'}"
            yield (
                f"Not all have played the same seeds{where}{named}: {common} common to all, "
                f"{rest} not ({_seeds_in_words(some)}). Operators are compared on the seeds that both have."
            )


def _seeds_in_words(seeds: Collection[int | None]) -> str:
    """Return seeds as text, such as ``3, 7 to 19, 40``; only the first few ranges are listed."""
    stretches: list[list[int]] = []
    for seed in sorted(seed for seed in seeds if seed is not None):
        if stretches and seed == stretches[-1][-1] + 1:
            stretches[-1][1:] = [seed]
        else:
            stretches.append([seed])
    return _listed([f"{first} to {last[0]}" if last else str(first) for first, *last in stretches])


def _listed(words: Sequence[str]) -> str:
    more = len(words) - _MOST_LISTED
    return ", ".join([*words[:_MOST_LISTED], f"and {whole(more)} more"] if more > 0 else words)


def _names_and_command(counts: Mapping[str, int], run: Run) -> str:
    """Return names with counts, and the command that resumes the run.

    For example ``of a (3) and b (1); `mosaic run --resume 01J…` plays them.``
    """
    them = "them" if sum(counts.values()) > 1 else "it"
    way_on = f"; `{run.resumed_by} {run.run_id}` plays {them}" if run.resumed_by else ""
    return f"of {_names(counts)}{way_on}."


def _names(counts: Mapping[str, int]) -> str:
    """Return names with counts, such as ``a (3) and b (1)``; a single name has no count."""
    return wording.names(
        [f"{name} ({whole(n)})" for name, n in counts.items()] if len(counts) > 1 else [*counts]
    )


_LOST = {SESSION: "session process", WORKER: "worker", ENVIRONMENT: "server of the environment"}


def _restart_notes(run: Run) -> Iterable[str]:
    """Yield notes on episodes that were begun again because a process was lost, with the reasons.

    The recorded episodes are the same as without the loss.
    """
    for operator_id in run.operators:
        for lost, words in _LOST.items():
            again = [r for r in run.record.retries if (r.operator_id, r.lost) == (operator_id, lost)]
            if again:
                episodes = wording.count(len({r.episode_index for r in again}), "episode")
                reasons = "; ".join(sorted({r.reason for r in again}))
                yield f"Run {run.run_id}: {episodes} of {operator_id} begun again, {words} lost: {reasons}"


def _unfinished_note(run: Run, recorded: int) -> str:
    """Return a note that a run is unfinished: short episodes end first, so its means may be biased."""
    total = sum(run.planned.values())
    of = f" of {whole(total)}" if total else ""
    return (
        f"Run {run.run_id} is not finished: {whole(recorded)}{of} episodes are recorded, "
        "and short episodes end first, so its means may be biased."
    )


def _version_notes(runs: Sequence[Run]) -> Iterable[str]:
    """Yield a note if the runs, or the shards of a run, were made with different versions."""
    found: dict[str, list[str]] = {}
    for run in runs:
        for name, version in run.record.versions.items():
            found.setdefault(name, []).append(str(version))
        # A run merged from shards records the versions of shards that were played elsewhere.
        for part in items(run.record.extra.get(SHARDS)) or []:
            for name, version in (mapping((mapping(part) or {}).get("versions")) or {}).items():
                found.setdefault(name, []).append(str(version))
    differing = {name: list(dict.fromkeys(each)) for name, each in found.items() if len(set(each)) > 1}
    if differing:
        words = ", ".join(f"{name} {' and '.join(each)}" for name, each in differing.items())
        what = "The runs were" if len(runs) > 1 else "Shards of the run were"
        yield f"{what} made with different versions: {words}."


def _count_notes(c: Comparison, first: OperatorSummary, second: OperatorSummary) -> Iterable[str]:
    if any(c.unshared):
        yield (
            f"{first.name} has {wording.count(first.recorded, 'episode')}, "
            f"{second.name} {whole(second.recorded)}: compared are the {whole(c.shared)} of each "
            "on the same seeds."
        )
    if c.left_out:
        yield (
            f"{first.name} against {second.name}: "
            f"{wording.count(c.left_out, 'shared episode')} left out, not completed by both."
        )


def _conflict_notes(c: Comparison, first: OperatorSummary, second: OperatorSummary) -> Iterable[str]:
    """Yield notes if two measures (return and success, mean and IQM) favor different operators."""
    gain = c.difference.value
    if first.success and second.success and gain:
        shares = (first.success.value, second.success.value)
        if _opposed(gain, shares):
            ahead, behind = (first, second) if gain > 0 else (second, first)
            assert ahead.success is not None and behind.success is not None
            yield (
                f"{ahead.name} has the higher {c.measure}, {behind.name} the higher success: "
                f"{wording.percent(behind.success.value)} against {wording.percent(ahead.success.value)}."
            )
    means, middles = (first.mean.value, second.mean.value), (first.iqm.value, second.iqm.value)
    if None not in means and len(first.teams) < 2:
        assert means[0] is not None and means[1] is not None
        if _opposed(means[0] - means[1], middles):
            ahead, behind = (first, second) if means[0] > means[1] else (second, first)
            yield (
                f"{ahead.name} has the higher mean, {behind.name} the higher IQM "
                f"({wording.number(behind.iqm.value)} against {wording.number(ahead.iqm.value)}): "
                "a few episodes decide."
            )


def _opposed(gain: float, other: tuple[float | None, float | None]) -> bool:
    first, second = other
    return first is not None and second is not None and gain * (first - second) < 0
