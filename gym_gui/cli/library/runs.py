"""Implements ``mosaic runs list`` and ``mosaic runs show``: prints runs and their progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec.structs import asdict
from rich.text import Text

from gym_gui.analysis.records.jsonl import read_lines
from gym_gui.analysis.records.reader import OperatorRun, Run, open_run
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.wording import duration
from gym_gui.cli.library.labelling import labels_in_words
from gym_gui.cli.output import Heading, cell, console, entries, print_table, write_json, write_line
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.experiment.shards import SHARDS, Shard
from gym_gui.core.paths import find_run, runs_dir
from gym_gui.core.record_fields import items, mapping
from gym_gui.core.run_labels import LabelsError, RunLabels, read_labels
from gym_gui.services.run_lock import is_being_written
from gym_gui.services.runs.recorder import COMPLETED, FAILED, RUNNING, STOPPED
from gym_gui.services.runs.run_filter import RunFilter
from gym_gui.services.runs.run_library import RunLibrary

CUT_OFF = "cut off"
"""Status of a run whose process ended without recording its end; the run can be resumed."""
_STYLES = {COMPLETED: "green", RUNNING: "cyan", CUT_OFF: "yellow", "stopped": "yellow"}
_REASONS = 5
"""Largest number of different failure reasons that are printed."""


@dataclass(frozen=True)
class _OperatorProgress:
    """Progress of one operator.

    Attributes:
        run: The operator's record.
        total: Number of planned episodes; ``None`` if unknown.
        done: Number of episodes that have ended, including failed ones.
        errors: Number of failed episodes by reason.
    """

    run: OperatorRun
    total: int | None
    done: int
    errors: Counter[str]

    @property
    def failed(self) -> int:
        return self.errors.total()

    @property
    def is_short(self) -> bool:
        """Whether fewer episodes have ended than were planned."""
        return self.total is not None and self.done < self.total

    def to_json(self) -> dict[str, Any]:
        return {
            "operator_id": self.run.operator_id,
            "name": self.run.name,
            "task": self.run.task,
            "episodes": self.total,
            "done": self.done,
            "failed": self.failed,
        }


def list_runs(folder: Path | None, *, find: str = "", as_json: bool = False) -> None:
    """Print the runs of a folder, newest first.

    Args:
        folder: Folder of the runs; ``None`` for the default folder.
        find: Filter, in the syntax of :class:`~gym_gui.services.runs.run_filter.RunFilter`.
        as_json: Whether to print JSON.

    Raises:
        UsageError: ``folder`` is not a folder, or ``find`` cannot be parsed.
    """
    place = folder or runs_dir()
    if not place.is_dir():
        if folder is None and not place.exists():
            write_json([]) if as_json else write_line(f"No runs in {place}. Make one: mosaic run FILE")
            return
        raise UsageError(f"{place} is no folder", fix="Pass the folder that contains the run folders")
    # Names are ULIDs, which sort by time.
    paths = sorted((path.parent for path in place.glob("*/run.json")), key=lambda p: p.name, reverse=True)
    rows = [_row(path) for path in (_matching_runs(place, find) if find.strip() else paths)]
    if as_json:
        write_json(rows)
    elif not rows and paths:
        write_line(f"None of {wording.count(len(paths), 'run')} in {place} matches: {find}")
    elif not rows:
        write_line(f"No runs in {place}. Make one: mosaic run FILE")
    else:
        _print_rows(rows)


def _matching_runs(place: Path, find: str) -> list[Path]:
    wanted = RunFilter(find)
    if wanted.problem:
        raise UsageError(wanted.problem, fix="See docs/guide/results_and_replay.md")
    return [run.path for run in RunLibrary(place).all() if wanted.accepts(run)]


def _labels(path: Path) -> dict[str, Any]:
    """Return a run's labels for JSON, or the problem if its labels file cannot be read."""
    try:
        labels = read_labels(path)
    except LabelsError as error:
        return {"labels_problem": str(error)}
    return {"labels": data} if (data := labels.to_data()) else {}


def _row(path: Path) -> dict[str, Any]:
    return _row_of_run(path) | _labels(path)


