"""The library itself, installed by our command: trainings, joint and single play, imports. Minutes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mosaic_worker.checkpoint import read_description
from mosaic_worker.playing.network_policy import read_weights
from xuance_worker.algorithms import ALGORITHMS
from xuance_worker.policy import Policy
from xuance_worker.team import EVALUATION

pytestmark = [pytest.mark.full, pytest.mark.timeout(1800)]

HERE = Path(__file__).resolve().parent
WORKER, SDK = HERE.parent, HERE.parents[1] / "mosaic_worker_sdk"
ID = "xuance_here"

# Every algorithm in one process, as importing the library takes longer than 1,000 steps.
_TRAININGS = """
import json, sys, time
from xuance_worker.train import main
for words in json.load(sys.stdin):
    began = time.monotonic()
    status = main(words)
    print("ENDED", json.dumps([words, status, round(time.monotonic() - began, 1)]), flush=True)
"""

# What people have: a file that the library's own save_model wrote, and the settings it was trained with.
_FILES = """
import json, sys
import yaml
from pathlib import Path
from xuance_worker.algorithms import ALGORITHMS
from xuance_worker.loading import load_library
from xuance_worker.plan import plan_for
library = load_library()
for name, env_id, out, more in json.load(sys.stdin):
    algorithm = ALGORITHMS[name]
    config = algorithm.config_class(env_id=env_id, num_envs=2, total_steps=400, **more)
    plan = plan_for(algorithm, config)
    kind = "continuous" if plan.bounded else "discrete"
    told = library.library_settings(algorithm, algorithm.acting[kind], config, plan, 1, "cpu")
    agents = library.make_agents(told, plan, learns=True)
    agents.train(100)
    agents.save_model("final_train_model.pth", out)
    agents.train_envs.close()
    plain = {k: list(v) if isinstance(v, tuple) else v for k, v in told.items()}
    Path(out, "config.yaml").write_text(yaml.safe_dump(plain))
