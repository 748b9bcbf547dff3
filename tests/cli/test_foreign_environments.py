"""Environments that print, start threads, end their process or never return."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.support.commands import Mosaic
from tests.support.processes import Offspring

MODULE = '''
"""What it does in its fourth step stands in a file, so that a record can be played again."""

import os, sys, threading, time
from pathlib import Path

import gymnasium
import numpy as np
from gymnasium import spaces

HOW = Path("how")  # in the working directory


class Odd(gymnasium.Env):
    observation_space = spaces.Box(-1, 1, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return self.seen(), {}

    def step(self, action):
        self.t += 1
        if self.t == 4:
            self.misbehave(HOW.read_text() if HOW.exists() else "")
        return self.seen(), 1.0, self.t == 6, False, {}

    def seen(self):
        return self.np_random.uniform(-1, 1, 2).astype(np.float32)

    def misbehave(self, how):
        if how == "prints":
            print("{}")
            sys.stdout.flush()
            os.write(1, b"raw bytes")
            threading.Thread(target=time.sleep, args=(600,)).start()
        elif how == "exits":
            sys.exit(3)
        elif how == "leaves":
            os._exit(2)
        elif how == "crashes":
            os.abort()
        elif how == "hangs":
            while True:
                print("still here")
                time.sleep(0.01)
'''
ENDS = [
    ("exits", "called sys.exit(3) in step()"),
    ("leaves", "ended with exit status 2"),
    ("crashes", "SIGABRT"),
    ("hangs", "has not returned for 3 s"),
]


@pytest.fixture
def odd(mosaic: Mosaic) -> Path:
    """Where its behavior is written; well-behaved without."""
    (mosaic.home / "odd_envs.py").write_text(MODULE)
    return mosaic.home / "how"


@pytest.fixture(scope="module")
def recorded_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of it, for all tests: :func:`record` is a copy."""
    home = tmp_path_factory.mktemp("odd")
    mosaic = Mosaic(home, Offspring(f"odd-{os.getpid()}-{os.urandom(4).hex()}"))
    (home / "odd_envs.py").write_text(MODULE)
    operators = [{"id": "a", "task": "odd_envs:Odd", "workers": {"agent_0": {"type": "random"}}}]
    experiment = {"operators": operators, "execution": {"num_episodes": 2, "seeds": 0}}
    (home / "e.json").write_text(json.dumps(experiment))
    done = mosaic.process("run", "e.json", "--trust", "--processes", "1", "--json")
    assert done.status == 0, done.err
    return home / done.json()["run"]


@pytest.fixture
def record(mosaic: Mosaic, recorded_once: Path) -> Path:
    """A run of it, which it may misbehave in when it is played again."""
    return Path(shutil.copytree(recorded_once, mosaic.home / "runs" / recorded_once.name))


def test_what_a_checked_environment_prints_and_starts_spoils_nothing(mosaic: Mosaic, odd: Path) -> None:
    odd.write_text("prints")
    done = mosaic.process("envs", "check", "odd_envs:Odd", "--json", timeout=60)
    assert done.status == 0 and done.json()["ok"], done.out


@pytest.mark.parametrize(("how", "said"), ENDS, ids=[how for how, _ in ENDS])
def test_an_environment_that_does_not_come_back_is_a_finding(
    how: str, said: str, mosaic: Mosaic, odd: Path
) -> None:
    odd.write_text(how)
    done = mosaic.process("envs", "check", "odd_envs:Odd", "--json", "--timeout", "3", timeout=60)
    assert done.status == 1
    running = next(f for f in done.json()["findings"] if f["name"] == "running")
    assert running["status"] == "failed"
    assert said in running["detail"] and "seed 0, step 4" in running["detail"]


def test_what_a_verified_environment_prints_and_starts_spoils_nothing(
    mosaic: Mosaic, odd: Path, record: Path
) -> None:
    odd.write_text("prints")
    done = mosaic.process("verify", record, "--trust", "--json", timeout=60)
    assert done.status == 0, done.err
    assert done.json()["equal"] and done.json()["episodes"] == 2


@pytest.mark.parametrize(("how", "said"), [ENDS[0], ENDS[1], ENDS[3]], ids=["exits", "leaves", "hangs"])
def test_a_verified_environment_that_does_not_come_back_is_a_sentence(
    how: str, said: str, mosaic: Mosaic, odd: Path, record: Path
) -> None:
    odd.write_text(how)
    done = mosaic.process("verify", record, "--trust", "--timeout", "3", timeout=60)
    assert done.status == 1
    assert said in done.err + done.out


def test_an_environment_that_exits_fails_its_episode(mosaic: Mosaic, odd: Path) -> None:
    odd.write_text("exits")
    operators = [{"id": "a", "task": "odd_envs:Odd", "workers": {"agent_0": {"type": "random"}}}]
    (mosaic.home / "e.json").write_text(json.dumps({"operators": operators, "execution": {"seeds": 0}}))
    done = mosaic.process("run", "e.json", "--trust", "--processes", "1", "--json")
    assert done.status == 1
    (episodes,) = (mosaic.home / done.json()["run"]).glob("operators/a/episodes.jsonl")
    (line,) = episodes.read_text().splitlines()
    assert "called sys.exit(3) in step()" in json.loads(line)["error"]
