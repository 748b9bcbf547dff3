"""A run plays out as recorded, or the first place where it does not is named."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gym_gui.analysis import open_run
from gym_gui.controllers.reexecution.verification import Verification, verify
from gym_gui.controllers.runs.script_execution import OperatorProgress
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import RunFormatError, UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from tests.support.engine import arena, player, record_run

CORRIDOR = arena("Corridor")


def operator(task: str = CORRIDOR, name: str = "op", **config: Any) -> OperatorConfig:
    return OperatorConfig(name, "", "", task, {}, **config)


def varied(s: Any) -> int:
    """Depends on seed and step, so that episodes differ."""
    return (s.seed + s.step_index) % 3


def legal(s: Any) -> int:
    choices = s.legal_actions
    return choices[(s.seed + s.step_index) % len(choices)]


async def verified(folder: Path) -> Verification:
    return await verify(open_run(folder))


TURNS = [["a", {}, {}], ["b", {"a": 5}, {}], ["b", {"a": 1}, {}], ["a", {"b": 1}, {"a": "t", "b": "c"}]]
SCRIPT = [
    {"join": ["b"]},
    {"terminated": ["a"], "rewards": {"b": 2}},
    {"join": ["a"]},
    {"terminated": ["a"], "truncated": ["b"], "rewards": {"a": 4}},
]
AB = ["a", "b"]
RUNS: dict[str, tuple[OperatorConfig, dict[str, object]]] = {
    "single": (operator(), {"agent_0": player(varied)}),
    "box": (
        operator(env_kwargs={"box": True}),
        {"agent_0": player(lambda s: np.array([0.1, -0.7]) * (s.seed % 2))},  # float64 in a float32 space
    ),
    "cartpole": (operator("CartPole-v1"), {"agent_0": lambda seen: int(seen[2] > 0)}),
    "sb3": (operator("CartPole-v1"), {"agent_0": lambda seen: np.array(int(seen[2] > 0))}),
    "minigrid": (operator("MiniGrid-Empty-5x5-v0"), {"agent_0": player(varied)}),
    "turns": (
        operator(arena("Turns"), env_kwargs={"agents": AB, "turns": TURNS}),
        {a: player() for a in AB},
    ),
    "crowd": (
        operator(arena("Crowd"), env_kwargs={"agents": AB, "script": SCRIPT, "start": ["a"]}),
        {a: player(varied) for a in AB},
    ),
    "masked game": (operator("connect_four_v3"), {f"player_{i}": player(legal) for i in (0, 1)}),
    "swapped seats": (
        operator("rps_v2", api="parallel", seats="swap"),
        {f"player_{i}": player(lambda s, i=i: (s.step_index + i) % 3) for i in (0, 1)},
    ),
    "hierarchical": (
        operator("MiniGrid-Empty-5x5-v0", manager={"agent_0": WorkerAssignment(worker_type="random")}),
        {"agent_0": player(varied), "agent_0/goal": player(lambda s: s.step_index % 2)},
    ),
}


@pytest.mark.parametrize("name", RUNS)
async def test_what_was_recorded_plays_out_the_same(name: str, tmp_path: Path) -> None:
    folder = await record_run(tmp_path, RUNS[name], seeds=[5, 6, 7, 8], max_steps=40, concurrency=4)
    rows = (folder / "operators" / "op" / "steps.jsonl").read_bytes().count(b"\n")
    result = await verified(folder)
    assert not result.divergences and not result.versions
    assert (result.episodes, result.decisions, result.unplayed) == (4, rows, 0)
    assert rows > 8


async def test_an_operators_own_limit_comes_before_the_experiments(tmp_path: Path) -> None:
    folder = await record_run(
        tmp_path,
        (operator("CartPole-v1", "short", max_steps=7), {"agent_0": lambda seen: int(seen[2] > 0)}),
        (operator("CartPole-v1", "long"), {"agent_0": lambda seen: int(seen[2] > 0)}),
        max_steps=12,
    )
    run = open_run(folder)
    lengths = {name: {e.length for e in o.episodes()} for name, o in run.operators.items()}
    assert lengths == {"short": {7}, "long": {12}}
    assert all(e.truncated for o in run.operators.values() for e in o.episodes())
    assert not (await verified(folder)).divergences


@pytest.mark.parametrize("fault", ["nan", "outside", "reward", "step", "reset"])
async def test_a_failed_episode_is_verified_as_far_as_it_went(fault: str, tmp_path: Path) -> None:
    config = operator(env_kwargs={"fault": fault, "seed": 2})
    folder = await record_run(tmp_path, (config, {"agent_0": player(varied)}))
    assert {e.episode_index for e in open_run(folder).operators["op"].episodes() if e.error} == {1}
    result = await verified(folder)
    assert not result.divergences
    assert (result.episodes, result.unplayed) == ((2, 1) if fault == "reset" else (3, 0))


async def test_a_policy_that_failed_is_verified_as_far_as_it_went(tmp_path: Path) -> None:
    def choose(s: Any) -> int:
        return 99 if s.episode_index == 1 and s.step_index == 3 else varied(s)

    folder = await record_run(tmp_path, (operator(), {"agent_0": player(choose)}))
    result = await verified(folder)
    assert not result.divergences and result.decisions == 13


async def test_observations_that_were_recorded_are_compared(tmp_path: Path) -> None:
    from gym_gui.core.config import RecordConfig

    folder = await record_run(
        tmp_path,
        (operator(), {"agent_0": player(varied)}),
        record=RecordConfig(observations=True),
        concurrency=1,
    )
    assert not (await verified(folder)).divergences
    edit(folder, lambda rows: rows[7].update(observation=[0.0, 0.0, 9.0]))
    (divergence,) = (await verified(folder)).divergences
    assert "observation is [0.0,0.0,9.0] in the record" in divergence.what


# -- tampering ---------------------------------------------------------------------------


def edit(folder: Path, change: Callable[[list[Any]], object], name: str = "steps") -> None:
    path = folder / "operators" / "op" / f"{name}.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    change(rows)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three episodes of five steps: row 7 is step 2 of episode 1."""
    out = tmp_path_factory.mktemp("sound")
    return asyncio.run(record_run(out, (operator(), {"agent_0": player(varied)}), concurrency=1))


