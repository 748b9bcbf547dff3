"""The contract test passes on good workers and names what is wrong with bad ones."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gym_gui.core.errors import UsageError
from gym_gui.core.paradigms.check import CheckStatus
from gym_gui.workers.check import FINDINGS, WorkerCheckReport, check_worker
from gym_gui.workers.contract.check_rounds import Rounds
from gym_gui.workers.contract.check_session import Ledger, check_session
from gym_gui.workers.contract.check_spaces import observation_space_for
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.manifest import read_manifest
from gym_gui.workers.supervisor import SlotRequest
from tests.support.little_workers import little_worker
from tests.support.waiting import LONG_S

ROOT = Path(__file__).resolve().parents[2]
CARTPOLE = gym.spaces.Box(-np.inf, np.inf, (4,), np.float32)


def bundled(name: str) -> WorkerTypeDefinition:
    return read_manifest(ROOT / "3rd_party" / name / "worker.toml")


def with_start(fault: str) -> WorkerTypeDefinition:
    worker = bundled("test_worker")
    return replace(worker, launch=replace(worker.launch, env={"TEST_WORKER_START": fault}))


def faulty(
    fault: str,
    *,
    carrier: str = "socket",
    box: bool = False,
    memory_mb: float | None = None,
    patience_s: float = 15.0,
    grace_s: float = 10.0,
    **settings: Any,
) -> Ledger:
    """What the check finds about the fault injector while it plays, in one process.

    The second process, left alone until the host hangs up, has tests of its own.
    """
    worker = bundled("test_worker")
    worker = replace(
        worker,
        launch=replace(worker.launch, carrier=carrier),
        limits=replace(worker.limits, memory_mb=memory_mb or worker.limits.memory_mb),
    )
    observation_space = observation_space_for(worker.capabilities.observation_spaces)
    action_space = gym.spaces.Box(-1, 1, (2,), np.float32) if box else gym.spaces.Discrete(4)
    given = {**worker.default_settings, "fault": fault, **settings}
    request = SlotRequest("agent_0", "Check-v0", observation_space, action_space, given)
    ledger = Ledger(blame_load=True, grace_s=grace_s)
    asyncio.run(check_session(worker, request, Rounds(request), ledger, patience_s, LONG_S))
    return ledger


def complaints(found: WorkerCheckReport | Ledger) -> dict[str, str]:
    findings = found.findings if isinstance(found, WorkerCheckReport) else found.found.values()
    return {f.name: f.detail for f in findings if f.status is CheckStatus.FAILED}


@pytest.mark.parametrize("name", ["operators_worker", "human_worker", "test_worker"])
def test_worker_without_fault_passes(name: str):
    report = check_worker(bundled(name))
    assert report.ok, "\n".join(report.lines())
    assert [f.name for f in report.findings] == list(FINDINGS)
    skipped = {f.name for f in report.findings if f.status is CheckStatus.SKIPPED}
    assert skipped <= {"results", "refusal"}
    assert 0 < report.startup_s < 60 and 5 < report.memory_mb < 500
    assert len(report.measures()) == 4


@pytest.mark.full
def test_trained_policy_passes_in_the_slot_it_was_trained_for():
    checkpoint = ROOT / "docs/examples/checkpoints/ppo_cartpole"
    report = check_worker(
        bundled("cleanrl_worker"),
        observation_space=CARTPOLE,
        action_space=gym.spaces.Discrete(2),
        settings={"checkpoint": str(checkpoint)},
        env_id="CartPole-v1",
    )
    assert report.ok, "\n".join(report.lines())
    assert report.policy == "ppo:CartPole-v1"
    assert report["masks"].status is CheckStatus.PASSED


def test_a_setting_that_it_does_not_have_is_refused():
    with pytest.raises(UsageError, match=r"behaviorr.*Did you mean 'behavior'"):
        check_worker(bundled("operators_worker"), settings={"behaviorr": "random"})


def test_answers_that_are_missing_are_not_called_equal():
    ledger = faulty("missing_leaf")
    assert ledger.found["legal"].status is CheckStatus.FAILED
    assert {ledger.found[name].status for name in ("batches", "episodes")} == {CheckStatus.SKIPPED}


def test_worker_that_needs_more_than_a_made_up_slot_is_not_blamed(tmp_path: Path):
    needy = """
        from mosaic_worker import LoadError, Worker

        class Main(Worker):
            def load(self, slot):
                if "board" not in slot.settings:
                    raise LoadError("the setting board is missing")
        """
    worker = little_worker(tmp_path, needy)
    report = check_worker(worker)
    assert report.ok, "\n".join(report.lines())
    assert report["load"].status is CheckStatus.SKIPPED and "board is missing" in report["load"].detail
    assert report["answers"].status is CheckStatus.SKIPPED
    assert report["stop"].status is report["end_of_input"].status is CheckStatus.PASSED
    assert "board is missing" in complaints(check_worker(worker, settings={"card": 1}))["load"]


def test_worker_that_raises_over_a_slot_is_not_excused(tmp_path: Path):
    careless = """
        from mosaic_worker import Worker

        class Main(Worker):
            def load(self, slot):
                slot.settings["board"]
        """
    assert "KeyError" in complaints(check_worker(little_worker(tmp_path, careless)))["load"]


@pytest.mark.parametrize("action_space", [None, gym.spaces.Box(-2, 3, (2, 2))])
def test_worker_in_another_language_passes(action_space: Any):
    assert shutil.which("node"), "Node.js 18 or newer is needed: apt-get install nodejs"
    report = check_worker(
        read_manifest(ROOT / "docs/examples/node_worker/worker.toml"), action_space=action_space
    )
    assert report.ok, "\n".join(report.lines())
    assert report["heartbeat"].status is CheckStatus.PASSED


@pytest.mark.parametrize(
    ("fault", "finding", "words", "settings"),
    [
        ("exit", "answers", "exit status 3", {}),
        ("signal", "answers", "SIGSEGV", {"signal": "SIGSEGV"}),
        ("exit", "load", "exit status 7", {"when": "load", "status": 7}),
        ("raise", "load", "RuntimeError: told to raise", {"when": "load"}),
        ("refuse", "load", "told to refuse", {"when": "load"}),
        ("raise", "legal", "RuntimeError: told to raise", {}),
        ("exit", "retries", "exit status 3", {"at": 160}),
        ("exit", "stop", "exit status 4", {"when": "close", "status": 4}),
        ("hang", "answers", "8 of 8 decisions were not answered", {"patience_s": 1.0, "grace_s": 0.5}),
        ("freeze", "answers", "8 of 8 decisions were not answered", {"patience_s": 1.0, "grace_s": 0.5}),
        ("no_reply", "answers", "1 of 1 decisions were not answered", {"patience_s": 1.0, "at": 40}),
        ("illegal", "legal", "action 4 is outside 0..3", {}),
        ("illegal", "masks", "is not legal now", {"at": 120}),
        ("nan", "legal", "NaN", {"box": True}),
        ("illegal", "legal", "outside the bounds", {"box": True}),
        ("invalid", "legal", "told to give no usable reply", {"raw": "hm"}),
        ("batch_dependent", "batches", "of the same episode it chose", {"times": 0}),
        ("unseeded", "batches", "of the same episode it chose", {"times": 0}),
        ("shared_state", "episodes", "of the same episode it chose", {"times": 0}),
        ("duplicate", "answers", "twice", {}),
        ("unknown_id", "answers", "which was never asked", {}),
        ("unknown_slot", "answers", "for slot 4000000000", {}),
        ("wrong_shape", "legal", "does not fit the action space", {}),
        ("wrong_dtype", "legal", "does not fit the action space", {}),
        ("missing_leaf", "legal", "does not fit the action space", {}),
        ("garbage", "answers", "no MOSAIC worker's output", {}),
        ("bad_message", "answers", "no message", {}),
        ("empty_message", "answers", "no message", {}),
        ("huge_header", "answers", "4294967295 bytes", {}),
        ("half_message", "answers", "in the middle of a message", {"then": "exit"}),
        ("half_message", "answers", "not answered", {"patience_s": 1.0}),
        ("deaf", "stop", "did not stop when asked", {"grace_s": 1.0}),
        ("gullible", "refusal", "cannot know", {}),
        ("grandchildren", "leftovers", "2 processes", {"count": 2}),
        ("grandchildren", "leftovers", "1 process that", {"when": "close"}),
    ],
)
def test_fault_has_a_finding(fault: str, finding: str, words: str, settings: dict[str, Any]):
    found = faulty(fault, **settings)
    assert words in complaints(found).get(finding, ""), found


def test_worker_that_outlives_its_host_is_noticed():
    report = check_worker(bundled("test_worker"), settings={"fault": "outlive"}, grace_s=1.0)
    assert complaints(report) == {"end_of_input": "still runs 1 s after the host ended"}


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("garbage", "a line that is no message"),
        ("bad_message", "a line that is no message"),
        ("empty_message", "a line that is no message"),
        ("huge_header", "a line that does not end"),
        ("wrong_shape", "does not fit the action space"),
    ],
)
def test_fault_on_json_lines_has_a_finding(fault: str, words: str):
    found = faulty(fault, carrier="jsonl")
    assert any(words in detail for detail in complaints(found).values()), found


@pytest.mark.parametrize(
    ("fault", "settings"),
    [
        ("parts", {"times": 0}),
        ("parts", {"times": 0, "carrier": "jsonl"}),
        ("two_in_one", {"times": 0, "carrier": "jsonl"}),
        ("split", {"seconds": 0.05, "carrier": "jsonl"}),
        ("stdout_flood", {"count": 2000, "carrier": "jsonl"}),
        ("reversed", {"times": 0}),
        ("two_in_one", {"times": 0}),
        ("split", {"seconds": 0.05}),
        ("hold", {"seconds": 0.05}),
        ("late", {"seconds": 0.05}),
        ("log_flood", {"count": 2000}),
        ("stderr_flood", {"count": 2000}),
        ("stdout_flood", {"count": 2000}),
        ("memory", {"mb": 50}),
    ],
)
def test_what_the_protocol_allows_passes(fault: str, settings: dict[str, Any]):
    ledger = faulty(fault, **settings)
    assert complaints(ledger) == {}
    output = ledger.found["output"]
    assert output.status is CheckStatus.PASSED
    if fault in ("stderr_flood", "stdout_flood", "log_flood"):
        assert "2,000 printed and logged" in output.detail
    if fault == "memory":
        assert ledger.memory_mb is not None and ledger.memory_mb > 70


@pytest.mark.parametrize(
    ("fault", "finding", "words"),
    [
        ("silent", "start", "sent nothing for 2 s"),
        ("exit", "start", "exit status 3"),
        ("garbage", "start", "no MOSAIC worker's output"),
        ("half_message", "start", "sent nothing for 2 s"),
        ("old_version", "handshake", "uses protocol version 0, MOSAIC uses 1"),
        ("future_version", "handshake", "uses protocol version 99, MOSAIC uses 1"),
    ],
)
def test_fault_of_the_start_has_a_finding(fault: str, finding: str, words: str):
    never_ready = "sent nothing" in words
    report = check_worker(with_start(fault), start_s=2.0 if never_ready else LONG_S)
    assert words in complaints(report).get(finding, ""), "\n".join(report.lines())
    assert {f.status for f in report.findings[2:]} == {CheckStatus.SKIPPED}


def test_silent_heart_is_noticed():
    settings = {"fault": "no_heartbeat"}
    report = check_worker(bundled("test_worker"), settings=settings, idle_s=1.0)
    assert [f.name for f in report.failed] == ["heartbeat"]
    assert "no heartbeat in 1 s" in report["heartbeat"].detail


def test_memory_limit_is_kept():
    found = faulty("memory", memory_mb=60, mb=100, times=0)
    assert "over its limit of 60 MB" in complaints(found)["answers"]


def test_worker_that_claims_another_name_is_named():
    worker = replace(read_manifest(ROOT / "docs/examples/node_worker/worker.toml"), type_id="other_worker")
    assert complaints(check_worker(worker)) == {"handshake": "it says it is 'node_worker'"}
