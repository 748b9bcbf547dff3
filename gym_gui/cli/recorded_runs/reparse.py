"""Implements ``mosaic reparse``: parses a run's recorded replies of language models again."""

from __future__ import annotations

import asyncio
import dataclasses
from pathlib import Path
from typing import Any

from gym_gui.analysis import open_run
from gym_gui.cli.errors import DONE, WORK_FAILED
from gym_gui.cli.output import write_json, write_line
from gym_gui.cli.progress import run_progress
from gym_gui.cli.recorded_runs.verify import versions_line
from gym_gui.controllers.child_jobs.reparsing import reparse_in_child
from gym_gui.controllers.reexecution.divergence import counted
from gym_gui.controllers.reexecution.reparsing import OperatorReread, ReparseResult, Reparsing, RereadDecision
from gym_gui.core.paths import find_run

_MAX_DECISIONS = 20
_WORDS = {
    ReparseResult.SAME: "same",
    ReparseResult.DIFFERS: "differ",
    ReparseResult.NEWLY_READABLE: "newly readable",
    ReparseResult.NO_LONGER_READABLE: "no longer readable",
}


def reparse_run(run: Path, *, as_json: bool) -> int:
    """Parse a run's recorded model replies again and print which decisions would differ.

    Args:
        run: The run folder.
        as_json: Whether to print one JSON object instead of sentences.

    Returns:
        Exit status: 0 if all decisions would be the same, 1 if one differs.

    Raises:
        UsageError: There is no run, or it contains no reply of a model.
    """
    opened = open_run(find_run(run))
    with run_progress(as_json=as_json) as show:
        result = asyncio.run(reparse_in_child(opened, show))
    if as_json:
        write_json(_record(opened.path, result))
    else:
        for line in _lines(result):
            write_line(line)
    return WORK_FAILED if result.changed or result.divergences else DONE


def _lines(result: Reparsing) -> list[str]:
    lines = [_place(decision) for decision in result.changed[:_MAX_DECISIONS]]
    if (more := len(result.changed) - _MAX_DECISIONS) > 0:
        lines.append(f"And {counted(more, 'more decision')} (--json prints all).")
    lines += [_counts(operator) for operator in result.operators]
    lines += [f"Read only up to here, as the played steps differ: {where}" for where in result.divergences]
    if result.versions:
        lines.append(versions_line(result.versions))
    return lines


def _place(d: RereadDecision) -> str:
    then, now = (f"{word!r}" if word else "nothing" for word in (d.recorded_word, d.now_word))
    place = f"operator {d.operator_id}, episode {d.episode_index}, step {d.step_index}, agent {d.agent_id}"
    reply = f' In: "{d.reply}"' if d.reply not in d.why else ""
    return f"{place}: recorded as {then}, now read as {now} ({d.why}).{reply}"


def _counts(operator: OperatorReread) -> str:
    kinds = [(kind, n) for kind, n in operator.counts.items() if n or kind is ReparseResult.SAME]
    parts = [
        f"{n} differs" if (kind, n) == (ReparseResult.DIFFERS, 1) else f"{n} {_WORDS[kind]}"
        for kind, n in kinds
    ]
    read = counted(sum(operator.counts.values()), "decision")
    kept = f"; {operator.unrecorded} more without recorded reply" if operator.unrecorded else ""
    return f"{operator.name}: {read} read again, {', '.join(parts)}{kept}."


def _record(run: Path, result: Reparsing) -> dict[str, Any]:
    return {
        "run": str(run),
        "equal": not result.changed and not result.divergences,
        "operators": [
            {"operator_id": o.operator_id, "name": o.name, **o.counts, "unrecorded": o.unrecorded}
            for o in result.operators
        ],
        "changed": [dataclasses.asdict(decision) for decision in result.changed],
        "departures": [
            {"operator_id": d.operator_id, "episode_index": d.episode_index, "step_index": d.step_index}
            for d in result.divergences
        ],
        "versions": {name: list(pair) for name, pair in result.versions.items()},
    }
