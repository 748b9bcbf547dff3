"""The report as a table in a terminal, plain where there is none."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gym_gui.analysis import wording
from gym_gui.analysis.summary import Estimate, Failure, OperatorSummary, Summary
from gym_gui.core.terminal import console as terminal_console
from gym_gui.core.visible import visible

KIND_WORDS = {
    "rl": "RL",
    "llm": "LLM",
    "vlm": "VLM",
    "human": "human",
    "baseline": "baseline",
    "bdi": "BDI",
    "planner": "planner",
}
SHOWN_FAILURES = 10


def clean(text: str) -> str:
    """Text from run data without what a terminal would obey or a line would break on."""
    return visible(text).replace("\n", "\N{REPLACEMENT CHARACTER}").replace("\t", "\N{REPLACEMENT CHARACTER}")


def kinds_in_words(kinds: Iterable[str]) -> str:
    """``RL + LLM``."""
    return " + ".join(KIND_WORDS.get(kind, kind) for kind in kinds) or "-"


def episodes_in_words(operator: OperatorSummary) -> str:
    """``20``, or ``18 of 20`` where some did not complete."""
    if operator.completed == operator.recorded:
        return f"{operator.completed}"
    return f"{operator.completed} of {operator.recorded}"


def estimate_in_words(e: Estimate) -> str:
    """The number with its interval, or with why there is none."""
    if e.value is not None and e.low is None:
        few = e.note.replace("episodes", "ep.")
        return f"{wording.number(e.value)} ({few})" if e.note else wording.number(e.value)
    return wording.estimate(e)


def success_in_words(operator: OperatorSummary) -> str:
    """``85 %``; ``50 to 100 %`` where episodes without a result could have been either."""
    if operator.success is None:
        return "-"
    if (could := operator.success_bounds) is not None:
        return f"{wording.percent(could.low).removesuffix(' %')} to {wording.percent(could.high)}"
    return wording.percent(operator.success.value)


def bounds_in_words(operator: OperatorSummary) -> str:
    """``all 20: 75.8 to 92.3``: what the mean could be with the episodes that are missing; else empty."""
    b = operator.bounds
    if b is None:
        return ""
    digits = wording.decimals(b.low, b.high)
    return f"all {operator.recorded:,}: {wording.number(b.low, digits)} to {wording.number(b.high, digits)}"


def iqm_title(operators: Iterable[OperatorSummary]) -> str:
    """What a plot of IQMs shows; that of completed episodes, where others are missing."""
    missing = any(o.bounds is not None for o in operators)
    return f"IQM return{' of completed episodes' if missing else ''}, 95 % interval"


def incomplete_in_words(summary: Summary) -> str:
    """``10 episodes did not complete and are in no mean``; empty where all completed."""
    n = len(summary.failures)
    scores = {o.key: o.failure_score for o in summary.operators}
    counted = sum(f.status == "failed" and scores.get(f.operator) is not None for f in summary.failures)
    if not n:
        return ""
    told = f"{wording.count(n, 'episode')} did not complete"
    if counted == n:
        return f"{told} and {'counts' if n == 1 else 'count'} as the experiment says"
    if counted:
        return f"{told}; {counted:,} count as the experiment says, the others are in no mean"
    return f"{told} and {'is' if n == 1 else 'are'} in no mean"


def unusable_in_words(operator: OperatorSummary) -> str:
    """Share of decisions whose last answer was unusable; where that is not known, how many, or of answers."""
    unusable = operator.unusable_decisions
    if unusable is None:
        return wording.count(operator.invalid_actions, "answer")
    if unusable and operator.decisions and operator.decisions.total:
        return wording.percent(unusable / operator.decisions.total)
    return f"{unusable:,}"


def render_text(summary: Summary, console: Console) -> None:
    """Print the report.

    Args:
        summary: What to say.
        console: Where; colours and width are its own.
    """
    for task, verdicts in summary.verdicts_by_task.items():
        if task:
            console.print(Text(f"{clean(task)}:"))
        for verdict in verdicts:
            style = "bold green" if verdict.decided else "bold"
            said = Text.assemble((clean(verdict.claim), style), clean(verdict.detail), ".")
            console.print(Padding(said, (0, 0, 0, 2), expand=False) if task else said)
    if summary.verdicts:
        console.print()
    for task, operators in by_task(summary).items():
        _print_operators(console, task, operators)
        for operator in operators:
            if len(operator.teams) > 1:
                _print_teams(console, operator)
        _print_calls(console, [o for o in operators if o.calls])
    _render_failures(summary, console)
    for note in all_notes(summary):
        console.print(Text.assemble(("Note: ", "yellow"), clean(note)))
    console.print(
        Text(
            "IQM: mean of the middle half. Intervals: 95 %, bootstrap over seeds; shares: Clopper-Pearson. "
            "p: paired sign-flip permutation; scores of two values: McNemar mid-p.",
            style="dim",
        )
    )


def text_of(summary: Summary, width: int | None = None) -> str:
    """The report without colours, as the text that ``mosaic report`` prints.

    Args:
        summary: What to say.
        width: Columns; by default those of ``COLUMNS``, else 100.
    """
    buffer = io.StringIO()
    render_text(summary, terminal_console(file=buffer, width=width))
    return buffer.getvalue()


def by_task(summary: Summary) -> dict[str, list[OperatorSummary]]:
    """Operators by task, the best first."""
    tasks: dict[str, list[OperatorSummary]] = {}
    for operator in summary.operators:
        tasks.setdefault(operator.task, []).append(operator)
    for operators in tasks.values():
        operators.sort(key=lambda o: -o.iqm.value if o.iqm.value is not None else float("inf"))
    return tasks


def _table(title: str) -> Table:
    return Table(
        title=Text(clean(title)) if title else None,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )


def _print(console: Console, table: Table, columns: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Print columns of (heading, cells); the first and the models take the width that is left."""
    for i, (heading, _) in enumerate(columns):
        if i == 0 or heading == "Model":
            table.add_column(heading, overflow="fold", ratio=1 + (i > 0), min_width=12)
        else:
            # Figures are broken over lines only where they would be cut off otherwise.
            justify = "left" if heading == "Kind" else "right"
            table.add_column(heading, justify=justify, overflow="fold", no_wrap=console.width >= 80)
    for cells in zip(*(cells for _, cells in columns), strict=True):
        table.add_row(*(Text(clean(cell)) for cell in cells))
    console.print(table)
    console.print()


