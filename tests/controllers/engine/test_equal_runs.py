"""One experiment, any concurrency, any number of processes: equal runs, and each verifies."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gym_gui.analysis import compare_runs, open_run
from gym_gui.cli.app import run as run_here
from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.controllers.engine.session_interface import SessionSettings
from gym_gui.controllers.sessions.local_session import LocalSession
from gym_gui.core.config import OperatorConfig
from gym_gui.core.experiment.assignment import WorkerAssignment
from tests.support.runs import played_here
from tests.support.seldom import some_of
from tests.support.session_log import SessionLog
from tests.support.waiting import in_time
from tests.support.watching import plans

REPOSITORY = Path(__file__).resolve().parents[3]
CHECKPOINT = REPOSITORY / "docs" / "examples" / "checkpoints" / "ppo_cartpole"


def slots(*agents: str) -> dict[str, Any]:
    return {agent: {"type": "random"} for agent in agents}


PPO = {"worker_id": "cleanrl_worker", "type": "rl", "checkpoint": str(CHECKPOINT), "deterministic": False}
CLUMSY = {
    "worker_id": "test_worker",
    "type": "baseline",
    "settings": {"fault": "illegal", "times": 0},
    "on_invalid": {"retry": 1, "then": "random_legal"},
}
EXPERIMENT = {
    "operators": [
        {"id": "ppo", "task": "CartPole-v1", "max_steps": 60, "workers": {"agent": PPO}},
        {"id": "leduc", "task": "leduc_holdem_v4", "seats": "swap", "workers": slots("player_0", "player_1")},
        {
            "id": "rps",
            "task": "rps_v2",
            "api": "parallel",
            "seats": "swap",
            "workers": {"player_0": CLUMSY, "player_1": CLUMSY},
        },
    ],
    "execution": {"num_episodes": 12, "seeds": list(range(500, 512)), "max_steps": 25},
}
FIRST = (1, 1)
LONG = [pytest.param(*others, marks=pytest.mark.full) for others in ((8, 1), (64, 1), (1, 2), (8, 2))]
OTHERS = (*LONG, (64, 2))


def mosaic(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A witness that the command itself does it; ``run_here`` costs no process."""
    command = [sys.executable, "-m", "gym_gui", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[int, int], Path]]:
    """Runs the experiment, once for each pair of concurrency and processes."""
    folder = tmp_path_factory.mktemp("equal")
    file = folder / "experiment.json"
    file.write_text(json.dumps(EXPERIMENT))

    def play(concurrency: int, processes: int) -> Path:
        if (concurrency, processes) not in done:
            options = ["--concurrency", str(concurrency), "--processes", str(processes), "--json"]
            ended = mosaic("run", str(file), "--out", str(folder / "runs"), *options)
            assert ended.returncode == 0, ended.stderr
            done[concurrency, processes] = Path(json.loads(ended.stdout.splitlines()[-1])["run"])
        return done[concurrency, processes]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOSAIC_DATA_DIR", str(folder / "data"))
        done = {FIRST: _played_here(folder / "runs")}
        yield play


def _played_here(out: Path) -> Path:
    """One episode at a time, in this process; in others, below, the command plays."""
    experiment = {**EXPERIMENT, "execution": {**EXPERIMENT["execution"], "concurrency": 1}}
    return asyncio.run(played_here(out, experiment)).folder


@pytest.mark.parametrize(("concurrency", "processes"), OTHERS)
def test_the_speed_does_not_show(run: Callable[[int, int], Path], concurrency: int, processes: int) -> None:
    first, other = run(*FIRST), run(concurrency, processes)
    assert compare_runs(first, other) is None
    assert open_run(first).run_id != open_run(other).run_id


@pytest.mark.parametrize("concurrency", [1, 9])
async def test_slots_that_share_a_process_play_as_if_each_had_its_own(
    concurrency: int, joint_policy: Path, tmp_path: Path
) -> None:
    worker = {"worker_id": "cleanrl_worker", "type": "rl", "checkpoint": str(joint_policy)}
    first, *others = (f"agent_{n}" for n in range(3))
    apart = {agent: {**worker, "deterministic": False} for agent in (first, *others)}
    linked = {
        "workers": {first: apart[first]},
        "link_groups": [{"primary_agent": first, "linked_agents": others}],
    }
    digests: list[dict[int, str]] = []
    for name, players, at_once in (("linked", linked, concurrency), ("apart", {"workers": apart}, 3)):
        operator = {"id": "team", "task": "simple_spread_v3", "seats": "swap", **players}
        execution = {"num_episodes": 12, "seeds": 40, "concurrency": at_once}
        result = await played_here(tmp_path / name, {"operators": [operator], "execution": execution})
        played = open_run(result.folder).operators["team"].episodes()
        digests.append({episode.episode_index: episode.trajectory_sha256 for episode in played})
    assert digests[0] == digests[1] and len(digests[0]) == 12


