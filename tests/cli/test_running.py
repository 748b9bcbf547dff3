"""What only running shows: the episode has failed with its reason, status 1, nothing is half-written."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

from tests.support.commands import COMMAND, ROOT, Mosaic, experiment

ARENA = "tests.support.arenas:Corridor"


def rows(run: Path, operator: str, kind: str = "episodes") -> list[dict[str, Any]]:
    """Rows of a run; every line is whole."""
    text = (run / "operators" / operator / f"{kind}.jsonl").read_text()
    assert text == "" or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


ILLEGAL = {"type": "baseline", "worker_id": "test_worker", "settings": {"fault": "illegal", "times": 0}}
FAULTY: dict[str, tuple[dict[str, Any], str]] = {
    "nan": ({"task": ARENA, "env_kwargs": {"fault": "nan"}}, "NaN"),
    "raises": ({"task": ARENA, "env_kwargs": {"fault": "step"}}, "the floor gave way"),
    "illegal": ({"workers": {"agent": ILLEGAL}}, "action"),
}
"""What is wrong with an operator, and what its failed episodes say."""


def test_a_failed_episode_has_its_reason_and_the_others_go_on(mosaic: Mosaic) -> None:
    bad = [{"id": name, **faulty} for name, (faulty, _) in FAULTY.items()]
    path = experiment(mosaic.home, *bad, {"id": "good"})
    done = mosaic("run", path, "--trust", "--json", PYTHONPATH=str(ROOT))
    assert done.status == 1, done.err
    result = done.json()
    assert (result["status"], result["episodes"], result["failed"]) == ("failed", 8, 6)
    run = mosaic.home / result["run"]
    shown = mosaic("runs", "show", run)
    assert shown.status == 0
    assert shown.out.count("(2 failed)") == 3
    for name, (_, says) in FAULTY.items():
        failed = rows(run, name)
        assert len(failed) == 2, name
        assert all(says in row["error"] and row["status"] == "failed" for row in failed), name
        assert says in shown.out
    assert {row["status"] for row in rows(run, "good")} == {"completed"}


def _with_small_files(
    mosaic: Mosaic, kilobytes: int, *arguments: str | Path
) -> subprocess.CompletedProcess[str]:
    """As on a disk that is full when a file has so many kilobytes (root has no quota to exceed)."""
    line = f"ulimit -f {kilobytes}; exec {shlex.join([*COMMAND, *map(str, arguments)])}"
    # What coverage notes down in a child would hit the limit before the run does.
    env = {k: v for k, v in mosaic.env.items() if not k.startswith("COVERAGE_")}
    return subprocess.run(
        ["bash", "-c", line],
        cwd=mosaic.home,
        env=env,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def test_a_disk_that_fills_ends_the_run_and_keeps_what_is_whole(mosaic: Mosaic) -> None:
    path = experiment(mosaic.home, num_episodes=400, seeds=1)
    done = _with_small_files(mosaic, 200, "run", path, "--json")
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    result = json.loads(done.stdout)
    assert "cannot be written" in result["problem"]
    run = mosaic.home / result["run"]
    kept = rows(run, "op_0")
    assert 0 < len(kept) < 400
    whole = {row["episode_index"] for row in kept}
    assert {row["status"] for row in kept} == {"completed"}, "no episode fails for want of room"
    assert {row["episode_index"] for row in rows(run, "op_0", "steps")} == whole
    assert result["episodes"] == len(kept) and result["failed"] == 0
    assert json.loads((run / "run.json").read_text())["status"] == "stopped"
    assert not (run / ".reserve").exists()
    # With room again nothing is lost or played twice.
    again = mosaic("run", "--resume", run, "--json")
    assert again.json()["episodes"] == 400 and again.json()["status"] == "completed"
    assert sorted(row["episode_index"] for row in rows(run, "op_0")) == list(range(400))


def test_a_disk_that_is_full_is_noticed_before_anything_starts(mosaic: Mosaic) -> None:
    path = experiment(mosaic.home)
    done = _with_small_files(mosaic, 16, "run", path, "--out", "there/below")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "--out" in done.stderr
    assert not (mosaic.home / "there").exists()


def test_an_environment_of_ones_own_lies_in_the_working_directory(mosaic: Mosaic) -> None:
    (mosaic.home / "my_arena.py").write_text(
        "import gymnasium\ndef make(**kwargs):\n    return gymnasium.make('CartPole-v1', **kwargs)\n"
    )
    done = mosaic("run", experiment(mosaic.home, {"task": "my_arena:make"}), "--trust", "--json")
    assert done.json()["status"] == "completed"
    assert mosaic("envs", "check", "my_arena:make").status == 0


def test_dry_run_says_what_would_be_done_and_does_nothing(mosaic: Mosaic) -> None:
    path = experiment(mosaic.home)
    done = mosaic("run", path, "--dry-run", "--episodes", "7")
    assert done.status == 0
    assert "7 episodes" in done.out
    assert "Nothing was played" in done.out
    plan = mosaic("run", path, "--dry-run", "--json").json()
    assert plan["environments"] == {"op_0": "CartPole-v1"}
    assert sorted(mosaic.home.iterdir()) == [path]