"""


@dataclass(frozen=True)
class Installed:
    """A copy of the worker with its own environment.

    Attributes:
        folder: Where everything lies.
        python: Its interpreter.
        env: Environment of MOSAIC's commands.
        said: What the installation said.
    """

    folder: Path
    python: Path
    env: Mapping[str, str]
    said: Mapping[str, Any]

    def mosaic(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "gym_gui", *map(str, words)]
        return subprocess.run(
            command, env=self.env, cwd=self.folder, capture_output=True, text=True, check=False
        )

    def run(self, script: str, given: Any) -> str:
        path = os.pathsep.join(map(str, (WORKER, SDK, HERE)))
        env = {**self.env, "PYTHONPATH": path, "PYTHONSAFEPATH": "1", "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [self.python, "-c", script],
            input=json.dumps(given),
            env=env,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("xuance")
    own = folder / "data" / "workers" / ID
    shutil.copytree(WORKER, own, ignore=shutil.ignore_patterns(".venv", "__pycache__", "tests"))
    manifest = own / "worker.toml"
    text = manifest.read_text("utf-8").replace('id = "xuance_worker"', f'id = "{ID}"')
    manifest.write_text(re.sub(r"^aliases = .*\n", "", text, flags=re.MULTILINE), "utf-8")
    env = {
        **os.environ,
        "MOSAIC_DATA_DIR": str(folder / "data"),
        "MOSAIC_CONFIG_DIR": str(folder / "config"),
        "PYTHONPATH": os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH")))),
    }
    made = Installed(folder, own / ".venv" / "bin" / "python", env, {})
    shutil.copy(HERE / "xuance_probes.py", folder)  # children look for a person's own where they are
    done = made.mosaic("workers", "install", ID, "--json")
    assert done.returncode == 0, done.stderr[-2000:]
    return Installed(folder, made.python, env, json.loads(done.stdout))


def test_it_comes_without_cuda(installed: Installed) -> None:
    new = installed.said["new"]
    assert new["xuance"] == "1.4.4"
    assert new["torch"].endswith("+cpu") or sys.platform != "linux"
    assert not {"torchvision", "pygame", "mpi4py"} & new.keys()
    assert not [name for name in new if name.startswith(("nvidia", "cuda"))]
    assert installed.mosaic("workers", "check", ID).returncode in (0, 2)


def _steps(name: str, num_envs: int = 4) -> list[str]:
    words = ["--total-steps", "1000", "--num-envs", str(num_envs)]
    if ALGORITHMS[name].on_policy:
        return [*words, "--n-steps", "25"]
    return [*words, "--training-frequency", str(num_envs), "--start-training", "200", "--batch-size", "32"]


def _training(installed: Installed, name: str, env: str, *more: str) -> list[str]:
    out = installed.folder / "runs" / re.sub(r"\W+", "_", "_".join((name, env, *more)))
    return ["--algo", name, "--env-id", env, "--seed", "3", "--out", str(out), *_steps(name), *more]


def test_each_algorithm_trains(installed: Installed) -> None:
    memory = ["--use-rnn", "--layer-norm"]
    episodes = [*memory, "--buffer-size", "64", "--rnn", "LSTM"]
    wanted: list[list[str]] = []
    for name, algorithm in ALGORITHMS.items():
        for env in ("alike", "different") if "discrete" in algorithm.actions else ():
            wanted.append(_training(installed, name, f"xuance_probes:{env}"))
        for env in ("real", "wide") if "continuous" in algorithm.actions else ():
            wanted.append(_training(installed, name, f"xuance_probes:{env}"))
        if algorithm.recurrent:
            given = memory if algorithm.on_policy else episodes
            wanted.append(_training(installed, name, "xuance_probes:masked", *given))
    wanted.append(_training(installed, "mappo", "xuance_probes:leaving", "--normalize-observations"))
    ended = [
        json.loads(line.removeprefix("ENDED "))
        for line in installed.run(_TRAININGS, wanted).splitlines()
        if line.startswith("ENDED ")
    ]
    assert [(words, status) for words, status, _ in ended if status] == []
    assert len(ended) == len(wanted)
    for words, _, _ in ended:
        folder = Path(words[words.index("--out") + 1])
        described = read_description(folder)
        assert described.algorithm == words[1] and described.mean_return is not None
        assert described.total_steps >= 1000 and described.parts
        rows = [json.loads(line) for line in (folder / "episodes.jsonl").read_text().splitlines()]
        assert rows and rows[-1]["agents"].keys() == set(described.agents)
        metrics = (folder / "metrics.jsonl").read_text()
        assert "losses/" in metrics and "NaN" not in metrics
    normalized = read_description(
        installed.folder / "runs" / "mappo_xuance_probes_leaving__normalize_observations"
    )
    assert [step["step"] for step in normalized.parts[0].preprocessing] == ["normalize", "append"]


@pytest.mark.parametrize("copies", ["--no-async-envs", "--async-envs"])
def test_what_an_agent_saw_is_what_it_learns_from(installed: Installed, copies: str) -> None:
    """The right action is another at every step: who remembers what came next learns nothing."""
    settings = {
        "ippo": [
            "--total-steps",
            "8000",
            "--n-steps",
            "50",
            "--n-minibatch",
            "4",
            "--learning-rate",
            "0.003",
        ],
        "vdn": ["--total-steps", "4000", "--decay-step-greedy", "2000", "--batch-size", "64"],
    }
    wanted = [
        _training(installed, name, "xuance_probes:alike", copies, *more) for name, more in settings.items()
    ]
    installed.run(_TRAININGS, wanted)
    for words in wanted:
        result = read_description(Path(words[words.index("--out") + 1])).mean_return
        assert result is not None and result > 19  # of 20; a third by chance


def test_the_same_seed_gives_the_same_and_resuming_goes_on(installed: Installed) -> None:
    first, again = (
        _training(installed, "qmix", "xuance_probes:alike", "--gamma", g) for g in ("0.9", "0.90")
    )
    spoilt = _training(installed, "maddpg", "xuance_probes:spoilt_real")
    told = installed.run(_TRAININGS, [first, again, [*first, "--resume", "--total-steps", "1600"], spoilt])
    assert [json.loads(line[6:])[1] for line in told.splitlines() if line.startswith("ENDED")] == [0, 0, 0, 1]
    out, other = (Path(words[words.index("--out") + 1]) for words in (first, again))
    rows = [json.loads(line) for line in (out / "episodes.jsonl").read_text().splitlines()]
    theirs = [json.loads(line) for line in (other / "episodes.jsonl").read_text().splitlines()]
    assert [row["return"] for row in rows[: len(theirs)]] == [row["return"] for row in theirs]
    assert read_description(out).total_steps == 1600
    failed = Path(spoilt[spoilt.index("--out") + 1])
    events = [json.loads(line) for line in (failed / "events.jsonl").read_text().splitlines()]
    assert events[-1]["event"] == "error" and "no finite number" in events[-1]["message"]


def _play(installed: Installed, **slots: Any) -> dict[str, list[float]]:
    """Play operators by ``mosaic run``; the returns of three episodes of each."""
    file, out = installed.folder / "experiment.json", installed.folder / "played"
    operators = [{"id": name, "task": "simple_spread_v3", **slot} for name, slot in slots.items()]
    file.write_text(json.dumps({"operators": operators, "execution": {"num_episodes": 3, "seeds": 10_000}}))
    done = installed.mosaic("run", file, "--out", out, "--trust")
    assert done.returncode == 0, done.stderr[-2000:]
    (summary,) = out.glob("*/summary.json")
    return {each["key"]: each["mean"]["values"] for each in json.loads(summary.read_text())["operators"]}


def test_mosaic_trains_and_plays_the_whole_or_one_agent(installed: Installed) -> None:
    out = installed.folder / "spread"
    done = installed.mosaic(
        *("train", "--worker", ID, "--algo", "mappo", "--env", "simple_spread_v3", "--steps", "1000"),
        *("--set", "num_envs=4", "--set", "n_steps=25", "--out", out),
    )
    assert done.returncode == 0, done.stderr[-2000:]
    description = read_description(out)
    assert description.worker == ID and description.agents == ("agent_0", "agent_1", "agent_2")
    noop = {"worker_id": "operators_worker", "behavior": "noop"}
    linked = {"primary_agent": "agent_0", "linked_agents": ["agent_1", "agent_2"], "policy_path": str(out)}
    played = _play(
        installed,
        team={"link_groups": [linked], "workers": {"agent_0": {"type": "rl", "worker_id": ID}}},
        nobody={"workers": dict.fromkeys(description.agents, noop)},
        one={
            "workers": {
                **dict.fromkeys(description.agents, noop),
                "agent_1": {"worker_id": ID, "checkpoint": str(out), "checkpoint_agent": "agent_2"},
            }
        },
    )
    assert all(len(values) == 3 for values in played.values())
    assert played["one"] != played["nobody"] and played["team"] != played["one"]
    alone = EVALUATION.episode_returns(
        Policy.whole(*read_weights(out)), "simple_spread_v3", range(10_000, 10_020)
    )
    assert np.isclose(np.mean(alone), description.mean_return or 0.0, atol=1e-3), (
        "with and without the library"
    )


def test_soccer_is_trained_in(installed: Installed) -> None:
    env = "MosaicMultiGrid-Soccer-2vs2-IndAgObs-v0"
    words = _training(installed, "qmix", env, "--select", "image", "--max-episode-steps", "50")
    assert "ENDED" in (said := installed.run(_TRAININGS, [words]))
    assert json.loads(said.splitlines()[-1][6:])[1] == 0
    described = read_description(Path(words[words.index("--out") + 1]))
    assert described.agents == ("green_0", "green_1", "blue_0", "blue_1")


def _brought(installed: Installed, file: Path, env: str, name: str, *more: str | Path) -> tuple[int, str]:
    done = installed.mosaic(
        *("policies", "add", file, "--env", env, "--worker", ID, "--name", name),
        *("--config", file.parent / "config.yaml", *more),
    )
    return done.returncode, done.stderr


def test_the_import_rule(installed: Installed) -> None:
    on, off = {"n_steps": 25}, {"training_frequency": 2, "start_training": 50, "batch_size": 16}
    files: Sequence[tuple[str, str, dict[str, Any]]] = [
        ("mappo", "alike", {**on, "use_rnn": True, "layer_norm": True}),
        ("qmix", "different", off),
        ("maddpg", "real", {**off, "use_parameter_sharing": False}),
        ("masac", "real", off),
    ]
    given = [(n, f"xuance_probes:{e}", str(installed.folder / "files" / n), more) for n, e, more in files]
    installed.run(_FILES, given)
    for name, env_id, out, _ in given:
        status, said = _brought(installed, Path(out, "final_train_model.pth"), env_id, f"{name}_theirs")
        assert status == 0, said
    found = {row["name"] for row in json.loads(installed.mosaic("policies", "list", "--json").stdout)}
    assert {f"{name}_theirs" for name, *_ in files} <= found

    file = installed.folder / "files" / "qmix" / "final_train_model.pth"
    status, said = _brought(installed, file, "xuance_probes:three", "no")
    assert status != 0 and "has no network of left_1, left_2" in said
    status, said = _brought(installed, file, "xuance_probes:real", "no")
    assert status != 0 and "qmix learns discrete actions" in said
    status, said = _brought(installed, file, "xuance_probes:different", "no", "--algorithm", "vdn")
    assert status != 0 and "is of qmix, not of vdn" in said
    file = installed.folder / "files" / "mappo" / "final_train_model.pth"
    status, said = _brought(installed, file, "xuance_probes:three", "no")
    assert status != 0 and "another team size, observation or width" in said
    assert "no" not in {
        row["name"] for row in json.loads(installed.mosaic("policies", "list", "--json").stdout)
    }
