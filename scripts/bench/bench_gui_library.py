"""Run folders for ``bench_gui.py``: as many as a person collects in a year, without their rows."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gym_gui.core.clock import new_ulid

TASKS = ("CartPole-v1", "Taxi-v3", "MiniGrid-DoorKey-8x8-v0", "connect_four_v3", "ALE/Pong-v5")
AGENTS = (
    ("PPO", "cleanrl_worker", "rl"),
    ("Random", "operators_worker", "baseline"),
    ("GPT", "llm_worker", "llm"),
)


def make_runs(folder: Path, count: int) -> None:
    """Write run folders that differ in who played, where, when and with what; a third of them labeled."""
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    for i in range(count):
        run = folder / new_ulid()
        agents = [AGENTS[(i + j) % len(AGENTS)] for j in range(2)]
        operators = [
            {
                "id": f"op{j}",
                "name": name,
                "env_name": "gymnasium",
                "task": TASKS[i % len(TASKS)],
                "workers": {
                    "agent_0": {
                        "worker_id": worker,
                        "type": kind,
                        "settings": {"learning_rate": 10.0 ** -(3 + i % 3), "temperature": (i % 7) / 10},
                    }
                },
            }
            for j, (name, worker, kind) in enumerate(agents)
        ]
        players = {
            o["id"]: {"agent_0": {"worker_id": worker, "worker_type": kind, "policy": name.lower()}}
            for o, (name, worker, kind) in zip(operators, agents, strict=True)
        }
        data = {
            "run_id": run.name,
            "status": "completed",
            "started_at": (begun + timedelta(hours=i)).isoformat(),
            "experiment": {
                "operators": operators,
                "execution": {"num_episodes": 20 + i % 5, "max_steps": 500, "seeds": list(range(20))},
            },
            "players": players,
            "episodes": {"op0": 0, "op1": 0},
        }
        run.mkdir(parents=True)
        (run / "run.json").write_text(json.dumps(data))
        if i % 3 == 0:
            labels = {"format": 1, "name": f"Run number {i}", "tags": [f"tag{i % 11}"], "star": not i % 30}
            (run / "labels.json").write_text(json.dumps(labels))
