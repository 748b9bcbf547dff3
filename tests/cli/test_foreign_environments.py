"""Environments that print, start threads, end their process or never return.

A command has a process of its own where the environment would end the tests' process, were it let in.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from gym_gui.processes.tree import TAG
from tests.support.commands import Done, Mosaic, experiment
from tests.support.fake_model_server import FakeModelServer
from tests.support.little_workers import RANDOM, little_worker
from tests.support.processes import Offspring
from tests.support.seldom import some_of
from tests.support.waiting import LONG_S

MODULE = '''
"""What it does when it is made, and in its fourth step, stands in files: a record can be played again."""

import os, sys, threading, time
from pathlib import Path

import gymnasium
import numpy as np
from gymnasium import spaces

HOW, BORN = Path("how"), Path("born")  # in the working directory


class Odd(gymnasium.Env):
    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}
    observation_space = spaces.Box(-1, 1, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        misbehave(BORN.read_text() if BORN.exists() else "")

    def render(self):
        return np.zeros((16, 16, 3), np.uint8)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return self.seen(), {}

    def step(self, action):
        self.t += 1
        if self.t == 4:
            misbehave(HOW.read_text() if HOW.exists() else "")
        return self.seen(), 1.0, self.t == 6, False, {}

    def seen(self):
        return self.np_random.uniform(-1, 1, 2).astype(np.float32)


class Pair:
    """Two of them that act at once."""

    metadata = {"name": "pair", "render_modes": []}
    possible_agents = ["first", "second"]

    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        self.ones = {agent: Odd() for agent in self.possible_agents}
        self.agents = []

    def observation_space(self, agent):
        return Odd.observation_space

    def action_space(self, agent):
        return Odd.action_space

    def reset(self, seed=None, options=None):
        self.agents = list(self.possible_agents)
        begun = {agent: one.reset(seed=seed) for agent, one in self.ones.items()}
        return {a: b[0] for a, b in begun.items()}, {a: b[1] for a, b in begun.items()}

    def step(self, actions):
        done = {agent: self.ones[agent].step(action) for agent, action in actions.items()}
        if any(each[2] for each in done.values()):
            self.agents = []
        return tuple({agent: each[i] for agent, each in done.items()} for i in range(5))

    def close(self):
        pass


def misbehave(how):
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
CHANCE = RANDOM.replace("import numpy as np", "import os\nimport numpy as np").replace(
    "int(bits(int(s), t)[0]) % n", "os.urandom(1)[0] % n"
)
"""Plays by chance that no seed decides."""
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
    done = mosaic("run", "e.json", "--trust", "--processes", "1", "--json", **{TAG: "tests"})
    assert done.status == 0, done.err
    return home / done.json()["run"]


@pytest.fixture
def record(mosaic: Mosaic, recorded_once: Path) -> Path:
    """A run of it, which it may misbehave in when it is played again."""
    return Path(shutil.copytree(recorded_once, mosaic.home / "runs" / recorded_once.name))


def _run(mosaic: Mosaic, how: str, *arguments: str | Path) -> Done:
    """Run a command on an environment that misbehaves so."""
    if how in ("leaves", "crashes"):
        return mosaic.process(*arguments, timeout=LONG_S)
    return mosaic(*arguments)


def test_what_a_checked_environment_prints_and_starts_spoils_nothing(mosaic: Mosaic, odd: Path) -> None:
    odd.write_text("prints")
    done = mosaic("envs", "check", "odd_envs:Odd", "--json")
    assert done.status == 0 and done.json()["ok"], done.out


@pytest.mark.parametrize(("how", "said"), ENDS, ids=[how for how, _ in ENDS])
def test_an_environment_that_does_not_come_back_is_a_finding(
    how: str, said: str, mosaic: Mosaic, odd: Path
) -> None:
    odd.write_text(how)
    done = _run(mosaic, how, "envs", "check", "odd_envs:Odd", "--json", "--timeout", "3")
    assert done.status == 1
    running = next(f for f in done.json()["findings"] if f["name"] == "running")
    assert running["status"] == "failed"
    assert said in running["detail"] and "seed 0, step 4" in running["detail"]


def test_what_a_verified_environment_prints_and_starts_spoils_nothing(
    mosaic: Mosaic, odd: Path, record: Path
) -> None:
    odd.write_text("prints")
    done = mosaic("verify", record, "--trust", "--json")
    assert done.status == 0, done.err
    assert done.json()["equal"] and done.json()["episodes"] == 2


@pytest.mark.parametrize(("how", "said"), [ENDS[0], ENDS[1], ENDS[3]], ids=["exits", "leaves", "hangs"])
def test_a_verified_environment_that_does_not_come_back_is_a_sentence(
    how: str, said: str, mosaic: Mosaic, odd: Path, record: Path
) -> None:
    odd.write_text(how)
    done = _run(mosaic, how, "verify", record, "--trust", "--timeout", "3")
    assert done.status == 1
    assert said in done.err + done.out


# ---------------------------------------------------------------------------- every command that plays again


@pytest.fixture(scope="module")
def asked_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of it that a language model has played, for all tests."""
    home = tmp_path_factory.mktemp("asked")
    mosaic = Mosaic(home, Offspring(f"odd-{os.getpid()}-{os.urandom(4).hex()}"))
    (home / "odd_envs.py").write_text(MODULE)
    with FakeModelServer(lambda _: "<action>1</action>") as server:
        done = mosaic("run", _asking(home, server), "--trust", "--json", **{TAG: "tests"})
    assert done.status == 0, done.err
    return home / done.json()["run"]


