"""An environment that takes its whole process with it costs itself, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.processes import Offspring
from tests.support.runs import GATED, Gate, MosaicRun, operator

DONE = "completed"


SHAKY = "shaky"
"""Crashes once; the others do it whenever they are played."""


SEGFAULT = {"segfault": "was killed (signal 11, SIGSEGV)"}
BOTH = {**SEGFAULT, "exit": "ended with exit status 7"}
"""How the session process of each ends."""


@pytest.mark.parametrize(
    ("concurrency", "words"),
    [(4, SEGFAULT), *(pytest.param(n, BOTH, marks=pytest.mark.full) for n in (1, 4))],
)
def test_the_culprit_fails_and_all_others_complete(
    tmp_path: Path, offspring: Offspring, concurrency: int, words: dict[str, str]
):
    gates = {deed: Gate(tmp_path / deed) for deed in words}
    once = Gate(tmp_path / SHAKY).kwargs(at=102, deed="segfault", times=1)
    operators = [operator("other"), operator(SHAKY, task=GATED, env_kwargs=once)]
    for deed, gate in gates.items():
        operators.append(operator(deed, task=GATED, env_kwargs=gate.kwargs(at=102, deed=deed)))
    execution = {"num_episodes": 5, "seeds": 100, "concurrency": concurrency}
    plan = {"operators": operators, "execution": execution}
    run = MosaicRun(tmp_path, offspring, plan, "--processes", "2")
    assert run.wait() == 1
    assert run.statuses("other") == [DONE] * 5
    # A crash that does not come again costs a retry.
    assert run.statuses(SHAKY) == [DONE] * 5
    retries = run.header()["retries"]
    assert {r["operator_id"] for r in retries} == {*words, SHAKY}
    assert 2 in {r["episode_index"] for r in retries if r["operator_id"] == SHAKY}
    for deed, how in words.items():
        assert run.statuses(deed) == [DONE, DONE, "failed", DONE, DONE]
        assert run.episodes(deed)[2].error == f"its session process {how}, 3 times"
        assert len(gates[deed].marks()) == 3
        mine = [r["reason"] for r in retries if (r["operator_id"], r["episode_index"]) == (deed, 2)]
        assert mine == [how] * 3