def _row_of_run(path: Path) -> dict[str, Any]:
    try:
        run = open_run(path)
        operators = _progress_of_operators(run)
    except MosaicError as error:
        return {
            "run": str(path),
            "run_id": path.name,
            "status": "damaged",
            "problem": str(error),
            "operators": [],
        }
    return {
        "run": str(path),
        "run_id": run.run_id,
        "status": _status(run),
        "started_at": run.record.started_at,
        "finished_at": run.record.finished_at,
        "problem": run.record.problem,
        **({"shard": str(shard)} if (shard := Shard.of_run(run.record.extra)) else {}),
        "operators": [standing.to_json() for standing in operators],
    }


def _status(run: Run) -> str:
    try:
        dead = run.record.status == RUNNING and not is_being_written(run.path)
    except OSError:
        dead = False
    return CUT_OFF if dead else run.record.status


def _progress_of_operators(run: Run) -> list[_OperatorProgress]:
    return [_progress_of_operator(operator, run.planned.get(key)) for key, operator in run.operators.items()]


def _progress_of_operator(operator: OperatorRun, total: int | None) -> _OperatorProgress:
    done, errors = 0, Counter[str]()
    for line in read_lines(operator.path / "episodes.jsonl"):
        done += 1
        if line.value.get("status") != COMPLETED:
            errors[str(line.value.get("error") or line.value.get("status"))] += 1
    return _OperatorProgress(operator, total, done, errors)


def _print_rows(rows: list[dict[str, Any]]) -> None:
    lines: list[tuple[list[Text], list[str]]] = []
    for row in rows:
        operators: list[dict[str, Any]] = row["operators"]
        tasks = ", ".join(dict.fromkeys(str(o["task"]) for o in operators))
        names = ", ".join(str(o["name"]) for o in operators)
        totals = [o["episodes"] for o in operators]
        done, failed = sum(o["done"] for o in operators), sum(o["failed"] for o in operators)
        cells = [
            cell(row["run_id"], style="bold"),
            cell(_local(row.get("started_at"), "%d %b %H:%M")),
            cell(row["status"], style=_STYLES.get(row["status"], "red")),
        ]
        total = None if None in totals else sum(totals)
        count = f"{done} of {total}" if total not in (None, done) else str(done)
        about = f"{names}: {tasks}; {count} episode{'s' * (count != '1')}"
        about = f"shard {row['shard']} of {about}" if "shard" in row else about
        about += f", {failed} failed" if failed else ""
        details = [about if operators else str(row["problem"])]
        labels = labels_in_words(_known_labels(row), notes=False)
        details += filter(None, (labels, str(row.get("labels_problem", ""))))
        lines.append((cells, details))
    entries(["Run", "Started", "Status"], lines)


def _known_labels(row: Mapping[str, Any]) -> RunLabels:
    labels = dict(row.get("labels", {}))
    return RunLabels(**{k: labels[k] for k in ("name", "tags", "group", "notes", "star") if k in labels})


def _episodes(done: int, total: int | None, failed: int) -> str:
    words = str(done) if total is None or done == total else f"{done} of {total}"
    return f"{words} ({failed} failed)" if failed else words


def _local(moment: object, form: str) -> str:
    try:
        return datetime.fromisoformat(str(moment)).astimezone().strftime(form)
    except ValueError:
        return ""


def show_run(path: Path, *, as_json: bool = False) -> None:
    """Print one run: its status, versions, operators, failures, and the commands that apply to it.

    Raises:
        UsageError: There is no run at ``path``, or it is damaged.
    """
    run = open_run(find_run(path))
    operators, status = _progress_of_operators(run), _status(run)
    if as_json:
        row = _row(run.path) | {
            "seeds": list(run.record.seeds),
            "versions": dict(run.record.versions),
            "machine": dict(run.record.machine),
            "commit": run.record.commit,
            "retries": [asdict(retry) for retry in run.record.retries],
            "experiment": dict(run.record.experiment),
        }
        write_json(row)
        return
    _print_head(run, status)
    _print_operators(run, operators)
    _print_failures(run, operators)
    write_line()
    open_ones = status in (CUT_OFF, STOPPED) or (status == FAILED and run.record.problem)
    if run.resumed_by and (open_ones or (status != RUNNING and any(s.is_short for s in operators))):
        write_line(f"Resume:   {run.resumed_by} {run.path}")
    if Shard.of_run(run.record.extra) is not None:
        write_line(f"Merge:    mosaic runs merge {run.path.parent}")
    write_line(f"Report:   mosaic report {run.path}")
    write_line(f"Verify:   mosaic verify {run.path}")