def _asking(home: Path, server: FakeModelServer, **settings: object) -> Path:
    settings = {"client_name": "custom", "base_url": server.url, "model_id": "m", **settings}
    player = {"type": "llm", "settings": settings}
    return experiment(home, {"id": "a", "task": "odd_envs:Odd", "workers": {"agent_0": player}})


@pytest.fixture
def asked(mosaic: Mosaic, asked_once: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(asked_once, mosaic.home / "runs" / asked_once.name))


COMMANDS = {
    "reparse": ("reparse", "--trust", "--json"),
    "export": ("export", "--to", "minari", "-o", "datasets", "--trust", "--json"),
    "replay": ("replay", "--trust", "--json"),
    "video": ("replay", "--video", "e.mp4", "--trust", "--json"),
}
"""What plays a run again; the run comes after the command's name."""


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_printed_and_started_while_a_run_is_played_again_spoils_nothing(
    name: str, mosaic: Mosaic, odd: Path, asked: Path
) -> None:
    odd.write_text("prints")
    command, *options = COMMANDS[name]
    done = mosaic(command, asked, *options)
    assert done.status == 0, done.err
    assert done.json()


@pytest.mark.full
@pytest.mark.parametrize("how", ["exits", "leaves"])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_run_whose_environment_ends_the_process_is_a_sentence(
    how: str, name: str, mosaic: Mosaic, odd: Path, asked: Path
) -> None:
    odd.write_text(how)
    command, *options = COMMANDS[name]
    done = mosaic.process(command, asked, *options, timeout=LONG_S)
    assert done.status in (1, 2), done.out
    if how == "leaves":
        assert "the environment ended its process, which ended with exit status 2" in done.err
    else:  # the engine fails the episode, and the record goes on
        said = done.err.splitlines()[-1] + json.dumps(done.json() if done.out else "")
        assert "does not play out" in said or '"departures"' in said or "sys.exit(3)" in said


@pytest.mark.parametrize("how", some_of(["prints", "exits", "leaves"], "prints", "leaves"))
def test_a_dry_run_outlives_what_its_environment_does(how: str, mosaic: Mosaic, odd: Path) -> None:
    """Examples of turns are played in it."""
    odd.write_text(how)
    with FakeModelServer() as server:
        file = _asking(mosaic.home, server, strategy="few_shot")
        done = _run(mosaic, how, "run", file, "--dry-run", "--trust", "--json")
    if how == "prints":
        assert done.status == 0, done.err
        assert done.json()["models"]
    else:
        assert done.status == 1 and ("sys.exit(3)" in done.err or "ended" in done.err), done.err


def test_a_report_shows_episodes_again_whatever_their_environment_prints_and_starts(
    mosaic: Mosaic, odd: Path, record: Path
) -> None:
    odd.write_text("prints")
    done = mosaic("report", record, "--trust", "--json")
    assert done.status == 0, done.err
    page = Path(done.json()["report"])
    assert "took too long" not in (mosaic.home / page).read_text()


def test_a_rerun_outlives_what_its_environment_prints_and_starts(mosaic: Mosaic, odd: Path) -> None:
    """It holds what departs against the record, for which it plays episodes again."""
    little_worker(mosaic.home / "data" / "workers", CHANCE, "own_worker")
    player = {"type": "baseline", "worker_id": "own_worker"}
    file = experiment(
        mosaic.home, {"id": "a", "task": "odd_envs:Odd", "workers": {"agent_0": player}}, num_episodes=4
    )
    done = mosaic("run", file, "--trust", "--json")
    assert done.status == 0, done.err
    odd.write_text("prints")
    again = mosaic("rerun", done.json()["run"], "--trust", "--json")
    assert again.status == 1, again.err
    assert {departure["cause"] for departure in again.json()["departures"]} == {"policy"}


