"""``mosaic train`` ends with a policy and says how it is played."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.commands import COMMAND, Mosaic, experiment
from tests.support.training import search_trainer
from tests.support.waiting import eventually

SHORT = ("--steps", "512", "--num-envs", "2", "--num-steps", "64")
SEARCH = ("train", "--worker", "search_trainer", "--algo", "search")


@pytest.fixture
def searching(mosaic: Mosaic) -> Mosaic:
    """With a small training worker among the user's own."""
    folder = mosaic.home / "data" / "workers" / "search_trainer"
    folder.mkdir(parents=True)
    search_trainer(folder)
    return mosaic


@pytest.mark.parametrize("option", ["--algo", "--algorithm"])
def test_a_misspelt_algorithm_is_answered_with_the_nearest(option: str, mosaic: Mosaic) -> None:
    said = mosaic.refused("train", "--env", "CartPole-v1", option, "ppoo")
    assert said == "unknown algorithm 'ppoo'. Did you mean 'ppo'?"


@pytest.mark.usefixtures("sessions_here")
def test_a_trained_policy_plays_as_it_is_told(mosaic: Mosaic) -> None:
    done = mosaic("train", "--env", "CartPole-v1", "--algo", "PPO", "--out", "policy", *SHORT)
    assert done.status == 0, done.err
    assert done.err.startswith("Worker: cleanrl_worker\n")
    assert "Policy:  policy\n" in done.out
    operator = json.loads(done.out.partition("experiment file:\n")[2])
    assert operator["task"] == "CartPole-v1"
    played = mosaic("run", experiment(mosaic.home, operator), "--json", "--processes", "1")
    assert played.json()["status"] == "completed"
    # What is there is not overwritten by a slip.
    again = mosaic("train", "--env", "CartPole-v1", "--worker", "cleanrl", "--out", "policy", *SHORT)
    assert again.status == 2
    assert "already holds a policy" in again.err
    assert "--overwrite" in again.err


@pytest.mark.usefixtures("sessions_here")
def test_an_environment_of_ones_own_is_trained_in_and_its_policy_plays_there(mosaic: Mosaic) -> None:
    (mosaic.home / "my_pole.py").write_text(
        "from gymnasium.envs.classic_control import CartPoleEnv\n\n"
        "def make(render_mode=None):\n    return CartPoleEnv(render_mode=render_mode)\n"
    )
    done = mosaic("train", "--env", "my_pole:make", "--worker", "cleanrl", "--out", "policy", *SHORT)
    assert done.status == 0, done.err
    operator = {"task": "my_pole:make", "workers": {"agent": {"type": "rl", "checkpoint": "policy"}}}
    file = experiment(mosaic.home, operator, num_episodes=1, seeds=0)
    played = mosaic("run", file, "--trust", "--json", "--processes", "1")
    assert played.status == 0 and played.json()["failed"] == 0, played.err


def test_for_programs(searching: Mosaic) -> None:
    done = searching(*SEARCH, "--env", "CartPole-v1", "--seed", "3", "--steps", "500", "--json")
    assert done.status == 0, done.err
    result = done.json()
    assert result["status"] == "completed"
    assert result["slot"] == {
        "type": "rl",
        "worker_id": "search_trainer",
        "checkpoint": "runs/search_CartPole-v1_seed3",
    }
    progress = [json.loads(line)["progress"] for line in done.err.splitlines()]
    assert progress[-1]["step"] <= result["steps"]
    assert result["out"] == str(searching.home / "runs" / "search_CartPole-v1_seed3")


def test_settings_in_every_way_and_a_training_that_goes_on(searching: Mosaic) -> None:
    first = searching(
        *SEARCH,
        "--env",
        "CartPole-v1",
        "--out",
        "p",
        "--set",
        "spread=0.5",
        "--step-s",
        "0",
        "--steps",
        "300",
    )
    assert first.status == 0, first.err
    asked = json.loads((searching.home / "p" / "train.json").read_text())
    assert asked["given"] == {"spread": 0.5, "total_steps": 300, "step_s": 0}
    more = searching("train", "--resume", "p", "--steps", "1200", "--json")
    assert more.status == 0, more.err
    assert more.json()["steps"] >= 1200
    asked = json.loads((searching.home / "p" / "train.json").read_text())
    assert (asked["resumed"], asked["given"]["spread"]) == (True, 0.5)


def test_asked_to_end_it_keeps_what_was_learnt(searching: Mosaic) -> None:
    command = [*COMMAND, *SEARCH, "--env", "CartPole-v1", "--out", "p", "--steps", "1000000000", "--json"]
    with subprocess.Popen(
        command,
        cwd=searching.home,
        env=searching.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        eventually((searching.home / "p" / "policy.json").exists, "a checkpoint was kept")
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert json.loads(out)["status"] == "stopped"
    assert all("progress" in json.loads(line) for line in err.splitlines())


def test_ctrl_c_says_what_it_does(searching: Mosaic) -> None:
    command = [*COMMAND, *SEARCH, "--env", "CartPole-v1", "--out", "p", "--steps", "1000000000"]
    with subprocess.Popen(
        command,
        cwd=searching.home,
        env=searching.env,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as process:
        eventually((searching.home / "p" / "policy.json").exists, "a checkpoint was kept")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    stopping, stopped = [line for line in err.splitlines() if line.startswith("mosaic: ")]
    assert "to end at once, press Ctrl-C again" in stopping
    assert stopped == "mosaic: stopped; the policy of the last step is kept"


def test_a_training_that_fails(searching: Mosaic) -> None:
    done = searching(
        *SEARCH, "--env", "CartPole-v1", "--out", "p", "--set", "fault=nan", "--set", "step_s=0.004"
    )
    assert done.status == 1
    assert "the return is not a finite number" in done.err
    assert "Its last checkpoint is in" in done.err
    told = searching(*SEARCH, "--env", "CartPole-v1", "--out", "q", "--set", "fault=untold", "--json")
    assert told.status == 1
    assert json.loads(told.err.splitlines()[-1])["message"].endswith("exit status 1: out of luck")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*SEARCH, "--env", "CartPole-v1", "--set", "spred=1"), "Did you mean 'spread'"),
        ((*SEARCH, "--env", "CartPole-v1", "--spred", "1"), "Did you mean 'spread'"),
        ((*SEARCH, "--env", "CartPole-v1", "--set", "spread"), "--set spread is no setting"),
        (
            (*SEARCH, "--env", "CartPole-v1", "--spread", "-1"),
            "spread must be a number, more than 0, not -1",
        ),
        (("train", "--resume", "nowhere"), "is not the run folder of a training"),
        (("train", "--resume", "nowhere", "--env", "CartPole-v1"), "--env cannot be given"),
        (("train",), "an environment is needed"),
    ],
)
def test_what_cannot_be_trained_is_refused_and_leaves_nothing(
    searching: Mosaic, arguments: tuple[str, ...], words: str
) -> None:
    assert words in searching.refused(*arguments)


def test_what_the_worker_refuses_leaves_no_folder(searching: Mosaic) -> None:
    done = searching(*SEARCH, "--env", "Pendulum-v1")
    assert done.status == 2
    assert done.line == "mosaic: search learns discrete actions, and those of Pendulum-v1 are not"
    assert list((searching.home / "runs").iterdir()) == []


def test_a_run_folder_can_be_anywhere_but_must_be_a_folder(searching: Mosaic, tmp_path: Path) -> None:
    (searching.home / "file").touch()
    line = searching.refused(*SEARCH, "--env", "CartPole-v1", "--out", "file/p")
    assert "cannot be written: Not a directory. Choose another --out" in line
