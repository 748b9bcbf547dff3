"""A worker, a family and an experiment key are added by a patch of the files that CONTRIBUTING names."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("gym_gui", "3rd_party", "requirements", "scripts", "pyproject.toml", "conftest.py")
TESTS = ("packaging/test_configuration.py", "controllers/test_who_fits_where.py")

MANIFEST = """
id = "first_worker"
name = "First"
kind = "baseline"
description = "Plays the first action"

[launch]
entry = "first_worker.main:FirstWorker"

[requires]
pip = ["numpy>=1.26"]
extra = "first"

[capabilities]
paradigm = "SINGLE_AGENT"
supported_paradigms = ["SINGLE_AGENT", "SEQUENTIAL", "SIMULTANEOUS"]
env_types = ["gymnasium", "pettingzoo", "custom"]
action_spaces = ["discrete"]
observation_spaces = ["any"]
"""
WORKER = '''"""Plays the first action."""

from __future__ import annotations

from mosaic_worker.worker import Batch, Slot, Worker


class FirstWorker(Worker):
    """Plays the first action."""

    def load(self, slot: Slot) -> str:
        """Nothing is loaded."""
        return "first"

    def select_actions(self, batch: Batch) -> list[int]:
        """Zero for all."""
        return [0 for _ in batch]
'''
FAMILY = '''"""A corridor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from gym_gui.envs.family import Family
from gym_gui.envs.spec import EnvSpec


class CorridorFamily(Family):
    """One corridor."""

    name: ClassVar[str] = "corridor"
    title: ClassVar[str] = "Corridor"

    def specs(self) -> Sequence[EnvSpec]:
        return [self.spec("Corridor-v0", "gymnasium.envs.toy_text:CliffWalkingEnv", max_episode_steps=5)]

    def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
        from gymnasium.envs.toy_text import CliffWalkingEnv
        from gymnasium.wrappers import TimeLimit

        return TimeLimit(CliffWalkingEnv(render_mode=render_mode, **env_kwargs), spec.max_episode_steps or 5)

    def action_meanings(self, environment: Any, agent: str) -> tuple[str, ...]:
        return ("north", "east", "south", "west")