@pytest.fixture
def copy(sound: Path, tmp_path: Path) -> Path:
    return shutil.copytree(sound, tmp_path / "copy")


STEP_CHANGES: dict[str, tuple[Callable[[list[Any]], object], str]] = {
    "action": (lambda rows: rows[7].update(action=(rows[7]["action"] + 1) % 3), "reward is"),
    "reward": (lambda rows: rows[7].update(reward=rows[7]["reward"] + 1e-9), "reward is"),
    "no reward": (lambda rows: rows[7].update(reward=None), "reward is null"),
    "digest": (lambda rows: rows[7].update(state_sha="0" * 16), "state_sha is 0000000000000000"),
    "terminated": (lambda rows: rows[7].update(terminated=True), "terminated is true in the record, false"),
    "truncated": (lambda rows: rows[7].update(truncated=True), "truncated is true"),
    "seed": (lambda rows: rows[7].update(seed=99), "seed is 99 in the record, 2 when played again"),
    "no such action": (lambda rows: rows[7].update(action=3), "cannot be played: action 3 is outside 0..2"),
    "strange action": (
        lambda rows: rows[7].update(action={"go": "left"}),
        "is not an action of a Discrete space",
    ),
    "no action": (lambda rows: rows[7].pop("action"), "is not an action of a Discrete space"),
    "missing row": (lambda rows: rows.pop(7), "the row is missing"),
    "missing rows": (lambda rows: rows.__delitem__(slice(7, 10)), "the row is missing"),
    "missing digest": (lambda rows: rows[7].pop("state_sha"), "state_sha is absent in the record"),
}


@pytest.mark.parametrize("name", STEP_CHANGES)
async def test_a_changed_row_is_named(name: str, copy: Path) -> None:
    change, words = STEP_CHANGES[name]
    edit(copy, change)
    result = await verified(copy)
    (divergence,) = result.divergences
    place = (divergence.operator_id, divergence.episode_index, divergence.step_index, divergence.agent_id)
    assert place == ("op", 1, 2, "agent_0")
    assert words in divergence.what
    assert str(divergence).startswith("operator op, episode 1, step 2, agent agent_0: ")
    assert result.episodes == 3  # the others are verified all the same


async def test_a_row_too_many_is_named(copy: Path) -> None:
    edit(copy, lambda rows: rows.insert(7, dict(rows[6])))
    (divergence,) = (await verified(copy)).divergences
    assert (divergence.episode_index, divergence.step_index) == (1, 1)
    assert divergence.what == "the row is out of order: step 2 of agent agent_0 is next"


async def test_a_row_after_the_end_is_named(copy: Path) -> None:
    edit(copy, lambda rows: rows.insert(10, {**rows[9], "step_index": 5}))
    (divergence,) = (await verified(copy)).divergences
    assert (divergence.episode_index, divergence.step_index) == (1, 5)
    assert divergence.what == "played again, the episode ends before it"


async def test_rows_in_another_order_are_named(copy: Path) -> None:
    def swap(rows: list[Any]) -> None:
        rows[7], rows[8] = rows[8], rows[7]

    edit(copy, swap)
    (divergence,) = (await verified(copy)).divergences
    assert (divergence.episode_index, divergence.step_index) == (1, 3)


async def test_an_action_that_changes_what_follows_shows_where_it_was_changed(tmp_path: Path) -> None:
    """CartPole's reward is always 1: only the digest can tell."""
    folder = await record_run(tmp_path, RUNS["cartpole"], max_steps=20, concurrency=1)
    edit(folder, lambda rows: rows[25].update(action=1 - rows[25]["action"]))
    (divergence,) = (await verified(folder)).divergences
    row = [json.loads(line) for line in (folder / "operators/op/steps.jsonl").read_text().splitlines()][25]
    place = (divergence.episode_index, divergence.step_index)
    assert place == (row["episode_index"], row["step_index"])
    assert divergence.what.startswith("state_sha is ")


