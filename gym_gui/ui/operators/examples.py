"""Examples that come with MOSAIC: a trained policy, an experiment file and two operators."""

from __future__ import annotations

from pathlib import Path

from gym_gui.core.config import OperatorConfig, WorkerAssignment
from gym_gui.core.paths import EXAMPLES


def bundled_policies() -> tuple[Path, ...]:
    """Return the folders that hold the bundled trained policies."""
    return tuple(place / "checkpoints" for place in EXAMPLES if (place / "checkpoints").is_dir())


def example_experiment() -> Path | None:
    """Return the example experiment file, or ``None`` if it is not installed."""
    return next((path for place in EXAMPLES if (path := place / "quickstart.py").is_file()), None)


def random_operator(task: str = "CartPole-v1") -> OperatorConfig:
    """Return an operator that plays random actions in a single-agent environment."""
    player = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})
    return OperatorConfig("random", "Random", "", task, {"agent_0": player}, named=False)


def trained_against_random() -> list[OperatorConfig]:
    """Return two operators, the bundled trained policy and random actions; empty without that policy."""
    checkpoint = next((p for root in bundled_policies() if (p := root / "ppo_cartpole").is_dir()), None)
    if checkpoint is None:
        return []
    player = WorkerAssignment("cleanrl_worker", "rl", {"checkpoint": str(checkpoint)})
    trained = OperatorConfig("ppo", "PPO", "", "CartPole-v1", {"agent_0": player}, named=False)
    return [trained, random_operator()]