def test_an_environment_that_exits_fails_its_episode(mosaic: Mosaic, odd: Path) -> None:
    odd.write_text("exits")
    operators = [{"id": "a", "task": "odd_envs:Odd", "workers": {"agent_0": {"type": "random"}}}]
    (mosaic.home / "e.json").write_text(json.dumps({"operators": operators, "execution": {"seeds": 0}}))
    done = mosaic("run", "e.json", "--trust", "--processes", "1", "--json")
    assert done.status == 1
    (episodes,) = (mosaic.home / done.json()["run"]).glob("operators/a/episodes.jsonl")
    (line,) = episodes.read_text().splitlines()
    assert "called sys.exit(3) in step()" in json.loads(line)["error"]


# --------------------------------------------------------------------- every command that reads what is there

_RANDOM = {"type": "random"}
_MATRIX = {
    "policies": {"p": _RANDOM, "q": _RANDOM},
    "matrix": {"task": "odd_envs:Odd", "players": ["p", "q"]},
    "execution": {"num_episodes": 1, "seeds": 0},
}
_POOL = {
    "task": "odd_envs:Pair",
    "policies": {"p": _RANDOM, "q": _RANDOM},
    "teams": {"one": ["first"], "other": ["second"]},
    "execution": {"seeds": [0]},
}
READ = {
    "run": ("run", "experiment.json", "--processes", "1"),
    "dry run": ("run", "experiment.json", "--dry-run"),
    "shard": ("run", "experiment.json", "--shard", "1/2", "--processes", "1"),
    "elsewhere": ("run", "experiment.json", "--executor", "local", "--dry-run"),
    "matrix": ("run", "matrix.json", "--dry-run"),
    "resume": ("run", "--resume", "RUN"),
    "rerun": ("rerun", "RUN", "--processes", "1"),
    "tournament": ("tournament", "pool.json", "--dry-run"),
    "tournament elsewhere": ("tournament", "pool.json", "--executor", "local", "--dry-run"),
}
"""Commands that make sure, before anything is played, that an environment can be."""


def _read(mosaic: Mosaic, record: Path, name: str, how: str) -> Done:
    """Run a command on an environment that misbehaves whenever it is made."""
    workers = {"agent_0": _RANDOM}
    experiment(mosaic.home, {"id": "a", "task": "odd_envs:Odd", "workers": workers})
    (mosaic.home / "matrix.json").write_text(json.dumps(_MATRIX))
    (mosaic.home / "pool.json").write_text(json.dumps(_POOL))
    (mosaic.home / "born").write_text(how)
    command = [str(record) if word == "RUN" else word for word in READ[name]]
    return _run(mosaic, how, *command, "--trust", "--json")


@pytest.mark.parametrize("name", some_of(READ, "run", "dry run", "shard", "rerun", "tournament"))
def test_what_is_printed_and_started_while_an_environment_is_read_spoils_nothing(
    name: str, mosaic: Mosaic, odd: Path, record: Path
) -> None:
    done = _read(mosaic, record, name, "prints")
    assert done.status == 0, done.err
    assert done.json()


@pytest.mark.parametrize("name", some_of(READ, "run", "rerun", "tournament"))
def test_an_environment_that_ends_the_process_that_reads_it_is_a_sentence(
    name: str, mosaic: Mosaic, odd: Path, record: Path
) -> None:
    if name == "resume":
        (record / "operators/a/episodes.jsonl").write_text("")
    done = _read(mosaic, record, name, "leaves")
    assert done.status == 2, (done.out, done.err)
    assert "could not be described: its process ended with exit status 2" in done.err


@pytest.mark.parametrize("how", ["prints", "leaves"])
def test_a_checked_worker_outlives_what_its_environment_does(how: str, mosaic: Mosaic, odd: Path) -> None:
    odd.write_text(how)
    command = ("workers", "check", "operators_worker", "--env", "odd_envs:Odd", "--json")
    done = _run(mosaic, how, *command)
    if how == "prints":
        assert done.status == 0, done.err
        assert done.json()["ok"]
    else:
        assert done.status == 1
        assert "the environment ended its process, which ended with exit status 2" in done.err
