"""Groups of trainings as they lie on disk once they are over, without having been trained."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gym_gui.services.trainer.training_folder import EPISODES, EVENTS, EXIT, QUEUE, REQUEST, RUNNER, RunFolder
from tests.support.policies import PPO


def member(
    folder: Path,
    seed: int,
    score: float | None = 100.0,
    *,
    label: str = "ppo",
    env_id: str = "CartPole-v1",
    state: str = "completed",
    returns: Sequence[float] = (10.0, 20.0, 30.0),
    **given: Any,
) -> Path:
    """The run folder of a training; with the policy that comes with MOSAIC where it is done."""
    folder.mkdir(parents=True)
    run = RunFolder(folder)
    row: dict[str, Any] = {"format_version": 1, "run_id": folder.name, "group": label, "seed": seed}
    row |= {"worker": "cleanrl_worker", "algorithm": "ppo", "env_id": env_id, "given": given}
    run.write(REQUEST, row | {"settings": {"total_steps": 1024, **given}})
    if state == "waiting":
        run.write(QUEUE, {"format_version": 1, "submitted_at": 1.0})
        return folder
    runner = {"pid": 1, "born": "another boot/1", "worker": {"pid": 1, "born": "another boot/1"}}
    run.write(RUNNER, runner | {"tag": "none", "started_at": 1.0})
    ended: dict[str, Any] = {"event": "done", "status": state, "step": 1024, "mean_return": score}
    if state == "failed":
        ended = {"event": "error", "kind": "failed", "message": "the return is not a finite number"}
    (folder / EVENTS).write_text(json.dumps(ended) + "\n")
    run.write(EXIT, {"status": 1 if state == "failed" else 0, "ended_at": 2.0})
    episodes = [{"step": 10 * i, "return": value, "length": 10} for i, value in enumerate(returns, 1)]
    (folder / EPISODES).write_text("".join(json.dumps(episode) + "\n" for episode in episodes))
    if state == "completed":
        shutil.copy(PPO / "model.safetensors", folder)
        about = json.loads((PPO / "policy.json").read_text()) | {"seed": seed, "total_steps": 1024}
        (folder / "policy.json").write_text(json.dumps(about))
    return folder


def group(runs: Path, scores: Sequence[float], label: str = "ppo", env_id: str = "CartPole-v1") -> Path:
    """A group's folder, a completed training for each score."""
    folder = runs / f"{label}_{env_id}"
    for seed, score in enumerate(scores, 1):
        member(folder / f"seed{seed}", seed, score, label=label, env_id=env_id)
    return folder
