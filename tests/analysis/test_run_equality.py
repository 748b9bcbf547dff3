"""Equal runs are equal whatever their speed; the first difference has a name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import compare_runs
from gym_gui.core.errors import RunFormatError

Rows = list[dict[str, Any]]


def _plan(runs: Any, order: tuple[int, ...] = (0, 1, 2), **more: Any) -> Any:
    return runs.Plan({"ppo": [runs.single("ppo", i, 3.0 + i, length=3) for i in order]}, **more)


def _edit(path: Path, name: str, change: Callable[[Rows], Rows | None]) -> None:
    file = path / "operators" / "ppo" / name
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    rows = change(rows) or rows
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def pair(tmp_path: Path, runs: Any) -> tuple[Path, Path]:
    first = runs.write_run(tmp_path, _plan(runs, run_id="A"))
    second = runs.write_run(tmp_path, _plan(runs, run_id="B"))
    return first, second


def test_order_speed_times_and_machine_do_not_matter(tmp_path: Path, runs: Any) -> None:
    def slow(episode: dict[str, Any]) -> Rows:
        return [{**row, "latency_ms": 99.0} for row in runs.step_rows(episode)]

    first = runs.write_run(tmp_path, _plan(runs, run_id="A"))
    other = _plan(
        runs,
        (2, 0, 1),
        run_id="B",
        steps=slow,
        execution={"concurrency": 1, "processes": 1},
        extra={
            "machine": {"cpus": 64},
            "started_at": "2027-01-01T00:00:00+00:00",
            "seeds": [1000, 1001, 1002],
        },
    )
    for rows in other.episodes.values():
        for row in rows:
            row.update(started_at="2027-01-01T00:00:01+00:00", wall_s=12.0)
    assert compare_runs(first, runs.write_run(tmp_path, other)) is None


def test_steps_of_an_unfinished_episode_do_not_matter(pair: tuple[Path, Path]) -> None:
    _edit(pair[1], "steps.jsonl", lambda rows: [*rows, {**rows[0], "episode_index": 77}])
    assert compare_runs(*pair) is None


@pytest.mark.parametrize("key", ["episode_index", "step_index", "agent_id"])
@pytest.mark.parametrize("value", [None, [1], {"a": 1}, -1])
def test_a_step_that_does_not_say_whose_it_is_is_damaged(
    pair: tuple[Path, Path], key: str, value: object
) -> None:
    _edit(pair[1], "steps.jsonl", lambda rows: [rows[0], {**rows[1], key: value}, *rows[2:]])
    with pytest.raises(RunFormatError, match=rf"steps\.jsonl:2: '{key}' should be"):
        compare_runs(*pair)


def test_the_first_differing_step_is_named(pair: tuple[Path, Path]) -> None:
    def alter(rows: Rows) -> None:
        for row in rows:
            if (row["episode_index"], row["step_index"]) in ((1, 2), (2, 0)):
                row["action"] = 5

    _edit(pair[1], "steps.jsonl", alter)
    difference = compare_runs(*pair)
    assert difference is not None
    assert (difference.operator_id, difference.episode_index, difference.step_index) == ("ppo", 1, 2)
    assert (difference.agent_id, difference.what, difference.second) == ("agent_0", "action", 5)
    assert str(difference) == (
        "operator ppo, episode 1, step 2, agent agent_0: action is 1 in the first run, 5 in the second"
    )


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        (
            "steps.jsonl",
            lambda rows: rows[:-1],
            "episode 2, step 2, agent agent_0: the step is present in the first",
        ),
        (
            "episodes.jsonl",
            lambda rows: rows[:2],
            "episode 2: the episode is present in the first run, absent",
        ),
        (
            "episodes.jsonl",
            lambda rows: rows[0].update(success=True),
            "episode 0: success is None in the first",
        ),
        (
            "episodes.jsonl",
            lambda rows: rows[0].update(novelty=1),
            "novelty is absent in the first run, 1 in",
        ),
        (
            "steps.jsonl",
            lambda rows: rows[4].update(state_sha="0"),
            "episode 1, step 1, agent agent_0: state_sha is ",
        ),
    ],
)
def test_every_other_difference_is_found(
    pair: tuple[Path, Path], name: str, change: Callable[[Rows], Rows | None], says: str
) -> None:
    _edit(pair[1], name, change)
    assert says in str(compare_runs(*pair))


def test_other_seeds_operators_or_settings_are_other_runs(tmp_path: Path, runs: Any) -> None:
    first = runs.write_run(tmp_path, _plan(runs, run_id="A"))
    seeds = runs.write_run(tmp_path, _plan(runs, run_id="B", extra={"seeds": [1]}))
    assert "the list of seeds" in str(compare_runs(first, seeds))
    named = runs.write_run(tmp_path, _plan(runs, run_id="C", task="Acrobot-v1"))
    assert "experiment.operators" in str(compare_runs(first, named))
    other = runs.write_run(tmp_path, runs.Plan({"rnd": []}, run_id="D"))
    assert "the list of operators is ['ppo'] in the first run, ['rnd']" in str(compare_runs(first, other))
    steps = runs.write_run(tmp_path, _plan(runs, run_id="E", execution={"max_steps": 9}))
    assert "experiment.execution" in str(compare_runs(first, steps))