def test_everybody_played_and_the_clumsy_ones_were_replaced(run: Callable[[int, int], Path]) -> None:
    opened = open_run(run(*FIRST))
    episodes = {name: list(o.episodes()) for name, o in opened.operators.items()}
    assert all(len(rows) == 12 for rows in episodes.values())
    assert {e.status for rows in episodes.values() for e in rows} == {"completed"}
    assert len({e.trajectory_sha256 for e in episodes["ppo"]}) == 12
    sources = {name: {s.action_source for s in o.steps()} for name, o in opened.operators.items()}
    assert sources["rps"] == {"random_legal"} and sources["leduc"] == {"policy"}
    for player in ("player_0", "player_1"):
        asked = sum(e.invalid_actions[player] for e in episodes["rps"])
        assert asked == 2 * sum(e.length for e in episodes["rps"])  # the first answer and one retry
    # Swapped seats: the same seed twice, the players in each other's place.
    by_index = sorted((e.episode_index, e.seed, e.agents["player_0"].slot) for e in episodes["leduc"])[:4]
    assert [(seed, slot) for _, seed, slot in by_index] == [
        (500, "player_0"),
        (500, "player_1"),
        (501, "player_0"),
        (501, "player_1"),
    ]


async def test_the_policy_that_samples_does_sample(run: Callable[[int, int], Path]) -> None:
    """Two episodes that begin alike would be alike, were the policy's mode played."""
    rows = list(open_run(run(*FIRST)).operators["ppo"].steps())
    values = [row.value for row in rows]
    assert all(isinstance(value, float) for value in values)
    settings = {"checkpoint": str(CHECKPOINT)}
    mode = WorkerAssignment("cleanrl_worker", "rl", settings, deterministic=True)
    watcher = SessionLog()
    config = OperatorConfig("ppo", "", "", "CartPole-v1", {"agent": mode})
    session = LocalSession(resolve_operator(config), SessionSettings(3, 60), watcher)
    try:
        await session.start()
        session.play(plans(500, 501, 502))
        await in_time(lambda: len(watcher.episodes) == 3, "three episodes")
    finally:
        await session.close()
    actions = {(k, row["step_index"]): row["action"] for k in range(3) for row in watcher.rows[k]}
    played = {(r.episode_index, r.step_index): r.action for r in rows if r.episode_index < 3}
    assert [k for k in played.keys() & actions.keys() if played[k] != actions[k]]


def test_it_verifies_without_its_workers(
    run: Callable[[int, int], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """No worker is started to verify: a checkpoint that is gone does not matter."""
    folder = run(*FIRST)
    header = json.loads((folder / "run.json").read_text())
    moved = folder.parent.parent / "moved"
    shutil.copytree(folder, moved, dirs_exist_ok=True)
    for operator in header["experiment"]["operators"]:
        for slot in operator["workers"].values():
            slot["worker_id"] = "nobody_worker"
            slot["settings"] = {"checkpoint": "/nowhere"}
    del header["record_sha256"]  # it would say that run.json was altered
    header["format"] = 1  # when runs had none
    (moved / "run.json").write_text(json.dumps(header))
    status = run_here(["verify", str(moved)])
    said = capsys.readouterr()
    assert (status, said.out.split(":")[0]) == (0, "Verified"), said.err
    assert "36 episodes" in said.out


@pytest.mark.parametrize("field", some_of(["action", "reward", "state_sha"], "reward"))
def test_an_altered_row_is_named_on_the_command_line(
    run: Callable[[int, int], Path], field: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def verified(*arguments: str) -> tuple[int, str]:
        status = run_here(["verify", *arguments])
        return status, capsys.readouterr().out

    copy = shutil.copytree(run(*FIRST), tmp_path / "copy")
    path = copy / "operators" / "leduc" / "steps.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    row = rows[len(rows) // 2]
    row[field] = {"action": 3 - row["action"], "reward": row["reward"] + 1, "state_sha": "0" * 16}[field]
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    status, out = verified(str(copy))
    place = (
        f"Differs: operator leduc, episode {row['episode_index']}, step {row['step_index']}, "
        f"agent {row['agent_id']}: "
    )
    assert status == 1 and place in out
    status, out = verified(str(copy), "--json")
    (told,) = json.loads(out)["deviations"]
    assert status == 1
    assert (told["episode_index"], told["step_index"]) == (row["episode_index"], row["step_index"])


def test_verify_of_no_run_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_here(["verify", str(tmp_path / "nothing")]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("mosaic: no run at")
    assert said.err.count("\n") == 1 and not said.out
