"""Folders of trained policies, made of the one that comes with MOSAIC."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

PPO = Path(__file__).resolve().parents[2] / "docs/examples/checkpoints/ppo_cartpole"


def kept_policy(folder: Path, **changes: Any) -> Path:
    """A copy of the CartPole policy in format 2, whose description says something else."""
    folder.mkdir(parents=True)
    shutil.copy(PPO / "model.safetensors", folder)
    about = json.loads((PPO / "policy.json").read_text())
    about.update(
        format_version=2,
        worker="cleanrl_worker",
        input_space=about["observation_space"],
        licence="",
        origin={"kind": "trained"},
    )
    (folder / "policy.json").write_text(json.dumps(about | changes))
    return folder
