"""Texts that all forms of a report share."""

from __future__ import annotations

from collections.abc import Iterable

from gym_gui.analysis.findings.summary import Failure, OperatorSummary, Summary
from gym_gui.analysis.statistics.distributions import MIN_INTERVAL
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.wording import whole
from gym_gui.core.printable_text import visible

SHOWN_FAILURES = 10


def clean(text: str) -> str:
    """Return run data as one line without control characters that a terminal would obey."""
    return visible(text).replace("\n", "\N{REPLACEMENT CHARACTER}").replace("\t", "\N{REPLACEMENT CHARACTER}")


def iqm_title(operators: Iterable[OperatorSummary]) -> str:
    """Return the title of a plot of IQMs; it mentions missing episodes if there are any."""
    missing = any(o.bounds is not None for o in operators)
    return f"IQM return{' of completed episodes' if missing else ''}, 95 % interval"


def incomplete_in_words(summary: Summary) -> str:
    """Return e.g. ``10 episodes did not complete and are in no mean``; empty if all completed."""
    n = len(summary.failures)
    scores = {o.key: o.failure_score for o in summary.operators}
    counted = sum(f.status == "failed" and scores.get(f.operator) is not None for f in summary.failures)
    if not n:
        return ""
    told = f"{wording.count(n, 'episode')} did not complete"
    if counted == n:
        return f"{told} and {'counts' if n == 1 else 'count'} as the experiment says"
    if counted:
        return f"{told}; {whole(counted)} count as the experiment says, the others are in no mean"
    return f"{told} and {'is' if n == 1 else 'are'} in no mean"


def looks_in_words(summary: Summary) -> str:
    """Describe the test of comparisons that were looked at while seeds were added; empty without looks."""
    stages = [c.stage for c in summary.comparisons if c.stage is not None]
    if not stages:
        return ""
    looks = wording.count(max(stage.looks for stage in stages), "look")
    most = wording.count(max(stage.largest for stage in stages), "seed")
    words = (
        "Sequential test: group-sequential sign-flip permutation over paired seeds, "
        f"{looks} in at most {most}; 5 % of error over all looks and comparisons of a task (Holm); "
        "its 95 % intervals hold at all looks together."
    )
    if any(c.verdict == "undecided" for c in summary.comparisons if c.stage is not None):
        words += " How many more seeds a difference would need: mosaic power RUN."
    return words


def by_task(summary: Summary) -> dict[str, list[OperatorSummary]]:
    """Return operators by task, the best first."""
    tasks: dict[str, list[OperatorSummary]] = {}
    for operator in summary.operators:
        tasks.setdefault(operator.task, []).append(operator)
    for operators in tasks.values():
        operators.sort(key=lambda o: -o.iqm.value if o.iqm.value is not None else float("inf"))
    return tasks


def failure_in_words(failure: Failure) -> str:
    """Return one line that names an episode, its status and the reason."""
    place = f"{failure.operator}, episode {failure.episode_index}, seed {failure.seed}"
    return clean(f"{place}: {failure.status}: {failure.reason}")


def all_notes(summary: Summary, *, missing: bool = True) -> Iterable[str]:
    """Yield the notes of the summary and of its operators, the latter with the operator's name.

    Args:
        summary: Summary whose notes are listed.
        missing: Whether to include notes on what is missing.
    """
    yield from (note for note in summary.notes if missing or note not in summary.missing)
    several = len({operator.task for operator in summary.operators}) > 1
    for operator in summary.operators:
        name = f"{operator.name} in {operator.task}" if several else operator.name
        for note in operator.notes:
            yield f"{name}: {note}"
        if words := wording.fallbacks(operator.decisions):
            yield f"{name}: not the policy's own first choice: {words}."
        if words := wording.calls(operator.calls):
            yield f"{name}: {words}."
        # If teams compete, the sum over all of them says nothing.
        teams = operator.teams if len(operator.teams) > 1 else ()
        shown = [(f"{name}: {team.title}", team.score or team.mean) for team in teams]
        for whose, estimate in shown or [(f"{name}:", operator.mean)]:
            if len(estimate.values) > 1:
                told = ", ".join(map(wording.number, estimate.values))
                yield f"{whose} on each seed {told}; too few for an interval (below {MIN_INTERVAL})."