def _print_operators(console: Console, task: str, operators: Sequence[OperatorSummary]) -> None:
    wide = console.width >= 96
    columns = [("Operator", [o.name for o in operators])]
    if wide:
        columns.append(("Kind", [kinds_in_words(o.kinds) for o in operators]))
    columns.append(("Episodes", [episodes_in_words(o) for o in operators]))
    # Where teams compete, the sum over all agents says nothing; the teams' table follows.
    if not all(len(o.teams) > 1 for o in operators):
        columns.append(("Mean", [wording.number(o.mean.value) for o in operators]))
        columns.append(("IQM [95 %]", [estimate_in_words(o.iqm) for o in operators]))
    if any(o.success for o in operators):
        columns.append(("Success", [success_in_words(o) for o in operators]))
    columns.append(("Length", [wording.number(o.length.value, 0) for o in operators]))
    columns.append(("Unusable", [unusable_in_words(o) for o in operators]))
    latencies = [o.decisions.latency_p50_ms if o.decisions else None for o in operators]
    if wide and any(ms is not None for ms in latencies):
        columns.append(("Decision", [wording.milliseconds(ms) for ms in latencies]))
    _print(console, _table(task), columns)


def _print_teams(console: Console, operator: OperatorSummary) -> None:
    teams = operator.teams
    columns = [("Team", [f"{team.name}: {', '.join(team.members)}" for team in teams])]
    if any(team.score for team in teams):
        columns.append(("Return", [wording.number(team.mean.value) for team in teams]))
        columns.append(
            ("Score [95 %]", [estimate_in_words(team.score) if team.score else "-" for team in teams])
        )
    else:
        columns.append(("Return [95 %]", [estimate_in_words(team.mean) for team in teams]))
    if any(team.win for team in teams):
        columns.append(("Won [95 %]", [wording.share(team.win) for team in teams]))
        columns.append(("Drawn", [f"{team.draw.hits}" if team.draw else "-" for team in teams]))
        columns.append(("Lost", [f"{team.loss.hits}" if team.loss else "-" for team in teams]))
    _print(console, _table(f"Teams of {operator.name}"), columns)


def _print_calls(console: Console, operators: Sequence[OperatorSummary]) -> None:
    if not operators:
        return
    calls = [o.calls for o in operators]
    columns = [
        ("Operator", [o.name for o in operators]),
        ("Model", [clean(wording.models(c)) for c in calls]),
        ("Calls", [f"{c.total:,}" if c else "-" for c in calls]),
        ("Tokens in", [f"{c.input_tokens:,}" if c else "-" for c in calls]),
        ("Tokens out", [f"{c.output_tokens:,}" if c else "-" for c in calls]),
        ("Cost", [wording.price(c) for c in calls]),
    ]
    _print(console, _table("Calls to models"), columns)


def _render_failures(summary: Summary, console: Console) -> None:
    if not summary.failures:
        return
    console.print(Text(f"{incomplete_in_words(summary)}:", style="bold red"))
    for failure in summary.failures[:SHOWN_FAILURES]:
        console.print(Text(f"  {failure_in_words(failure)}"))
    if (rest := len(summary.failures) - SHOWN_FAILURES) > 0:
        console.print(Text(f"  ... and {rest:,} more, all in summary.json"))


def failure_in_words(failure: Failure) -> str:
    """One line: which episode, how it ended, why."""
    place = f"{failure.operator}, episode {failure.episode_index}, seed {failure.seed}"
    return clean(f"{place}: {failure.status}: {failure.reason}")


def all_notes(summary: Summary) -> Iterable[str]:
    """Notes of the summary and of its operators, which are named."""
    yield from summary.notes
    several = len({operator.task for operator in summary.operators}) > 1
    for operator in summary.operators:
        name = f"{operator.name} in {operator.task}" if several else operator.name
        for note in operator.notes:
            yield f"{name}: {note}"
        if words := wording.fallbacks(operator.decisions):
            yield f"{name}: not the policy's own first choice: {words}."
        if words := wording.calls(operator.calls):
            yield f"{name}: {words}."
