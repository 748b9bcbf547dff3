"""Limits that make no sense are refused wherever they come in."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

import pytest

from gym_gui.core.errors import UsageError
from gym_gui.services.trainer.daemon import DaemonSettings
from gym_gui.services.trainer.pb import trainer_pb2 as pb
from gym_gui.services.trainer.queue_entry import QueueEntry, write_entry
from gym_gui.services.trainer.recovery import recover_runs
from gym_gui.services.trainer.trainer_messages import limits_of
from gym_gui.services.trainer.training_folder import QUEUE, REQUEST, RunFolder
from gym_gui.services.trainer.training_records import (
    RunLimits,
    TrainingRecord,
    record_from_data,
    record_to_data,
)

NONSENSE: list[dict[str, Any]] = [
    {"max_s": math.nan},
    {"max_s": math.inf},
    {"max_s": -math.inf},
    {"max_s": -1.0},
    {"max_s": 0.0},
    {"max_s": True},
    {"max_s": "60"},
    {"memory_mb": 0},
    {"memory_mb": -5},
    {"memory_mb": 0.5},
    {"memory_mb": math.nan},
    {"cpu_cores": -1},
    {"cpu_cores": 1.5},
    {"gpus": -1},
]


@pytest.mark.parametrize("limits", NONSENSE, ids=str)
def test_limits_that_make_no_sense_are_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="must be a"):
        RunLimits(**limits)
    with pytest.raises(UsageError, match="must be a"):
        RunLimits.from_data(limits)


@pytest.mark.parametrize("max_s", [math.nan, math.inf, -math.inf, -3.0])
def test_a_message_with_such_limits_is_refused(max_s: float) -> None:
    """Of a client that is not ours."""
    with pytest.raises(UsageError, match="longest duration"):
        limits_of(pb.RunQuota(cpu_cores=1, max_s=max_s))


def test_limits_that_make_sense_are_kept() -> None:
    assert RunLimits.from_data({"cpu_cores": 2, "max_s": 3, "unknown": 1}) == RunLimits(2, None, None, 3)
    assert limits_of(pb.RunQuota()) == RunLimits.from_data(None) == RunLimits()


@pytest.mark.parametrize("idle_s", [math.nan, math.inf, -1.0])
def test_a_daemon_that_would_wait_senselessly_is_refused(idle_s: float) -> None:
    with pytest.raises(UsageError, match="cannot be idle"):
        DaemonSettings(idle_s=idle_s)
    with pytest.raises(UsageError, match="the queue's capacity is 0"):
        DaemonSettings(capacity=0)


def test_a_run_that_was_kept_with_such_limits_stays_without_them() -> None:
    record = TrainingRecord("r1", "w", "ppo", "CartPole-v1", 1, Path("/data/r1"), 1.0)
    data = {**record_to_data(record), "limits": {"max_s": math.nan}}
    again = record_from_data(data)
    assert again.limits == RunLimits() and "limits were dropped" in again.warning


# ------------------------------------------------------------------- folders written by hand


def asked(folder: Path, **more: Any) -> Path:
    """A run folder as a submission leaves it."""
    folder.mkdir()
    row = {"worker": "w", "algorithm": "ppo", "env_id": "CartPole-v1", "seed": 1, **more}
    (folder / REQUEST).write_text(json.dumps(row))
    return folder


def test_a_folder_that_asks_for_such_limits_is_found_but_never_begun(tmp_path: Path) -> None:
    asked(tmp_path / "a", limits={"max_s": math.nan})
    asked(tmp_path / "b", limits={"memory_mb": 0})
    asked(tmp_path / "c", limits={"max_s": 60})
    found = {record.run_id: record for record, _ in recover_runs(tmp_path, (), "lost")}
    assert [found[name].state for name in "abc"] == ["failed", "failed", "queued"]
    assert "train.json is invalid" in found["a"].reason and "must be" in found["b"].reason


def test_what_is_known_already_is_not_found_again_and_links_are_not_followed(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    asked(runs / "known")
    asked(tmp_path / "elsewhere")
    (runs / "link").symlink_to(tmp_path / "elsewhere")
    assert recover_runs(runs, {"known"}, "lost") == []


def test_a_folder_says_the_place_in_the_queue(tmp_path: Path) -> None:
    now = time.time()
    for name, place in {
        "cancelled": QueueEntry(now, cancelled_at=now + 1),
        "held": QueueEntry(now, priority=3, held=True),
        "resumed": QueueEntry(now, resume=True),
    }.items():
        write_entry(RunFolder(asked(tmp_path / name)), place)
    found = {record.run_id: (record, plan) for record, plan in recover_runs(tmp_path, (), "lost")}
    assert {name: record.state for name, (record, _) in found.items()} == {
        "cancelled": "stopped",
        "held": "paused",
        "resumed": "queued",
    }
    assert found["held"][0].priority == 3 and found["resumed"][1].resume
    assert found["cancelled"][0].ended_at == now + 1


@pytest.mark.parametrize("row", [{}, {"submitted_at": "now"}, {"submitted_at": 1, "cancelled_at": True}, []])
def test_a_place_that_makes_no_sense_begins_nothing(tmp_path: Path, row: Any) -> None:
    (asked(tmp_path / "a") / QUEUE).write_text(json.dumps(row))
    assert recover_runs(tmp_path, (), "lost") == []