'''
KEY = """    warm_up: int | None = key(
        converter=optional(whole(1, 100)),
        default=None,
        meaning="episodes that are played before those that count",
        usual="none",
        said="{} episodes before those that count",
    )
"""
EXPERIMENT = """
operators: [{id: a, task: CartPole-v1, type: random}]
execution: {num_episodes: 2, warm_up: 3}
"""
READ = """
import sys
from pathlib import Path
from gym_gui.core.declared_keys import keys_of, table
from gym_gui.core.errors import ExperimentError
from gym_gui.core.experiment.execution import ExecutionConfig
from gym_gui.services.experiment_file import load_experiment

file = Path(sys.argv[1])
print(load_experiment(file, allow_code=False).to_record()["execution"]["warm_up"])
for written in ("warm_upp: 3", "warm_up: 101"):
    file.write_text(file.read_text("utf-8").replace("warm_up: 3", written), "utf-8")
    try:
        load_experiment(file, allow_code=False)
    except ExperimentError as error:
        print(error)
    file.write_text(file.read_text("utf-8").replace(written, "warm_up: 3"), "utf-8")
print(next(line for line in table(keys_of(ExecutionConfig)) if "warm_up" in line))
"""
PLAY = """
import json, sys
from gym_gui.evaluation import evaluate
import gym_gui

slot = {"type": "baseline", "worker_id": sys.argv[2], "settings": json.loads(sys.argv[3])}
results = evaluate(sys.argv[1], {"agent": slot}, seeds=2, out=sys.argv[4])
print(json.dumps([gym_gui.__file__, results.status, [e.length for e in results.episodes]]))
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The sources, to be patched."""
    copy = tmp_path / "checkout"
    copy.mkdir()
    ignored = shutil.ignore_patterns("__pycache__", "*.png", "*.pt")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=ignored)
        else:
            shutil.copy(source, copy / name)
    for name in TESTS:
        (copy / "tests" / name).parent.mkdir(parents=True)
        shutil.copy(ROOT / "tests" / name, copy / "tests" / name)
    return copy


def insert(file: Path, before: str, text: str) -> None:
    source = file.read_text("utf-8")
    assert source.count(before) == 1
    file.write_text(source.replace(before, text + before), "utf-8")


@pytest.fixture
def run(checkout: Path, tmp_path: Path) -> Callable[..., str]:
    """Runs a Python program in the patched sources; gives what it printed."""

    def python(*arguments: str) -> str:
        paths = os.pathsep.join(map(str, (checkout, checkout / "3rd_party/mosaic_worker_sdk")))
        own = {"PYTHONPATH": paths, "MOSAIC_DATA_DIR": str(tmp_path / "data"), "COVERAGE_PROCESS_CONFIG": ""}
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=checkout,
            env={**os.environ, **own},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return python


@pytest.fixture
def played(checkout: Path, run: Callable[..., str], tmp_path: Path) -> Callable[..., list[int]]:
    """Plays two episodes in the patched sources; gives their lengths."""

    def play(task: str, worker: str, **settings: object) -> list[int]:
        told = run("-c", PLAY, task, worker, json.dumps(settings), str(tmp_path / "run"))
        package, status, lengths = json.loads(told.splitlines()[-1])
        assert Path(package).parent == checkout / "gym_gui" and status == "completed"
        return lengths

    return play


@pytest.fixture
def with_worker(checkout: Path) -> Path:
    """What CONTRIBUTING says under "Adding a worker", and nothing else."""
    folder = checkout / "3rd_party/first_worker"
    (folder / "first_worker").mkdir(parents=True)
    (folder / "worker.toml").write_text(MANIFEST, "utf-8")
    (folder / "first_worker/__init__.py").write_text('"""Plays the first action."""\n', "utf-8")
    (folder / "first_worker/main.py").write_text(WORKER, "utf-8")
    insert(checkout / "pyproject.toml", "\ncontrol = [", '\nfirst = ["numpy>=1.26"]')
    (checkout / "requirements/first_worker.txt").write_text("numpy>=1.26\n", "utf-8")
    return folder


def test_a_worker_plays_and_is_checked(
    with_worker: Path, run: Callable[..., str], played: Callable[..., list[int]]
) -> None:
    lengths = played("CartPole-v1", "first_worker")
    assert len(lengths) == 2 and all(8 <= length <= 12 for length in lengths)  # it falls to one side
    run(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", "-k", "first_worker and (CartPole or packag)"
    )


@pytest.mark.full
def test_the_source_of_a_worker_is_checked_without_a_line_for_it(
    with_worker: Path, run: Callable[..., str]
) -> None:
    (with_worker.parents[1] / ".venv").symlink_to(Path(sys.prefix))
    run("-m", "ruff", "check", str(with_worker))
    assert run("-m", "vulture") == ""
    assert run("-m", "pyright", "--project", "pyproject.toml", str(with_worker)).startswith("0 errors")


def test_a_family_is_listed_and_played(
    checkout: Path, run: Callable[..., str], played: Callable[..., list[int]]
) -> None:
    families = checkout / "gym_gui/envs/families"
    (families / "corridor.py").write_text(FAMILY, "utf-8")
    listed = families / "__init__.py"
    insert(
        listed,
        "from gym_gui.envs.families.crafter",
        "from gym_gui.envs.families.corridor import CorridorFamily\n",
    )
    insert(listed, "    CrafterFamily(),", "    CorridorFamily(),\n")
    assert played("Corridor-v0", "operators_worker", behavior="random") == [5, 5]
    assert "Corridor-v0" in run("-m", "gym_gui", "envs", "list", "corridor")
    run("-m", "gym_gui", "envs", "check", "Corridor-v0")


def test_a_key_of_the_experiment_file_is_read_refused_recorded_and_described(
    checkout: Path, run: Callable[..., str], tmp_path: Path
) -> None:
    insert(checkout / "gym_gui/core/experiment/execution.py", "    until: Until = key(\n", KEY)
    file = tmp_path / "experiment.yaml"
    file.write_text(EXPERIMENT, "utf-8")
    assert "3 episodes before those that count" in run("-m", "gym_gui", "run", str(file), "--dry-run")
    recorded, unknown, beyond, row = run("-c", READ, str(file)).splitlines()
    assert recorded == "3"
    assert "execution.warm_upp: unknown key. Did you mean 'warm_up'?" in unknown
    assert "execution.warm_up: must lie between 1 and 100, not 101" in beyond
    assert row == "| `warm_up` | episodes that are played before those that count | none |"
