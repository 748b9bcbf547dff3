"""Whatever stands in a run folder where something else should: it is read, or one line says what is wrong."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import open_run, render_html, summarize
from gym_gui.analysis.exports.event_files import write_events
from gym_gui.analysis.exports.export import episode_rows, operator_rows, step_rows
from gym_gui.analysis.reporting import find_standings, found_text
from gym_gui.core.errors import UsageError
from gym_gui.services.runs.run_library import RunLibrary
from tests.analysis.tournaments.conftest import by_strength, write_tournament

NOTHING: Any = object()
"""In place of a value: its key is not there."""
Values = tuple[Any, ...]
VALUES: Values = (NOTHING, "x", {"a": {"b": 1}})
MORE: Values = (None, -1, 1 << 63, 1e308, ["a"])
of_each_kind = pytest.mark.parametrize(
    "values", [pytest.param(VALUES, id="some"), pytest.param(MORE, id="others", marks=pytest.mark.full)]
)
Places = tuple[str | int, ...]


def places(value: Any, at: Places = ()) -> Iterator[Places]:
    """Every key of plain data, and the first item of every list."""
    items = (
        value.items()
        if isinstance(value, dict)
        else list(enumerate(value))[:1]
        if isinstance(value, list)
        else ()
    )
    for key, inner in items:
        yield (*at, key)
        yield from places(inner, (*at, key))


def altered(data: Any, values: Values) -> Iterator[tuple[str, str]]:
    """Where, and the data as text, with something else there."""
    for place in places(data):
        for value in values:
            changed = copy.deepcopy(data)
            inner = changed
            for key in place[:-1]:
                inner = inner[key]
            if value is NOTHING:
                del inner[place[-1]]
            else:
                inner[place[-1]] = value
            yield f"{place}: {'nothing' if value is NOTHING else value!r}", json.dumps(changed)
    yield "not a number", json.dumps(data).replace("1", "NaN", 1)


def read(run: Path, out: Path, whole: bool) -> None:
    """What reads a run folder, in this process; ``whole``: a page and event files are made, too."""
    assert RunLibrary(run.parent).one(run) is not None
    opened = open_run(run)
    summary = summarize(opened)
    found = find_standings([opened])
    assert str(summary) and (found is None or found_text(found))
    for rows in (operator_rows(summary), episode_rows(opened), step_rows(opened)):
        list(rows)
    if whole:
        render_html(summary, runs=[opened])
        shutil.rmtree(out, ignore_errors=True)
        write_events(opened, out)


def refusals(run: Path, file: Path, texts: Iterator[tuple[str, str]], out: Path) -> Iterator[str]:
    """What is said of each text in a file's place: one line, and nothing in the folder has changed."""
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    for where, text in texts:
        file.write_text(text)
        before[file] = file.read_bytes()
        try:
            read(run, out, where.count(",") < 2)  # of the outermost keys
        except UsageError as error:
            assert "\n" not in str(error), where
            yield str(error)
        except Exception as error:
            raise AssertionError(where) from error
        assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before, where


@of_each_kind
def test_in_a_run(tmp_path: Path, runs: Any, values: Values) -> None:
    levels = {"a": 1.0, "b": 5.0}
    operators = {key: [runs.single(key, i, level + i) for i in (0, 1)] for key, level in levels.items()}
    pair = {"first": "a", "second": "b"}
    extra = {
        "format": 1,
        "episodes": {"a": 2, "b": 2},
        "players": {"a": {"agent_0": runs.agent("ppo")}},
        "actions": {"a": {"agent_0": ["left", "right"]}},
        "looks": [{"seeds": 1, "of": 2, "operators": ["a", "b"], "comparisons": [pair]}],
        "retries": [{"operator_id": "a", "episode_index": 0, "reason": "died", "lost": "worker"}],
        "problem": None,
    }
    execution = {"until": "decided", "failure_score": 0.0, "max_steps": 9}
    run = runs.write_run(tmp_path / "runs", runs.Plan(operators, extra=extra, execution=execution))
    file = run / "run.json"
    said = list(refusals(run, file, altered(json.loads(file.read_text()), values), tmp_path / "out"))
    assert not [each for each in said if "run.json" not in each] and len(said) > 25


@of_each_kind
def test_in_an_episode_and_in_a_step(tmp_path: Path, runs: Any, values: Values) -> None:
    more = {
        "unusable_decisions": {"agent_0": 1},
        "unusable_causes": {"agent_0": {"illegal": 1}},
        "saw_everything": ["agent_0"],
        "outcome": {"agent": "win"},
        "tokens": {"agent_0": {"input": 1, "output": 1}},
        "rebound": [{"step_index": 1, "agent_id": "agent_0", **runs.agent("random")}],
    }
    rows = [runs.single("a", i, 1.0 + i, **more) for i in (0, 1)]
    run = runs.write_run(tmp_path / "runs", runs.Plan({"a": rows}))
    for name in ("episodes.jsonl", "steps.jsonl"):
        file = run / "operators" / "a" / name
        whole = file.read_text()
        first, rest = whole.split("\n", 1)
        texts = ((where, f"{text}\n{rest}") for where, text in altered(json.loads(first), values))
        said = list(refusals(run, file, texts, tmp_path / "out"))
        assert not [each for each in said if name not in each] and len(said) > 10
        file.write_text(whole)


@of_each_kind
def test_in_a_tournament(tmp_path: Path, values: Values) -> None:
    strengths = {"good": 1.0, "fair": 0.0}
    run = write_tournament(tmp_path, list(strengths), by_strength(strengths), range(2))
    file = run / "run.json"
    said = list(refusals(run, file, altered(json.loads(file.read_text()), values), tmp_path / "out"))
    assert not [each for each in said if "run.json" not in each] and len(said) > 25
