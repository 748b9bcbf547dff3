"""Families with an interpreter of their own, for tests: installed as a person does it, or only said to be."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from site import getsitepackages

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.cli.installing.install_extras import install_environments, requirements_of
from gym_gui.cli.installing.installer import Installer, pinned
from gym_gui.core.interpreters import environment_folder, interpreter_of, is_complete, note_complete
from gym_gui.core.spaces import SpaceCodec
from gym_gui.envs.remote_env import close_servers

VENDOR = "MOSAIC_VENDOR"
"""Names a folder with archives that no registry has; ``scripts/test.sh`` sets it where there is one."""


@contextlib.contextmanager
def installed(family: str, folder: Path, given: Sequence[Path] = ()) -> Iterator[None]:
    """``mosaic envs install`` into a data folder of the tests' own; afterwards its servers are ended."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOSAIC_DATA_DIR", str(folder))
        if not is_complete(family):
            assert install_environments(family, given=given) == 0
        yield
        close_servers()


def interpreter_with(folder: Path, extras: Sequence[str]) -> Path:
    """An interpreter that has what this one has and, before it, what extras of this distribution name.

    Families that need no interpreter of their own are installed into the one that runs: here into another,
    so that the one of the tests stays as it is.
    """
    installer = Installer.of(folder / "bin" / "python")
    installer.make_environment(folder)
    (site,) = folder.glob("lib/python*/site-packages")
    here = [f"import site; site.addsitedir({place!r})" for place in getsitepackages()]
    (site / "here.pth").write_text("\n".join(here) + "\n")
    wanted = [requirement for extra in extras for requirement in requirements_of(extra)]
    tested = {name: pinned(name) for name in ("mujoco", "dm-control", "numpy", "gymnasium")}
    installer.install([*wanted, *(f"{name}=={version}" for name, version in tested.items() if version)])
    return installer.python


@contextlib.contextmanager
def said_to_be_installed(family: str, folder: Path) -> Iterator[None]:
    """For what is known of its environments without making one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOSAIC_DATA_DIR", str(folder))
        interpreter_of(family).parent.mkdir(parents=True)
        interpreter_of(family).touch()
        note_complete(family, {})
        yield


def some_textarena() -> None:
    """An interpreter in the data folder whose package registers a few games, one in a Python to come."""
    folder = environment_folder("textarena")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for game in ("KuhnPoker", "Breakthrough", "Wordle", "Chess", "Unheard", "Taboo"):
        (site / "textarena" / "envs" / game).mkdir(parents=True)
        (site / "textarena" / "envs" / game / "env.py").write_text("is not" if game == "Chess" else "")
    (site / "textarena" / "__init__.py").touch()
    (site / "textarena" / "envs" / "__init__.py").touch()
    (site / "textarena" / "envs" / "registration.py").write_text(_REGISTRY)
    note_complete("textarena", {"textarena": "0"})


_REGISTRY = """
class Spec:
    def __init__(self, entry_point):
        self.entry_point = entry_point

ENV_REGISTRY = {
    name: Spec(f"textarena.envs.{game}.env:Env")
    for name, game in {
        "KuhnPoker-v0": "KuhnPoker", "KuhnPoker-v0-train": "KuhnPoker", "KuhnPoker-v0-raw": "KuhnPoker",
        "Breakthrough-v0-blind": "Breakthrough", "Wordle-v0": "Wordle", "Chess-v0": "Chess",
        "Unheard-v0": "Unheard", "Taboo-v0-animals": "Taboo",
    }.items()
}
"""


def archive(start: str) -> Path:
    """A file of the folder of archives; the test is skipped by name where there is none."""
    folder = os.environ.get(VENDOR, "")
    found = sorted(Path(folder).glob(f"{start}*.tar.gz")) if folder else []
    if not found:
        pytest.skip(f"{VENDOR} names no folder with {start}….tar.gz")
    return found[-1]


_EPISODE = """
import json, sys
from tests.support.own_pythons import episode
print(json.dumps(episode(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
"""


def episode(task: str, seed: int, moves: int = 40) -> list[str]:
    """Everything that agents observe and are paid under legal actions that chance picks."""
    environment = envs.make(task)
    adapter, rng = environment.adapter, np.random.default_rng(seed)
    shown = adapter.reset(seed=seed)
    told: list[str] = []
    for _ in range(moves):
        for agent, seen in sorted(shown.items()):
            parts = SpaceCodec(adapter.observation_space(agent)).encode(seen)
            told.append(f"{agent} {b'|'.join(parts).hex()}")
        if not adapter.get_current_agents():
            break
        actions = {}
        for agent in adapter.get_current_agents():
            mask = adapter.action_mask(agent)
            space = adapter.action_space(agent)
            legal = np.arange(space.n) if mask is None else np.flatnonzero(mask)
            actions[agent] = int(rng.choice(legal))
        result = adapter.step(actions)
        told.append(str({agent: float(reward) for agent, reward in sorted(result.rewards.items())}))
        shown = result.observations
    environment.close()
    return told


def episode_elsewhere(task: str, seed: int, moves: int = 40) -> list[str]:
    """The same in a process of its own, with a server of its own."""
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", _EPISODE, task, str(seed), str(moves)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return list(json.loads(done.stdout))
