"""Failure 3 of the peer: a garbage line, a half line, two messages in one write shift every reply by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gym_gui.workers.registry import WorkerTypeRegistry
from tests.support.little_workers import RAW, little_worker
from tests.support.runs import operator, played_here, slot

DONE = "completed"

TALKER = (
    RAW
    + """
begin()
asked = 0
while True:
    ids = questions()
    asked += 1
    data = replies(ids, [0] * len(ids))
    {deed}
"""
)


def plan(tmp_path: Path, deeds: dict[str, str]) -> dict[str, Any]:
    operators = [operator("other", slot("passive"))]
    for name, deed in deeds.items():
        little_worker(tmp_path / "data/workers", TALKER.replace("{deed}", deed), f"{name}_worker")
        operators.append(operator(name, slot("baseline", worker_id=f"{name}_worker")))
    return {"operators": operators, "execution": {"num_episodes": 4, "seeds": 7, "concurrency": 1}}


async def test_no_reply_is_taken_for_another(tmp_path: Path):
    deeds = {
        "halves": "link.sendall(data[:3]); time.sleep(0.001); link.sendall(data[3:])",
        "twice": "link.sendall(data + data)",
        "three_in_one": "x = frame(alive=pb.Alive()); link.sendall(x + data + x)",
        "unasked_first": "link.sendall(replies([i + 1 for i in ids], [1] * len(ids)) + data)",
    }
    with WorkerTypeRegistry.isolated():
        run = await played_here(tmp_path, plan(tmp_path, deeds))
    # Both push the cart to the left, whatever way it is said.
    expected = [(s.episode_index, s.step_index, s.action) for s in run.steps("other")]
    for name in deeds:
        assert run.statuses(name) == [DONE] * 4
        assert [(s.episode_index, s.step_index, s.action) for s in run.steps(name)] == expected


@pytest.mark.full
async def test_garbage_ends_the_worker_and_the_episode(tmp_path: Path):
    """Each process sends garbage at its third answer; after three more it is given up."""
    deeds = {
        "garbage": "link.sendall(b'Loading model\\n' if asked == 3 else data)",
        "frame": "link.sendall(struct.pack('<I', 3) + b'abc' if asked == 3 else data)",
        "half": "link.sendall(data[:9] if asked == 3 else data)\n    if asked == 3: os._exit(0)",
    }
    words = {
        "garbage": "it announced a message of 1684107084 bytes: this is no MOSAIC worker's output",
        "frame": "it sent 3 bytes that are no message",
        "half": "it stopped in the middle of a message (9 bytes)",
    }
    with WorkerTypeRegistry.isolated():
        run = await played_here(tmp_path, plan(tmp_path, deeds), processes=2)
    assert run.statuses("other") == [DONE] * 4
    for name in deeds:
        assert run.statuses(name) == ["failed"] * 4
        first = run.episodes(name)[0]
        assert first.error == f"agent_0: worker {name}_worker was ended: {words[name]}, 2 times"
        assert first.length == 2, "what was played before it is kept"
