"""Texts that are the same in all formats of a report."""

from __future__ import annotations

from collections.abc import Iterable

from gym_gui.analysis.findings.summary import Failure, OperatorSummary, Summary
from gym_gui.analysis.statistics.distributions import MIN_INTERVAL
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.wording import whole
from gym_gui.core.printable_text import visible

SHOWN_FAILURES = 10


def clean(text: str) -> str:
    """Return run data as one line without control characters, so that it is safe to print."""
    return visible(text).replace("\n", "\N{REPLACEMENT CHARACTER}").replace("\t", "\N{REPLACEMENT CHARACTER}")


def iqm_title(operators: Iterable[OperatorSummary]) -> str:
    """Return the title of a plot of IQMs (interquartile means), with a hint if episodes are missing."""
    missing = any(o.bounds is not None for o in operators)
    return f"IQM return{' of completed episodes' if missing else ''}, 95 % interval"


def incomplete_in_words(summary: Summary) -> str:
    """Return e.g. ``10 episodes did not complete and are not in the means``; empty if all completed."""
    n = len(summary.failures)
    scores = {o.key: o.failure_score for o in summary.operators}
    counted = sum(f.status == "failed" and scores.get(f.operator) is not None for f in summary.failures)
    if not n:
        return ""
    words = f"{wording.count(n, 'episode')} did not complete"
    if counted == n:
        return f"{words} and {'counts' if n == 1 else 'count'} with the experiment's score for failures"
    if counted:
        return (
            f"{words}; {whole(counted)} count with the experiment's score for failures, the others are not "
            "in the means"
        )
    return f"{words} and {'is' if n == 1 else 'are'} not in the means"


def looks_in_words(summary: Summary) -> str:
    """Describe the sequential test (interim looks while seeds are added); empty if none was used."""
    stages = [c.stage for c in summary.comparisons if c.stage is not None]
    if not stages:
        return ""
    looks = wording.count(max(stage.looks for stage in stages), "look")
    most = wording.count(max(stage.largest for stage in stages), "seed")
    words = (
        "Sequential test: group-sequential sign-flip permutation over paired seeds, "
        f"{looks} in at most {most}; error rate of 5 % over all looks and comparisons of a task (Holm); "
        "its 95 % intervals hold at all looks together."
    )
    if any(c.verdict == "undecided" for c in summary.comparisons if c.stage is not None):
        words += " To see how many more seeds a difference would need, run: mosaic power RUN."
    return words


def by_task(summary: Summary) -> dict[str, list[OperatorSummary]]:
    """Return operators by task, those with the best IQM first."""
    tasks: dict[str, list[OperatorSummary]] = {}
    for operator in summary.operators:
        tasks.setdefault(operator.task, []).append(operator)
    for operators in tasks.values():
        operators.sort(key=lambda o: -o.iqm.value if o.iqm.value is not None else float("inf"))
    return tasks


def failure_in_words(failure: Failure) -> str:
    """Return one line with an episode that did not complete, its status and the reason."""
    place = f"{failure.operator}, episode {failure.episode_index}, seed {failure.seed}"
    return clean(f"{place}: {failure.status}: {failure.reason}")


def all_notes(summary: Summary, *, missing: bool = True) -> Iterable[str]:
    """Yield the notes of a summary and those of its operators, which begin with the operator's name.

    Args:
        summary: Summary whose notes are listed.
        missing: Whether to include notes on missing episodes.
    """
    yield from (note for note in summary.notes if missing or note not in summary.missing)
    several = len({operator.task for operator in summary.operators}) > 1
    for operator in summary.operators:
        name = f"{operator.name} in {operator.task}" if several else operator.name
        for note in operator.notes:
            yield f"{name}: {note}"
        if words := wording.fallbacks(operator.decisions):
            yield f"{name}: actions that were not the policy's first choice: {words}."
        if words := wording.calls(operator.calls):
            yield f"{name}: {words}."
        # If teams compete, the sum over all teams has no meaning.
        teams = operator.teams if len(operator.teams) > 1 else ()
        shown = [(f"{name}: {team.title}", team.score or team.mean) for team in teams]
        for whose, estimate in shown or [(f"{name}:", operator.mean)]:
            if len(estimate.values) > 1:
                values = ", ".join(map(wording.number, estimate.values))
                yield f"{whose} on each seed {values}; an interval needs at least {MIN_INTERVAL} seeds."