EPISODE_CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "return": ({"total_reward": 99.0}, "total_reward is 99.0 in the record"),
    "returns": ({"returns": {"agent_0": 99.0}}, 'returns is {"agent_0":99.0}'),
    "length": ({"length": 6}, "length is 6 in the record, 5 when played again"),
    "digest": ({"trajectory_sha256": "f" * 64}, "trajectory_sha256 is"),
    "seed": ({"seed": 77}, "seed is 77 in the record, 2 when played again"),
    "outcome": ({"outcome": {"agent": "win"}}, "outcome is"),
    "ending": ({"terminated": False}, "terminated is false"),
    "status": ({"status": "failed"}, "status is failed in the record, completed when played again"),
}


@pytest.mark.parametrize("name", EPISODE_CHANGES)
async def test_a_changed_episode_is_named(name: str, copy: Path) -> None:
    changes, words = EPISODE_CHANGES[name]
    edit(copy, lambda rows: rows[1].update(changes), "episodes")
    (divergence,) = (await verified(copy)).divergences
    assert (divergence.episode_index, divergence.step_index) == (1, None)
    assert divergence.what.startswith(words)


async def test_episodes_that_are_missing_or_too_many_are_named(copy: Path) -> None:
    edit(copy, lambda rows: rows[1].update(episode_index=9), "episodes")
    result = await verified(copy)
    told = {d.episode_index: d.what for d in result.divergences if d.operator_id}
    assert told == {9: "the experiment has no such episode", 1: "the episode is missing"}


async def test_rows_without_an_episode_are_passed_over(copy: Path) -> None:
    """A run that is on: its last episode has no line yet."""
    edit(copy, lambda rows: rows.pop(), "episodes")
    header = json.loads((copy / "run.json").read_text())
    (copy / "run.json").write_text(json.dumps({**header, "status": "running"}))
    result = await verified(copy)
    assert not result.divergences and result.episodes == 2


async def test_a_sound_copy_stays_sound_after_an_innocent_edit(copy: Path) -> None:
    """Times and latencies may differ: the tests above do not fail for any edit at all."""
    edit(copy, lambda rows: [row.update(latency_ms=0.5) for row in rows])
    edit(copy, lambda rows: [row.update(wall_s=1.0, started_at=None) for row in rows], "episodes")
    assert not (await verified(copy)).divergences


async def test_a_damaged_line_is_an_error_with_its_place(copy: Path) -> None:
    path = copy / "operators" / "op" / "steps.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], b"{half\n", *lines[3:]]))
    with pytest.raises(RunFormatError, match=r"steps.jsonl:4"):
        await verified(copy)


# -- versions, progress, other environments ---------------------------------------------


async def test_versions_that_changed_are_told(copy: Path) -> None:
    header = json.loads((copy / "run.json").read_text())
    now = header["versions"]["gymnasium"]
    header["versions"]["gymnasium"] = "0.26.3"
    (copy / "run.json").write_text(json.dumps(header))
    assert (await verified(copy)).versions == {"gymnasium": ("0.26.3", now)}


async def test_an_environment_that_changed_shows_at_once(copy: Path) -> None:
    header = json.loads((copy / "run.json").read_text())
    header["experiment"]["operators"][0]["env_kwargs"] = {"length": 4}
    (copy / "run.json").write_text(json.dumps(header))
    result = await verified(copy)
    places = [(d.episode_index, d.step_index) for d in result.divergences if d.operator_id]
    assert places == [(0, 3), (1, 3), (2, 3)]


async def test_options_of_an_earlier_version_are_told_as_that(tmp_path: Path) -> None:
    folder = await record_run(tmp_path, RUNS["hierarchical"], max_steps=10)

    def age(rows: list[Any]) -> None:
        for row in rows:
            row["state_sha"] = "0" * 16  # other options, other observations
            for key in [key for key in row if key.startswith("option") and row["agent_id"].endswith("/goal")]:
                del row[key]

    edit(folder, lambda rows: [row.update(state_sha="0" * 16) for row in rows])
    assert "state_sha is " in (await verified(folder)).divergences[0].what
    edit(folder, age)
    told = (await verified(folder)).divergences
    assert told and all("managers chose among other options" in each.what for each in told if each.place)


async def test_an_environment_that_is_gone_is_said_with_its_name(copy: Path) -> None:
    header = json.loads((copy / "run.json").read_text())
    header["experiment"]["operators"][0]["task"] = "no_such_module:Corridor"
    (copy / "run.json").write_text(json.dumps(header))
    with pytest.raises(UsageError, match="no_such_module"):
        await verified(copy)


async def test_progress_counts_every_operators_episodes(tmp_path: Path) -> None:
    folder = await record_run(
        tmp_path,
        (operator(name="one"), {"agent_0": player()}),
        (operator(name="two"), {"agent_0": player()}),
    )
    told: list[list[OperatorProgress]] = []
    await verify(open_run(folder), lambda states: told.append(list(states)))
    assert [(s[-1].operator_id, s[-1].done, s[-1].total) for s in told] == [
        (name, k, 3) for name in ("one", "two") for k in (1, 2, 3)
    ]