def _print_head(run: Run, status: str) -> None:
    record = run.record
    lines = [("Run", str(run.path)), *_label_lines(run.path), ("Status", status)]
    if (shard := Shard.of_run(record.extra)) is not None:
        lines.append(("Shard", f"{shard.number} of {shard.of}"))
    if parts := items(record.extra.get(SHARDS)):
        lines.append(("Merged of", wording.count(len(parts), "shard")))
    started = _local(record.started_at, "%Y-%m-%d %H:%M:%S")
    lines.append(("Started", started + _duration(record.started_at, record.finished_at)))
    if record.problem:
        lines.append(("Problem", record.problem))
    if record.seeds:
        seeds = ", ".join(str(s) for s in record.seeds[:8])
        lines.append(("Seeds", seeds if len(record.seeds) <= 8 else f"{seeds}, … ({len(record.seeds)})"))
    versions = [f"{name} {version}" for name, version in record.versions.items()]
    if versions:
        lines.append(("Versions", ", ".join(versions)))
    if record.commit:
        changed = " with changes" if record.commit.endswith("+") else ""
        lines.append(("Commit", record.commit.rstrip("+")[:12] + changed))
    if record.machine:
        lines.append(
            ("Machine", f"{record.machine.get('system', '')}, {record.machine.get('cores', '?')} cores")
        )
    for name, text in lines:
        write_line(f"{name + ':':<10} {' '.join(text.split())}")
    write_line()


def _label_lines(path: Path) -> list[tuple[str, str]]:
    try:
        labels = read_labels(path)
    except LabelsError as error:
        return [("Labels", str(error))]
    star = "★ " * labels.star
    named = [("Name", f"{star}{labels.name}")] if labels.name else [("Star", "★")] * labels.star
    lines = [*named, ("Group", labels.group), ("Tags", ", ".join(labels.tags)), ("Notes", labels.notes)]
    return [(title, text) for title, text in lines if text]


def _duration(started: str | None, finished: str | None) -> str:
    try:
        begin = datetime.fromisoformat(started or "")
        end = datetime.fromisoformat(finished) if finished else None
    except ValueError:
        return ""
    if end is None:
        return f", {duration((datetime.now(UTC) - begin).total_seconds())} ago"
    return f", took {duration((end - begin).total_seconds())}"


def _print_operators(run: Run, operators: list[_OperatorProgress]) -> None:
    players = mapping(run.record.extra.get("players")) or {}
    headings = [Heading(text, words=True) for text in ("Operator", "Task", "Played by", "Episodes")]
    rows = [
        [
            cell(standing.run.name, style="bold"),
            cell(standing.run.task),
            cell(*_players(mapping(players.get(standing.run.operator_id)) or {})),
            cell(_episodes(standing.done, standing.total, standing.failed)),
        ]
        for standing in operators
    ]
    print_table(console(), headings, rows)


def _players(found: Mapping[str, Any]) -> list[str]:
    """Return one line ``agent: worker (policy)`` per seat."""
    lines: list[str] = []
    for agent, value in found.items():
        player = mapping(value) or {}
        worker, policy = player.get("worker_id", ""), player.get("policy")
        lines.append(f"{agent}: {worker}" + (f" ({policy})" if policy and policy != worker else ""))
    return lines


def _print_failures(run: Run, operators: list[_OperatorProgress]) -> None:
    errors = Counter[str]()
    for standing in operators:
        errors.update(standing.errors)
    if errors:
        write_line("\nWhy episodes failed:")
        for reason, count in errors.most_common(_REASONS):
            write_line(f"  {count} x {' '.join(reason.split())}")
        if len(errors) > _REASONS:
            write_line(f"  and {len(errors) - _REASONS} other reasons")
    if run.record.retries:
        write_line(f"\nEpisodes restarted after a process was lost: {len(run.record.retries)}")
