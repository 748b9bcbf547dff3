"""RLlib itself, installed by our command into a place of the test's own."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from mosaic_worker.playing.network_policy import read_weights
from mosaic_worker.training import ask
from ray_worker.environments import EVALUATION
from ray_worker.policy import Policy

pytestmark = pytest.mark.full

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parents[2]
PATHS = (TESTS, TESTS.parent, ROOT / "3rd_party" / "mosaic_worker_sdk")
MARK = "RAY_TEST_MARK"
# Ray gives its workers a niceness of 15, with which they hardly get a core beside other tests.
ALWAYS = {"PYTHONPATH": os.pathsep.join(map(str, PATHS)), "RAY_worker_niceness": "0"}


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    file = folder / f"{name}.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def events(folder: Path, name: str) -> list[dict[str, Any]]:
    return [row for row in rows(folder, "events") if row["event"] == name]


def until(condition: Callable[[], Any], seconds: float = 240.0) -> Any:
    ends = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < ends
        time.sleep(0.1)
    return found


def mosaic(data: Path, *words: str) -> str:
    """What a command of MOSAIC's prints whose data lie there."""
    env = {**os.environ, "MOSAIC_DATA_DIR": str(data)}
    command = [sys.executable, "-m", "gym_gui", *words]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="session")
def python() -> Iterator[Path]:
    """The worker's interpreter, made by ``mosaic workers install``."""
    data = Path(tempfile.mkdtemp(prefix="ray-data-"))
    began = time.monotonic()
    mosaic(data, "workers", "install", "ray_worker")
    made = data / "environments" / "ray_worker"
    size = sum(file.stat().st_size for file in made.rglob("*") if file.is_file() and not file.is_symlink())
    print(f"installed {size / 1e9:.2f} GB in {time.monotonic() - began:.0f} s")
    yield made / "bin" / "python"
    shutil.rmtree(data, ignore_errors=True)


