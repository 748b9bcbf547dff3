"""Implements ``mosaic verify``: plays recorded actions again and compares the results."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from gym_gui.analysis import open_run
from gym_gui.cli.errors import DONE, USAGE, WORK_FAILED, print_error
from gym_gui.cli.output import write_line
from gym_gui.cli.progress import run_progress
from gym_gui.controllers.child_jobs.verification import verify_in_child
from gym_gui.controllers.reexecution.divergence import Divergence, counted
from gym_gui.controllers.reexecution.verification import Verification
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.paths import find_run
from gym_gui.services.subprocess_job import LONGEST_CALL_S

_MAX_DIFFERENCES = 5
_WHY = "Such a digest differs if an action, an observation or the rule of the digest has changed since then."


def verify_runs(runs: Sequence[Path], *, timeout_s: float | None = None, as_json: bool) -> int:
    """Verify runs one after the other; a run that cannot be verified does not stop the others.

    Args:
        runs: The run folders.
        timeout_s: Seconds after which a call of the environment that has not returned counts as hanging.
        as_json: Whether to write one JSON object per run, each on a line of stdout, instead of sentences.

    Returns:
        Exit status: 0 if all is equal, 1 if something differs, 2 if a run cannot be verified.
    """
    statuses = {DONE}
    for run in runs:
        if len(runs) > 1 and not as_json:
            write_line(f"{run}:")
        try:
            statuses.add(_verify(run, timeout_s or LONGEST_CALL_S, as_json=as_json))
        except MosaicError as error:
            print_error(error, as_json=as_json)
            statuses.add(USAGE if isinstance(error, UsageError) else WORK_FAILED)
    return WORK_FAILED if WORK_FAILED in statuses else max(statuses)


def _verify(run: Path, timeout_s: float, *, as_json: bool) -> int:
    """Play a run's recorded actions again in a separate process, and print whether the results are equal.

    Raises:
        UsageError: There is no run, or its environment is not installed.
        SubprocessJobError: The environment crashed the process, or a call did not return.
    """
    opened = open_run(find_run(run))
    with run_progress(as_json=as_json) as show:
        result = asyncio.run(verify_in_child(opened, show, longest_s=timeout_s))
    with suppress(BrokenPipeError):  # the exit status is returned nevertheless
        sys.stdout.write(json.dumps(_record(run, result)) + "\n" if as_json else _text(result))
    return WORK_FAILED if result.divergences else DONE


def _text(result: Verification) -> str:
    played = f"{counted(result.episodes, 'episode')}, {counted(result.decisions, 'decision')}"
    lines = [f"Played again: {played}."]
    if result.unplayed:
        lines.append(f"Left out: {counted(result.unplayed, 'episode')} without recorded decisions.")
    if not result.divergences:
        lines[0] = f"Verified: {played}, every one as recorded."
    else:
        lines += [f"Differs: {divergence}" for divergence in result.divergences[:_MAX_DIFFERENCES]]
        if any("state_sha" in d.what for d in result.divergences[:_MAX_DIFFERENCES]):
            lines.append(_WHY)
        more = len(result.divergences) - _MAX_DIFFERENCES
        if more > 0:
            lines.append(f"And {counted(more, 'more difference')}.")
    if result.uncovered:
        lines.append(result.uncovered)
    if result.versions:
        lines.append(versions_line(result.versions))
    return "\n".join(lines) + "\n"


def versions_line(versions: Mapping[str, tuple[str, str]]) -> str:
    """Return a sentence that lists packages whose installed version differs from the run's."""
    changes = ", ".join(f"{name} {then} -> {now}" for name, (then, now) in versions.items())
    return f"Versions that differ from those of the run: {changes}."


def _record(run: Path, result: Verification) -> dict[str, object]:
    return {
        "run": str(run),
        "equal": not result.divergences,
        "episodes": result.episodes,
        "decisions": result.decisions,
        "unplayed": result.unplayed,
        "not_checked": result.uncovered,
        "deviations": [_divergence(d) for d in result.divergences],
        "versions": {name: list(pair) for name, pair in result.versions.items()},
    }


def _divergence(divergence: Divergence) -> dict[str, object]:
    return {
        "operator_id": divergence.operator_id,
        "episode_index": divergence.episode_index,
        "step_index": divergence.step_index,
        "agent_id": divergence.agent_id,
        "place": divergence.place,
        "what": divergence.what,
    }
