"""Training as a service: checked before it is launched, heard while it runs, stopped whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import psutil
import pytest

import gym_gui
from gym_gui.core.errors import MissingDependencyError, UnknownNameError, UsageError
from gym_gui.services.trainer import TrainingFailedError, TrainProgress, train
from gym_gui.workers.manifest import parse_manifest, read_manifest
from gym_gui.workers.registry import WorkerTypeDefinition, WorkerTypeRegistry
from gym_gui.workers.tree import TAG

REPO = Path(gym_gui.__file__).resolve().parents[1]
CLEANRL = read_manifest(REPO / "3rd_party" / "cleanrl_worker" / "worker.toml")
MANIFEST = """
id = "script_worker"
kind = "rl"
[launch]
entry = "script_worker.main:Worker"
[train]
entry = "script_worker.train"
algorithms = ["PG"]
"""
DONE = '{"event": "done", "status": "%s", "step": 5, "mean_return": null, "wall_s": 1, "path": "/p"}'


def scripted(folder: Path, code: str, manifest: str = MANIFEST) -> WorkerTypeDefinition:
    """A training worker that does what ``code`` says."""
    package = folder / "script_worker"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "train.py").write_text(textwrap.dedent(code))
    return parse_manifest(manifest, folder / "worker.toml")


def ask(definition: WorkerTypeDefinition | str, out: Path, **more: Any) -> Any:
    return train(definition, **{"algo": "pg", "env": "CartPole-v1", "out": out, **more})


def test_ppo_is_trained_in_a_process_of_its_own(tmp_path: Path) -> None:
    heard: list[TrainProgress] = []
    extra = ["--total-steps", "2048", "--num-envs", "4", "--hidden", "16"]
    with WorkerTypeRegistry.isolated() as registry:
        registry.register(CLEANRL)
        result = train(
            "cleanrl",
            algo="PPO",
            env="CartPole-v1",
            out=tmp_path / "p",
            extra=extra,
            on_progress=heard.append,
        )
    assert (result.status, result.step, result.out) == ("completed", 2048, tmp_path / "p")
    assert result.mean_return is not None
    assert result.mean_return >= 8.0
    assert heard[0].total_steps == 2048
    assert {"policy.json", "model.safetensors"} < {p.name for p in result.out.iterdir()}


def test_ctrl_c_keeps_what_was_learnt(tmp_path: Path) -> None:
    def interrupt(_: TrainProgress) -> None:
        raise KeyboardInterrupt

    extra = ["--total-steps", "100000000", "--num-envs", "2", "--num-steps", "16"]
    result = ask(CLEANRL, tmp_path, algo="ppo", extra=extra, on_progress=_once(interrupt))
    assert result.status == "stopped"
    assert (tmp_path / "policy.json").exists()
    left = [p.cmdline() for p in psutil.Process().children(recursive=True)]
    assert [command for command in left if "gym_gui.workers.warden" not in command] == []


def _once(action: Any) -> Any:
    calls = iter([action])
    return lambda progress: next(calls, lambda _: None)(progress)


@pytest.mark.parametrize(
    ("request_", "error", "words"),
    [
        ({"algo": "ppp"}, UnknownNameError, "unknown algorithm of cleanrl_worker 'ppp'. Did you mean 'ppo'"),
        ({"env": "CartPool-v1"}, UnknownNameError, "CartPole-v1"),
        ({"env": "chess_v6"}, UsageError, "cannot train in .*chess_v6: the environment steps SEQUENTIAL"),
        ({"seed": -1}, UsageError, "must not be negative"),
        ({"extra": ["--env_id=X"]}, UsageError, "--env_id=X is not passed on.*once, as --env"),
        ({"extra": ["--no-json"]}, UsageError, "--no-json is not passed on.*Leave it out"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_launch(
    tmp_path: Path, request_: dict[str, Any], error: type[Exception], words: str
) -> None:
    out = tmp_path / "p"
    with pytest.raises(error, match=words):
        ask(CLEANRL, out, **{"algo": "ppo", **request_})
    assert not out.exists()


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"env": "Pendulum-v1"}, "takes Discrete actions only"),
        ({"extra": ["--num-envs", "0"]}, "num_envs must be at least 1"),
        ({"extra": ["--lerning-rate", "1"]}, "Unrecognized options: --lerning-rate"),
    ],
)
def test_what_the_worker_refuses_can_be_fixed_too(
    tmp_path: Path, request_: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        ask(CLEANRL, tmp_path / "p", **{"algo": "ppo", **request_})
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "p").exists()


def test_a_worker_that_does_not_train_or_is_not_installed(tmp_path: Path) -> None:
    plain = scripted(tmp_path, "", MANIFEST.partition("[train]")[0])
    with pytest.raises(UsageError, match="does not train"):
        ask(plain, tmp_path / "p")
    lacking = parse_manifest(MANIFEST + '[requires]\npip = ["no-such-thing"]', tmp_path / "worker.toml")
    with pytest.raises(MissingDependencyError, match=r"\(no-such-thing\) is not installed. Run: pip install"):
        ask(lacking, tmp_path / "p")


def test_a_worker_may_print_what_it_likes_beside_its_events(tmp_path: Path) -> None:
    worker = scripted(
        tmp_path,
        f"""
        import sys
        print("hello"); print("[1, 2]"); print('{{"event": "mood"}}')
        print(sys.argv, file=sys.stderr)
        print("x" * 300_000, file=sys.stderr)
        print('{DONE % "completed"}')
        """,
    )
    result = ask(worker, tmp_path / "p")
    assert (result.status, result.mean_return, result.out) == ("completed", None, Path("/p"))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise SystemExit('out of luck')", "failed: exit status 1: out of luck"),
        ("import os; os.abort()", "failed: killed by signal 6"),
        ("""print('{"event": "error", "message": "no gold"}'); raise SystemExit(1)""", "failed: no gold"),
        ("""print('{"event": "progress", "step": 1}')""", "said something unusable"),
        ("pass", "failed: exit status 0"),
    ],
)
def test_a_training_that_fails_says_why(tmp_path: Path, code: str, words: str) -> None:
    with pytest.raises(TrainingFailedError, match=words):
        ask(scripted(tmp_path, code), tmp_path / "p")


STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
print('{"event": "progress", "step": %d, "total_steps": 9, "mean_return": 1, "steps_per_s": 1, '
      '"elapsed_s": 1, "remaining_s": 1}' % child.pid, flush=True)
time.sleep(600)
"""