class Started:
    """A program in the worker's interpreter, and all that it has started."""

    def __init__(self, python: Path, *arguments: str, **env: str) -> None:
        self.mark = uuid.uuid4().hex
        self.child = subprocess.Popen(
            [str(python), *arguments],
            env={**os.environ, **ALWAYS, MARK: self.mark, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def ended(self) -> tuple[int, str]:
        said = self.child.communicate(timeout=500)[1]
        return self.child.returncode, said

    def others(self) -> list[psutil.Process]:
        """Processes that bear its mark, itself left out."""
        found: list[psutil.Process] = []
        word = f"{MARK}={self.mark}".encode()
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                # Not psutil's environ(), which ends where a process has written its title.
                marked = word in Path(f"/proc/{process.pid}/environ").read_bytes()
                if marked and process.pid != self.child.pid and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def alone(self, seconds: float = 30.0) -> None:
        """Waits until nothing that it has started is left, else says what is."""
        ends = time.monotonic() + seconds
        while left := self.others():
            assert time.monotonic() < ends, [(each.pid, each.status(), each.cmdline()) for each in left]
            time.sleep(0.1)

    def end(self) -> None:
        for process in [*self.others(), self.child]:
            with contextlib.suppress(psutil.Error, ProcessLookupError):
                process.kill()
        self.child.communicate()


@pytest.fixture
def start(python: Path) -> Iterator[Any]:
    """Starts programs; none outlives its test."""
    started: list[Started] = []

    def run(*arguments: str, **env: str) -> Started:
        started.append(Started(python, *arguments, **env))
        return started[-1]

    yield run
    for each in started:
        each.end()


@pytest.fixture
def train(start: Any, tmp_path: Path) -> Any:
    """Trains to the end; nothing that it has started is left, and nothing in the home folder."""
    home = tmp_path / "home"
    home.mkdir()

    def run(out: Path, *arguments: str, status: int = 0) -> str:
        began = time.monotonic()
        training = start("-m", "ray_worker.train", f"--out={out}", *arguments, HOME=str(home))
        code, said = training.ended()
        assert code == status, said[-2000:]
        training.alone()
        assert not {"ray_results", ".ray"} & {each.name for each in home.iterdir()}
        told = [row["steps_per_s"] for row in events(out, "progress")]
        print(f"{out.name}: {time.monotonic() - began:.0f} s, {max(told, default=0):.0f} steps/s at best")
        return said

    return run


SHORT = {
    "ppo": ("CartPole-v1", "--total-steps=1024", "--train-batch-size=512", "--num-epochs=3"),
    "appo": ("CartPole-v1", "--total-steps=1000"),
    "impala": ("CartPole-v1", "--total-steps=1000"),
    "dqn": ("CartPole-v1", "--total-steps=1000", "--num-steps-sampled-before-learning-starts=200"),
    "sac": (
        "Pendulum-v1",
        *("--total-steps=600", "--num-steps-sampled-before-learning-starts=200", "--hidden", "64", "64"),
    ),
}


@pytest.mark.parametrize("algorithm", list(SHORT))
def test_each_algorithm_trains_and_what_it_trained_plays_here(
    tmp_path: Path, train: Any, algorithm: str
) -> None:
    env_id, *arguments = SHORT[algorithm]
    out = tmp_path / algorithm
    train(out, f"--algo={algorithm}", f"--env-id={env_id}", *arguments)
    (done,) = events(out, "done")
    assert done["status"] == "completed"
    # In an interpreter without Ray, and as good as it was there.
    policy = Policy.load(out)
    returns = EVALUATION.episode_returns(policy, env_id, policy.description.evaluation_seeds)
    assert np.mean(returns) == pytest.approx(done["mean_return"], rel=0.02)
    played = sum(row["length"] for row in rows(out, "episodes"))
    assert 0 < played <= done["step"] and played > done["step"] - 500
    assert any("losses/total_loss" in row["m"] for row in rows(out, "metrics"))


def test_it_learns(tmp_path: Path, train: Any) -> None:
    arguments = ("--total-steps=4096", "--train-batch-size=512", "--num-envs=4", "--lr=0.005")
    train(tmp_path / "switch", "--algo=ppo", "--env-id=ray_probes:Switch", *arguments)
    assert events(tmp_path / "switch", "done")[0]["mean_return"] == 8


def test_a_team_learns_with_two_runners_and_one_of_it_plays_elsewhere(tmp_path: Path, train: Any) -> None:
    out = tmp_path / "pair"
    arguments = ("--total-steps=6144", "--train-batch-size=1024", "--num-env-runners=2", "--lr=0.005")
    train(out, "--algo=ppo", "--env-id=ray_probes:Pair", "--mapping=left_*=one,*=two", *arguments)
    assert events(out, "done")[0]["mean_return"] >= 11
    episode = rows(out, "episodes")[-1]
    assert (
        set(episode["agents"]) == {"left_0", "right_0"}
        and sum(episode["agents"].values()) == episode["return"]
    )
    assert {"agents/left_0", "agents/right_0"} <= set(rows(out, "metrics")[-1]["m"])
    whole = Policy.whole(*read_weights(out))
    assert whole.description.agents == ("left_0", "right_0")
    assert np.mean(EVALUATION.episode_returns(whole, "ray_probes:Pair", range(5))) >= 11
    alone = Policy.load(out, "right_0")
    assert alone.choose(np.eye(2, dtype=np.float32)).actions.tolist() == [0, 1]


def test_an_environment_of_mosaics_own_with_statistics_goes_on(tmp_path: Path, train: Any) -> None:
    out = tmp_path / "spread"
    common = ("--algo=ppo", "--env-id=simple_spread_v3")
    more = ("--train-batch-size=256", "--num-epochs=2", "--normalize-observations")
    train(out, *common, *more, "--total-steps=512", "--num-env-runners=2")
    before = read_weights(out)[0]
    assert [step["step"] for step in before.part_of("agent_1").preprocessing] == ["normalize"]
    train(out, *common, "--resume", "--total-steps=768", "--num-env-runners=0")
    assert [row["step"] for row in events(out, "start")] == [0, before.total_steps]
    assert read_weights(out)[0].total_steps >= 768
    assert (
        len(EVALUATION.episode_returns(Policy.whole(*read_weights(out)), "simple_spread_v3", range(2))) == 2
    )


def test_it_stops_when_it_is_asked_and_goes_on(tmp_path: Path, start: Any, train: Any) -> None:
    out = tmp_path / "out"
    arguments = ("--algo=dqn", "--env-id=CartPole-v1", "--num-steps-sampled-before-learning-starts=100")
    training = start("-m", "ray_worker.train", f"--out={out}", "--total-steps=100000", *arguments)
    until(lambda: events(out, "progress"))
    ask(out, "stop")
    assert training.ended()[0] == 130
    training.alone()
    (done,) = events(out, "done")
    assert done["status"] == "stopped"
    train(out, *arguments[:2], "--resume", f"--total-steps={done['step'] + 300}")
    assert events(out, "start")[1]["step"] == done["step"]


def test_a_runner_that_is_killed_is_said_and_what_was_learnt_is_kept(tmp_path: Path, start: Any) -> None:
    out = tmp_path / "out"
    arguments = ("--algo=ppo", "--env-id=CartPole-v1", "--train-batch-size=256", "--num-env-runners=1")
    training = start("-m", "ray_worker.train", f"--out={out}", "--total-steps=1000000", *arguments)
    until(lambda: len(events(out, "progress")) > 1)
    runners = [each for each in training.others() if "EnvRunner" in " ".join(each.cmdline())]
    assert len(runners) == 1
    runners[0].kill()
    assert training.ended()[0] == 1
    assert "a process of Ray's died" in events(out, "error")[0]["message"]
    training.alone()
    assert Policy.load(out).description.total_steps > 0


def test_an_environment_that_raises_is_named(tmp_path: Path, train: Any) -> None:
    arguments = ("--algo=ppo", "--env-id=ray_probes:Raises", "--train-batch-size=256", "--total-steps=512")
    said = train(tmp_path / "out", *arguments, "--num-env-runners=1", status=1)
    assert "the switch is stuck" in said and "Traceback" not in said


def test_losses_that_are_no_numbers_end_it(tmp_path: Path, train: Any) -> None:
    arguments = (
        "--algo=ppo",
        "--env-id=CartPole-v1",
        "--train-batch-size=256",
        "--total-steps=4096",
        "--lr=1",
    )
    said = train(tmp_path / "out", *arguments, status=1)
    assert "no finite number" in said and "lower lr" in said


def test_nothing_outlives_a_training_that_is_killed(tmp_path: Path, start: Any) -> None:
    out = tmp_path / "out"
    arguments = ("--algo=impala", "--env-id=CartPole-v1", "--total-steps=1000000")
    training = start("-m", "ray_worker.train", f"--out={out}", *arguments)
    until(lambda: events(out, "progress"))
    assert training.others()
    training.child.send_signal(signal.SIGKILL)
    training.alone(60)


def test_a_cluster_that_runs_already(tmp_path: Path, python: Path, start: Any, train: Any) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    place = tempfile.mkdtemp(prefix="ray-", dir="/tmp")
    options = ("--head", f"--port={port}", "--node-ip-address=127.0.0.1", "--num-cpus=3", "--block")
    more = ("--include-dashboard=false", "--disable-usage-stats", f"--temp-dir={place}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")
        start("-m", "ray.scripts.scripts", "start", *options, *more)

        def listens() -> bool:
            with socket.socket() as tried:
                return tried.connect_ex(("127.0.0.1", port)) == 0

        until(listens)
        out = tmp_path / "out"
        arguments = ("--total-steps=512", "--train-batch-size=256", "--num-env-runners=1", "--num-epochs=2")
        train(out, "--algo=ppo", "--env-id=simple_spread_v3", f"--address=127.0.0.1:{port}", *arguments)
        assert events(out, "done")[0]["status"] == "completed"
        assert listens()  # it is not ours to end
    shutil.rmtree(place, ignore_errors=True)


# -- bringing checkpoints --------------------------------------------------------------------


@pytest.fixture(scope="session")
def checkpoints(python: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="rllib-"))
    made = Started(python, str(TESTS / "rllib_checkpoints.py"), str(folder))
    code, said = made.ended()
    made.end()
    assert code == 0, said[-2000:]
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def imported(start: Any, folder: Path, out: Path, env_id: str) -> tuple[int, str]:
    return start("-m", "ray_worker.importing", str(folder), f"--env-id={env_id}", f"--out={out}").ended()


ENVS = {
    "ppo": "CartPole-v1",
    "filter": "Pendulum-v1",
    "flat": "FrozenLake-v1",
    "dqn": "CartPole-v1",
    "sac": "Pendulum-v1",
}


@pytest.mark.parametrize("name", list(ENVS))
def test_a_checkpoint_of_rllibs_is_taken_and_plays_here(
    tmp_path: Path, start: Any, checkpoints: Path, name: str
) -> None:
    folder, out = checkpoints / name, tmp_path / "out"
    code, said = start(
        "-m", "ray_worker.importing", str(folder), f"--env-id={ENVS[name]}", f"--out={out}"
    ).ended()
    assert code == 0, said
    policy = Policy.load(out)
    assert policy.description.origin["format"] == "rllib_checkpoint"
    steps = {"filter": ["normalize"], "flat": ["flatten"]}.get(name, [])
    assert [step["step"] for step in policy.description.preprocessing] == steps
    assert len(EVALUATION.episode_returns(policy, ENVS[name], range(2))) == 2


def test_a_module_alone_is_taken_too(tmp_path: Path, start: Any, checkpoints: Path) -> None:
    folder = checkpoints / "ppo" / "learner_group" / "learner" / "rl_module" / "default_policy"
    assert imported(start, folder, tmp_path / "out", "CartPole-v1")[0] == 0


def test_mosaics_own_command_takes_one(python: Path, checkpoints: Path) -> None:
    data, folder = python.parents[3], str(checkpoints / "ppo")
    added = ("--env", "CartPole-v1", "--worker", "ray_worker", "--name", "theirs")
    mosaic(data, "policies", "add", folder, *added)
    found = {row["name"]: row for row in json.loads(mosaic(data, "policies", "list", "--json"))}
    assert found["theirs"]["worker"] == "ray_worker"


def refused(start: Any, folder: Path, out: Path, env_id: str = "CartPole-v1") -> str:
    code, said = start(
        "-m", "ray_worker.importing", str(folder), f"--env-id={env_id}", f"--out={out}"
    ).ended()
    assert code == 2 and not out.exists()
    return said.strip().splitlines()[-1]


def test_what_does_not_fit_is_refused_with_its_keys(tmp_path: Path, start: Any, checkpoints: Path) -> None:
    folder = shutil.copytree(checkpoints / "ppo", tmp_path / "renamed")
    state = folder / "learner_group/learner/rl_module/default_policy/module_state.pkl"
    weights = pickle.loads(state.read_bytes())
    weights["pi.net.mlp.0.wait"] = weights.pop("pi.net.mlp.0.weight")
    state.write_bytes(pickle.dumps(weights))
    said = refused(start, folder, tmp_path / "a")
    assert "do not fit" in said and "pi.net.mlp.0.wait" in said and "pi.net.mlp.0.weight" in said
    assert "acts in" in refused(start, checkpoints / "ppo", tmp_path / "b", "Acrobot-v1")
    assert "observations of" in refused(
        start, checkpoints / "sac", tmp_path / "c", "MountainCarContinuous-v0"
    )


# -- RLlib's environments in MOSAIC ------------------------------------------------------------

PLAYED = """
from mosaic_worker.environments import mosaic_module
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.rllib.examples.envs.classes.multi_agent.rock_paper_scissors import RockPaperScissors
adapt = mosaic_module("gym_gui.core.paradigms").adapt
RLlibParadigmAdapter = mosaic_module("gym_gui.core.paradigms.simultaneous").RLlibParadigmAdapter
env = RockPaperScissors({})
assert isinstance(env, MultiAgentEnv)
adapter = adapt(env)
assert type(adapter) is RLlibParadigmAdapter, type(adapter)
seen = adapter.reset(seed=1)
steps, total = 0, dict.fromkeys(adapter.possible_agents, 0.0)
while not adapter.is_episode_done():
    first, second = adapter.get_current_agents()
    result = adapter.step({first: 0, second: 1})
    steps += 1
    for agent, reward in result.rewards.items():
        total[agent] += reward
print(steps, sorted(total.values()))
"""


def test_a_multi_agent_env_of_rllibs_plays_through_its_adapter(python: Path) -> None:
    played = Started(python, "-c", PLAYED)
    said = played.child.communicate(timeout=300)
    assert played.child.returncode == 0, said[1][-2000:]
    assert said[0].split() == ["10", "[-10.0,", "10.0]"]
