"""What trainings are called, and the policies that they leave."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from gym_gui.services.policies.policy_library import PolicyLibrary
from gym_gui.services.store import Store
from gym_gui.services.trainings.training_titles import titles
from tests.support.training_records import record

POLICY = Path(__file__).parents[3] / "docs" / "examples" / "checkpoints" / "ppo_cartpole"


def test_runs_are_called_by_what_sets_them_apart() -> None:
    runs = [
        record("a", settings={"learning_rate": 3e-4, "total_steps": 100}),
        record("b", settings={"learning_rate": 1e-3, "total_steps": 100}),
        record("c", algorithm="dqn"),
        record("d", env_id="Acrobot-v1"),
        record("e", env_id="Acrobot-v1", seed=2),
        record("f", title="My run"),
    ]
    found = titles(runs)
    assert found["a"] == "PPO, lr 3e-4" and found["b"] == "PPO, lr 1e-3"
    assert (found["c"], found["d"], found["e"], found["f"]) == ("DQN", "PPO, seed 1", "PPO, seed 2", "My run")


def test_runs_that_are_called_alike_are_numbered_the_oldest_first() -> None:
    alike = [record("b"), record("a"), record("c", worker_id="sb3_worker"), record("d", env_id="Acrobot-v1")]
    assert titles(alike) == {"a": "PPO #1", "b": "PPO #2", "c": "PPO #3", "d": "PPO"}


def trained(folder: Path, **about: Any) -> None:
    shutil.copytree(POLICY, folder)
    asked = {"format_version": 1, "run_id": folder.name, "worker": "cleanrl_worker", "algorithm": "ppo"}
    asked |= {"env_id": "gymnasium/CartPole-v1", "seed": 1, **about}
    (folder / "train.json").write_text(json.dumps(asked))


def test_policies_are_called_as_their_trainings_and_keep_the_names_that_files_have(tmp_path: Path) -> None:
    store = Store(tmp_path)
    runs = store.data / "training"
    trained(runs / "01A", title="Steady")
    trained(runs / "01B", given={"learning_rate": 3e-4})
    trained(runs / "01C", given={"learning_rate": 1e-3})
    shutil.copytree(POLICY, runs / "01A" / "best")
    (runs / "01C" / "train.json").write_text("{")
    found = {entry.name: entry.file.title for entry in PolicyLibrary(store).entries()}
    found.pop("ppo_cartpole", None)
    assert found == {"01A": "Steady", "01A/best": "best of Steady", "01B": "PPO", "01C": "01C"}
