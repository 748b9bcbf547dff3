"""What a run may use is settled before it waits; what cannot be written down is refused."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gym_gui.core.errors import MissingDependencyError, MosaicError, UsageError
from gym_gui.services.store import Store
from gym_gui.services.trainer.admission import Admission
from gym_gui.services.trainer.run_store import KEEP_EVERY_S, Run, RunStore
from gym_gui.services.trainer.training_records import DEFAULT_LIMITS, RunLimits
from gym_gui.services.trainer.training_registry import RunPlan
from gym_gui.services.worker_orchestrator import UnifiedRunConfig
from tests.services.trainer.test_run_registry import a_run

PPO = UnifiedRunConfig("CartPole-v1", worker_type="cleanrl", algorithm="ppo", seed=5)


@pytest.mark.parametrize(
    ("gpus", "device", "limits", "given"),
    [
        ((), "", DEFAULT_LIMITS, 0),
        (("0", "1"), "cuda", DEFAULT_LIMITS, 1),
        (("0", "1"), "cpu", DEFAULT_LIMITS, 0),
        (("0", "1"), "cuda", RunLimits(gpus=2), 2),
        (("0", "1"), "", RunLimits(gpus=0), 0),
    ],
)
def test_a_gpu_is_given_to_who_asks_for_one(
    store: Store, tmp_path: Path, gpus: tuple[str, ...], device: str, limits: RunLimits, given: int
) -> None:
    admission = Admission()
    admission.gpus = gpus
    config = replace(PPO, settings={"device": device} if device else {})
    admitted = admission.admit(config, tmp_path / "r1", limits, run_id="r1")
    assert admitted.limits.gpus == given
    assert admitted.limits.memory_mb == 2048  # what its worker.toml says
    record = admitted.record("r1", tmp_path / "r1")
    assert (record.worker_id, record.algorithm, record.env_id, record.seed) == (
        "cleanrl_worker",
        "ppo",
        "CartPole-v1",
        5,
    )


def test_without_an_algorithm_one_is_taken_that_learns_for_as_many_agents(
    store: Store, tmp_path: Path
) -> None:
    for env, algorithm in (("CartPole-v1", "ppo"), ("simple_spread_v3", "ippo")):
        config = UnifiedRunConfig(env, worker_type="cleanrl")
        admitted = Admission().admit(config, tmp_path / algorithm, DEFAULT_LIMITS, run_id="r1")
        assert admitted.request.algo == algorithm
    wrong = UnifiedRunConfig("simple_spread_v3", worker_type="cleanrl", algorithm="dqn")
    with pytest.raises(UsageError, match="these learn there: ippo, mappo"):
        Admission().admit(wrong, tmp_path / "r1", DEFAULT_LIMITS, run_id="r1")


def test_a_gpu_that_is_not_there_is_named_before_anything_waits(store: Store, tmp_path: Path) -> None:
    admission = Admission()
    admission.gpus = ()
    config = replace(PPO, settings={"device": "cuda"})
    with pytest.raises(UsageError, match=r"device 'cuda' is requested, but this machine has no GPU"):
        admission.admit(config, tmp_path / "r1", DEFAULT_LIMITS, run_id="r1")


def test_workers_come_change_and_go_while_a_daemon_lives(store: Store, tmp_path: Path) -> None:
    admission = Admission()
    config = UnifiedRunConfig("CartPole-v1", worker_type="search_trainer")
    manifest = store.data / "workers" / "search_trainer" / "worker.toml"
    whole = manifest.read_text()
    admission.admit(config, tmp_path / "r1", DEFAULT_LIMITS, run_id="r1")
    manifest.write_text(whole + '[requires]\npip = ["no-such-thing"]\n')
    with pytest.raises(MissingDependencyError, match="no-such-thing"):
        admission.admit(config, tmp_path / "r1", DEFAULT_LIMITS, run_id="r1")
    manifest.write_text("id = ")
    with pytest.raises(UsageError, match="cannot be used"):
        admission.admit(config, tmp_path / "r1", DEFAULT_LIMITS, run_id="r1")
    manifest.unlink()
    with pytest.raises(UsageError, match="unknown worker 'search_trainer'"):
        admission.admit(config, tmp_path / "r1", DEFAULT_LIMITS, run_id="r1")
    manifest.write_text(whole)
    admission.admit(config, tmp_path / "r1", DEFAULT_LIMITS, run_id="r1")


def test_one_that_kept_no_checkpoint_cannot_go_on(store: Store, tmp_path: Path) -> None:
    earlier = a_run("r1", worker_id="search_trainer", algorithm="search", folder=tmp_path / "r1")
    with pytest.raises(UsageError, match=r"run r1 has no checkpoint to resume from"):
        Admission().admit(PPO, tmp_path / "r1", DEFAULT_LIMITS, earlier, run_id="r1")


@pytest.fixture
def databases(monkeypatch: pytest.MonkeyPatch) -> list[sqlite3.Connection]:
    """Those that the test opens."""
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def noted(*args: Any, **options: Any) -> sqlite3.Connection:
        opened.append(connect(*args, **options))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", noted)
    return opened


async def test_a_full_disk_refuses_new_runs_and_hides_no_state_of_old_ones(
    tmp_path: Path, databases: list[sqlite3.Connection], caplog: pytest.LogCaptureFixture
) -> None:
    book = RunStore(tmp_path)
    old = Run(a_run("old"), RunPlan())
    book.add(old)
    (db,) = databases
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    db.execute(f"PRAGMA max_page_count = {pages}")  # what SQLite meets when the disk is full
    large = {"x": "y" * 100_000}
    with pytest.raises(MosaicError, match=r"cannot be saved.*full.*Free some space there"):
        book.add(Run(a_run("new", settings=large), RunPlan()))
    assert [record.run_id for record in book.records] == ["old"]
    watch = book.watch()
    book.change(old, state="failed", reason="z" * 100_000)
    assert "the registry cannot be written" in caplog.text
    assert (await anext(watch.changes())).state == "failed"  # who watches is told the truth
    db.execute("PRAGMA max_page_count = 1000000")
    old.kept_at = time.monotonic() - KEEP_EVERY_S - 1
    book.save_progress()
    book.close()
    again = RunStore(tmp_path)
    assert [record.state for record in again.records] == ["failed"]
    again.close()
