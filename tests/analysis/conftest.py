"""Writes valid run folders, row by row as docs/run_directory.md has them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

WORKERS = {
    "ppo": {"worker_id": "cleanrl_worker", "worker_type": "rl", "policy": "ppo:cartpole"},
    "chaser": {"worker_id": "operators_worker", "worker_type": "baseline", "policy": "soccer_chaser"},
    "random": {"worker_id": "operators_worker", "worker_type": "baseline", "policy": "random"},
}


def agent(kind: str, slot: str | None = None) -> dict[str, Any]:
    return {**WORKERS[kind], **({"slot": slot} if slot else {})}


def episode_row(operator: str, index: int, **changes: Any) -> dict[str, Any]:
    """A completed single-agent episode; ``changes`` replace its fields."""
    row: dict[str, Any] = {
        "operator_id": operator,
        "episode_index": index,
        "seed": 1000 + index,
        "status": "completed",
        "length": 2,
        "total_reward": 1.0,
        "returns": {"agent_0": 1.0},
        "teams": {"agent": {"agents": ["agent_0"], "return": 1.0, "score": None}},
        "outcome": None,
        "success": None,
        "terminated": True,
        "truncated": False,
        "agents": {"agent_0": agent("ppo")},
        "invalid_actions": {"agent_0": 0},
        "tokens": {},
        "error": None,
        "started_at": "2026-11-20T12:00:00+00:00",
        "wall_s": 0.01,
        "trajectory_sha256": None,
    }
    row.update(changes)
    return row


def single(
    operator: str, index: int, reward: float | None, kind: str = "ppo", **changes: Any
) -> dict[str, Any]:
    """A single-agent episode with this return."""
    fields: dict[str, Any] = {
        "total_reward": reward,
        "returns": {"agent_0": reward},
        "teams": {"agent": {"agents": ["agent_0"], "return": reward, "score": None}},
        "agents": {"agent_0": agent(kind)},
        "trajectory_sha256": hashlib.sha256(f"{index}:{reward}".encode()).hexdigest(),
    }
    return episode_row(operator, index, **{**fields, **changes})


def match(
    operator: str, index: int, goals: Mapping[str, int], *, swapped: bool = False, **changes: Any
) -> dict[str, Any]:
    """A 2v2 match; ``goals`` by seat. Green is a chaser with a random team-mate, blue random."""
    kinds = {"green_0": "chaser", "green_1": "random", "blue_0": "random", "blue_1": "random"}
    other = {"green_0": "blue_0", "green_1": "blue_1", "blue_0": "green_0", "blue_1": "green_1"}
    slots = other if swapped else {seat: seat for seat in kinds}
    margin = goals["green"] - goals["blue"]
    word = {1: ("win", "loss"), 0: ("draw", "draw"), -1: ("loss", "win")}[(margin > 0) - (margin < 0)]
    returns = {"green_0": float(margin), "green_1": 0.0, "blue_0": float(-margin), "blue_1": 0.0}
    fields: dict[str, Any] = {
        "seed": 500 + index // 2,
        "total_reward": 0.0,
        "returns": returns,
        "teams": {
            "green": {"agents": ["green_0", "green_1"], "return": float(margin), "score": goals["green"]},
            "blue": {"agents": ["blue_0", "blue_1"], "return": float(-margin), "score": goals["blue"]},
        },
        "outcome": {"green": word[0], "blue": word[1]},
        "agents": {seat: agent(kinds[slot], slot) for seat, slot in slots.items()},
        "invalid_actions": dict.fromkeys(kinds, 0),
    }
    return episode_row(operator, index, **{**fields, **changes})


def step_rows(
    episode: Mapping[str, Any], count: int | None = None, source: str = "policy"
) -> list[dict[str, Any]]:
    """One row per seat and environment step, with a chained digest."""
    rows: list[dict[str, Any]] = []
    chain = f"{episode['seed']}"
    length = episode["length"] if count is None else count
    for step in range(length):
        for seat in episode["agents"]:
            action = (step * 7 + episode["episode_index"]) % 2
            chain = hashlib.sha256(f"{chain}|{seat}|{action}".encode()).hexdigest()
            last = step == length - 1
            rows.append(
                {
                    "episode_index": episode["episode_index"],
                    "step_index": step,
                    "seed": episode["seed"],
                    "agent_id": seat,
                    "action": action,
                    "reward": 1.0,
                    "terminated": last and episode["terminated"],
                    "truncated": False,
                    "action_source": source,
                    "state_sha": chain,
                    "latency_ms": 0.25 + 0.01 * step,
                }
            )
    return rows


def dump(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return b"".join(
        json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for row in rows
    )


@dataclass
class Plan:
    """What a run folder shall hold: episode rows by operator, and what is particular about it."""

    episodes: Mapping[str, Sequence[Mapping[str, Any]]]
    run_id: str = "01J0000000000000000000000A"
    status: str = "completed"
    task: str = "CartPole-v1"
    names: Mapping[str, str] = field(default_factory=dict)
    steps: Callable[[Mapping[str, Any]], list[dict[str, Any]]] = step_rows
    execution: Mapping[str, Any] = field(default_factory=lambda: {"concurrency": 8, "processes": 2})
    extra: Mapping[str, Any] = field(default_factory=dict)
    groups: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def write_run(folder: Path, plan: Plan) -> Path:
    """Write the run and give its folder."""
    root = folder / plan.run_id
    seeds = list(dict.fromkeys(row["seed"] for rows in plan.episodes.values() for row in rows))
    operators = [
        {
            "operator_id": key,
            "display_name": plan.names.get(key, key),
            "env_name": "gymnasium",
            "task": plan.task,
            **({"group": plan.groups[key]} if key in plan.groups else {}),
        }
        for key in plan.episodes
    ]
    record = {
        "run_id": plan.run_id,
        "status": plan.status,
        "experiment": {"operators": operators, "execution": dict(plan.execution)},
        "seeds": seeds,
        "versions": {"gym_gui": "0.1.0", "gymnasium": "1.4.0", "cleanrl_worker": "0.1.0"},
        "machine": {"platform": "Linux-6.1-x86_64", "cpus": 2, "memory_gb": 8},
        "commit": "0123456789abcdef0123456789abcdef01234567",
        "started_at": "2026-11-20T12:00:00+00:00",
        "finished_at": "2026-11-20T12:01:00+00:00",
        **plan.extra,
    }
    root.mkdir(parents=True)
    (root / "run.json").write_text(json.dumps(record), encoding="utf-8")
    for key, rows in plan.episodes.items():
        place = root / "operators" / key
        place.mkdir(parents=True)
        (place / "steps.jsonl").write_bytes(b"".join(dump(plan.steps(row)) for row in rows))
        (place / "episodes.jsonl").write_bytes(dump(rows))
    return root


@pytest.fixture(scope="session")
def runs() -> Any:
    """This module: the writers above, for tests that import no test module."""
    import sys

    return sys.modules[__name__]
