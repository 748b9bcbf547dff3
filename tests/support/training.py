"""A training worker of the tests' own, laid where a test wants it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from gym_gui.services.trainer.request import TrainRequest
from gym_gui.workers.manifest import read_manifest
from gym_gui.workers.registry import WorkerTypeDefinition

_MANIFEST = """
id = "search_trainer"
kind = "rl"
[launch]
entry = "search_trainer.main:Worker"
[train]
entry = "search_trainer.train"
algorithms = ["search"]
schema = "train_schema.json"
[capabilities]
paradigm = "SINGLE_AGENT"
supported_paradigms = ["SINGLE_AGENT"]
env_types = ["gymnasium"]
"""

FAULTS = ["none", "nan", "disk", "linger", "deaf", "greedy", "shared", "abort", "untold", "silent"]
SCHEMA: dict[str, Any] = {
    "algorithms": {
        "search": {
            "title": "Random search",
            "description": "Keeps the best of random linear policies.",
            "actions": ["discrete"],
            "observations": ["vector"],
            "properties": {
                "total_steps": {"type": "integer", "minimum": 1, "default": 500, "x-group": "main"},
                "step_s": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.0},
                "spread": {"type": "number", "exclusiveMinimum": 0, "default": 1.0},
                "fault": {"type": "string", "enum": FAULTS, "default": "none"},
            },
        }
    }
}


def search_trainer(folder: Path) -> WorkerTypeDefinition:
    """Lay the worker into ``folder`` and read its manifest."""
    source = Path(__file__).with_name("search_trainer")
    shutil.copytree(source, folder / "search_trainer", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "train_schema.json").write_text(json.dumps(SCHEMA))
    (folder / "worker.toml").write_text(_MANIFEST)
    return read_manifest(folder / "worker.toml")


def search_request(worker: WorkerTypeDefinition, out: Path, **given: Any) -> TrainRequest:
    """A training on CartPole; what is not said of the request is a setting."""
    ours = {"resume", "overwrite", "title", "run_id", "seed"}
    about = {name: value for name, value in given.items() if name in ours}
    settings = {name: value for name, value in given.items() if name not in ours}
    return TrainRequest.checked(worker, algo="search", env="CartPole-v1", out=out, settings=settings, **about)