def test_a_training_that_ignores_ctrl_c_is_killed_with_its_children(tmp_path: Path) -> None:
    pids: list[int] = []

    def interrupt(progress: TrainProgress) -> None:
        pids.append(progress.step)
        raise KeyboardInterrupt

    with pytest.raises(TrainingFailedError, match="was stopped"):
        ask(scripted(tmp_path, STUBBORN), tmp_path / "p", on_progress=interrupt, grace_s=0.2)
    assert not psutil.pid_exists(pids[0]) or psutil.Process(pids[0]).status() == psutil.STATUS_ZOMBIE


def test_a_training_does_not_outlive_a_killed_host(tmp_path: Path) -> None:
    scripted(tmp_path, STUBBORN.replace("child.pid", "__import__('os').getpid()"))
    code = (
        "from pathlib import Path; from gym_gui.services.trainer import train; "
        "from gym_gui.workers.manifest import parse_manifest; "
        f"w = parse_manifest({MANIFEST!r}, Path({str(tmp_path / 'worker.toml')!r})); "
        f"train(w, algo='PG', env='CartPole-v1', out=Path({str(tmp_path / 'p')!r}), "
        "on_progress=lambda p: print(p.step, flush=True))"
    )
    path = os.pathsep.join([str(REPO), str(REPO / "3rd_party" / "mosaic_worker_sdk")])
    host = subprocess.Popen(
        [sys.executable, "-c", code],
        # A program of its own, which has a warden.
        env={**{k: v for k, v in os.environ.items() if k != TAG}, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert host.stdout is not None
    training = psutil.Process(int(host.stdout.readline()))
    host.send_signal(signal.SIGKILL)
    host.wait()
    host.stdout.close()
    training.wait(timeout=10)
