"""An environment that takes its whole process with it costs itself, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.processes import Offspring
from tests.support.runs import GATED, Gate, MosaicRun, operator

DONE = "completed"


@pytest.mark.parametrize("concurrency", [1, 4])
def test_the_culprit_fails_and_all_others_complete(tmp_path: Path, offspring: Offspring, concurrency: int):
    words = {"segfault": "was killed (signal 11, SIGSEGV)", "exit": "ended with exit status 7"}
    gates = {deed: Gate(tmp_path / deed) for deed in words}
    operators = [operator("other")]
    for deed, gate in gates.items():
        operators.append(operator(deed, task=GATED, env_kwargs=gate.kwargs(at=102, deed=deed)))
    execution = {"num_episodes": 8, "seeds": 100, "concurrency": concurrency}
    plan = {"operators": operators, "execution": execution}
    run = MosaicRun(tmp_path, offspring, plan, "--processes", "2")
    assert run.wait() == 1
    assert run.statuses("other") == [DONE] * 8
    retries = run.header()["retries"]
    assert {r["operator_id"] for r in retries} == set(words)
    for deed, how in words.items():
        assert run.statuses(deed) == [DONE, DONE, "failed", *[DONE] * 5]
        assert run.episodes(deed)[2].error == f"its session process {how}, 3 times"
        assert len(gates[deed].marks()) == 3
        mine = [r["reason"] for r in retries if (r["operator_id"], r["episode_index"]) == (deed, 2)]
        assert mine == [how] * 3


def test_a_crash_that_does_not_come_again_costs_a_retry(tmp_path: Path, offspring: Offspring):
    gate = Gate(tmp_path / "gate")
    shaky = operator("shaky", task=GATED, env_kwargs=gate.kwargs(at=102, deed="segfault", times=1))
    execution = {"num_episodes": 8, "seeds": 100, "concurrency": 4}
    run = MosaicRun(tmp_path, offspring, {"operators": [shaky], "execution": execution})
    assert run.wait() == 0
    assert run.statuses("shaky") == [DONE] * 8
    assert 2 in {r["episode_index"] for r in run.header()["retries"]}
