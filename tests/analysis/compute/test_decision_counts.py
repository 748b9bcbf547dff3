"""Decisions are counted alike however their rows are written, and a damaged one is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import open_run, summarize
from gym_gui.analysis.findings.summary import Decisions
from gym_gui.core.errors import RunFormatError

Lines = list[str]


def _plain(lines: Lines) -> Lines:
    return lines


def _spaced(lines: Lines) -> Lines:
    return [f" {json.dumps(json.loads(line), indent=None, separators=(' , ', ' : '))} " for line in lines]


def _turned_round(lines: Lines) -> Lines:
    return [json.dumps(dict(reversed(json.loads(line).items()))) for line in lines]


def _with_words(lines: Lines) -> Lines:
    """What looks like a row within a row's action is none."""
    more = {"action": {"action_source": "noop", "latency_ms": 9.0}, "said": '"action_source":"noop"'}
    return [json.dumps({**json.loads(line), **more}) for line in lines]


def _told_in_words(lines: Lines) -> Lines:
    """A time that is no number does not count, whatever stands beside it."""
    told = {**json.loads(lines[0]), "episode_index": 0, "latency_ms": "long"}
    return [*lines, json.dumps(told).replace('"policy"', '"noop"')]


def _of_an_unfinished_episode(lines: Lines) -> Lines:
    return [*lines, json.dumps({**json.loads(lines[0]), "episode_index": 7, "latency_ms": 1e6})]


def _counted(folder: Path, runs: Any, change: Callable[[Lines], Lines]) -> Decisions:
    rows = [runs.single("a", i, 9.0, length=5) for i in range(4)]
    run = open_run(runs.write_run(folder, runs.Plan({"a": rows})))
    path = run.operators["a"].path / "steps.jsonl"
    path.write_text("".join(f"{line}\n" for line in change(path.read_text().splitlines())))
    found = summarize(run).operator("a").decisions
    assert found is not None
    return found


@pytest.mark.parametrize(
    "change", [_spaced, _turned_round, _with_words, _told_in_words, _of_an_unfinished_episode]
)
def test_rows_are_counted_alike_however_they_are_written(
    change: Callable[[Lines], Lines], tmp_path: Path, runs: Any
) -> None:
    plain = _counted(tmp_path / "plain", runs, _plain)
    found = _counted(tmp_path / "other", runs, change)
    more = {"noop": 1} if change is _told_in_words else {}
    assert plain.by_source == {"policy": 20} and found.by_source == plain.by_source | more
    assert (found.latency_p50_ms, found.latency_p95_ms) == (plain.latency_p50_ms, plain.latency_p95_ms)


@pytest.mark.parametrize("damaged", ["", "{}", "{", "[1]", '{"episode_index": 1}{"episode_index": 1}'])
def test_a_damaged_row_is_named(damaged: str, tmp_path: Path, runs: Any) -> None:
    with pytest.raises(RunFormatError) as caught:
        _counted(tmp_path, runs, lambda lines: [*lines[:6], damaged, *lines[6:]])
    assert caught.value.where.endswith("steps.jsonl:7")


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        (lambda data: data, ""),
        (lambda data: data[:-30], "steps of 1 episode are missing, of a"),
        (lambda data: data[: len(data) // 2], "steps of 2 episodes are missing, of a"),
        (lambda data: None, "steps of 4 episodes are missing, of a"),
    ],
    ids=["whole", "cut in its last line", "cut in the middle", "gone"],
)
def test_steps_that_are_missing_are_named_on_the_first_screen(
    kept: Callable[[bytes], bytes | None], told: str, tmp_path: Path, runs: Any
) -> None:
    """Results stand in the lines of episodes: verdicts do not rest on steps."""
    rows = [runs.single("a", i, 9.0 + i, length=5) for i in range(4)]
    run = open_run(runs.write_run(tmp_path, runs.Plan({"a": rows})))
    path = run.operators["a"].path / "steps.jsonl"
    left = kept(path.read_bytes())
    path.unlink() if left is None else path.write_bytes(left)
    summary = summarize(run)
    assert summary.operator("a").mean.n == 4
    assert [told in sentence for sentence in summary.missing] == [True] * bool(told)
    assert not told or f"`mosaic verify {run.run_id}` says which" in summary.missing[0]
