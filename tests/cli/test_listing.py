"""``mosaic workers list|check`` and ``mosaic envs list|check``."""

from __future__ import annotations

import logging
import re

import pytest

from gym_gui.cli.app import run
from tests.support.commands import Mosaic
from tests.support.little_workers import RANDOM, little_worker

pytestmark = pytest.mark.usefixtures("sessions_here")


def test_workers_with_their_state_and_the_way_out(mosaic: Mosaic) -> None:
    folder = mosaic.home / "data" / "workers"
    little_worker(folder, RANDOM, "good_worker")
    lacking = little_worker(folder, RANDOM, "lacking_worker")
    assert lacking.folder
    manifest = lacking.folder / "worker.toml"
    manifest.write_text(manifest.read_text() + '[requires]\npip = ["no-such-package>=3"]\n')
    (folder / "broken_worker").mkdir()
    (folder / "broken_worker" / "worker.toml").write_text("id = 3\n")
    rows = {row["id"]: row for row in mosaic("workers", "list", "--json").json()}
    assert {"operators_worker", "cleanrl_worker", "human_worker"} <= rows.keys()
    states = {name: rows[name]["state"] for name in ("good_worker", "lacking_worker", "broken_worker")}
    assert states == {"good_worker": "installed", "lacking_worker": "missing", "broken_worker": "broken"}
    assert rows["lacking_worker"]["missing"] == ["no-such-package>=3"]
    assert rows["good_worker"]["version"] == "1.2"
    done = mosaic("workers", "list")
    assert (done.status, done.err) == (0, "")
    assert re.search(r"^good_worker +baseline +1\.2 +installed$", done.out, re.MULTILINE)
    assert "lacking_worker is missing: no-such-package>=3 is not installed" in done.out
    assert "\n  mosaic workers install lacking_worker\n" in done.out
    assert "broken_worker is broken:" in done.out
    # A broken worker is not reported until a command asks for it.
    assert mosaic("workers", "install", "good_worker").err == ""
    assert "id is 3" in mosaic.refused("workers", "check", "broken_worker")
    assert "no-such-package" in mosaic.refused("workers", "check", "lacking_worker")


def test_a_worker_is_checked(mosaic: Mosaic) -> None:
    done = mosaic("workers", "check", "operators", "--set", "behavior=noop")
    assert done.status == 0
    assert re.search(r"^passed +handshake ", done.out, re.MULTILINE)
    assert re.search(r"^operators_worker: \d+ passed", done.out, re.MULTILINE)


def test_a_worker_that_breaks_the_contract_is_told_apart(mosaic: Mosaic) -> None:
    done = mosaic("workers", "check", "test_worker", "--set", "fault=illegal", "--set", "times=0", "--json")
    assert done.status == 1
    report = done.json()
    assert report["ok"] is False
    assert any(finding["status"] == "failed" for finding in report["findings"])


def test_a_worker_of_one_environment_is_checked_there(mosaic: Mosaic) -> None:
    done = mosaic("workers", "check", "openspiel_worker", "--json")
    assert done.status == 0
    statuses = {finding["name"]: finding["status"] for finding in done.json()["findings"]}
    assert statuses["load"] == statuses["legal"] == statuses["batches"] == "passed"


def test_a_worker_that_plays_nothing_of_what_is_chosen_for_it_is_not_said_to_be_checked(
    mosaic: Mosaic,
) -> None:
    done = mosaic("workers", "check", "sb3_worker")
    assert done.status == 2
    assert "was not checked" in done.err and "--env ID --set KEY=VALUE" in done.err


def test_families_with_their_counts(mosaic: Mosaic) -> None:
    rows = {row["name"]: row for row in mosaic("envs", "list", "--json").json()}
    assert rows["minigrid"]["installed"]
    assert rows["minigrid"]["count"] > 50
    done = mosaic("envs", "list")
    assert re.search(rf"^minigrid +\S.* {rows['minigrid']['count']}$", done.out, re.MULTILINE)
    for row in rows.values():
        if not row["installed"]:
            assert row["install"] in done.out


def test_ids_of_a_family_one_per_line(mosaic: Mosaic) -> None:
    shown = mosaic("envs", "show", "FrozenLake8x8-v1").out
    assert re.search(r"^map_name +8x8$", shown, re.MULTILINE) and "Takes true or false." in shown
    ids = mosaic("envs", "list", "minigrid").out.splitlines()
    assert "MiniGrid-Empty-8x8-v0" in ids
    assert [row["id"] for row in mosaic("envs", "list", "minigrid", "--json").json()] == ids
    assert re.search(
        r"^classic/rps_v2 +aec or parallel$", mosaic("envs", "list", "classic").out, re.MULTILINE
    )


@pytest.mark.parametrize(
    ("task", "api"),
    [("tests.support.duel:Poles", "parallel"), ("tests.support.arenas:Corridor", "gymnasium")],
)
def test_the_interface_of_ones_own_environment_is_named(mosaic: Mosaic, task: str, api: str) -> None:
    assert f"{task} ({api}): " in mosaic("envs", "check", task).out


def test_an_environment_says_what_its_agents_observe_and_do(mosaic: Mosaic) -> None:
    done = mosaic("envs", "show", "CartPole-v1")
    assert done.status == 0, done.err
    assert "(0 left, 1 right)" in done.out and "500 steps" in done.out and "sutton_barto_reward" in done.out
    row = mosaic("envs", "show", "classic/tictactoe_v3", "--json").json()
    assert row["turns"] == "turn by turn" and [*row["agents"]] == ["player_1", "player_2"]
    assert len(row["agents"]["player_1"]["actions"]) == 9 and row["agents"]["player_1"]["observes"]


def test_an_environment_that_cannot_be_made_says_why(mosaic: Mosaic) -> None:
    mosaic.home.joinpath("broken_hall.py").write_text("def make(**_):\n    raise RuntimeError('no floor')\n")
    row = mosaic("envs", "show", "broken_hall:make", "--json").json()
    assert "no floor" in row["trouble"] and "agents" not in row


def test_an_environment_is_checked(mosaic: Mosaic) -> None:
    done = mosaic("envs", "check", "tictactoe_v3")
    assert (done.status, done.err) == (0, "")
    assert re.search(r"^passed +masks ", done.out, re.MULTILINE)


def test_an_environment_that_breaks_the_contract(mosaic: Mosaic) -> None:
    code = """
import gymnasium, numpy, random
class Env(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(0, 1, (2,), numpy.float32)
    action_space = gymnasium.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        return numpy.array([random.random(), 5], numpy.float32), {}
    def step(self, action):
        return self.reset()[0], float("nan"), False, False, {}
def make(): return Env()
"""
    (mosaic.home / "wild.py").write_text(code)
    done = mosaic("envs", "check", "wild:make", "--json")
    assert done.status == 1
    failed = {finding["name"] for finding in done.json()["findings"] if finding["status"] == "failed"}
    assert {"spaces", "rewards", "seeding"} <= failed


def test_a_command_leaves_its_caller_what_it_logs() -> None:
    """A caller that runs a command from Python hears of broken workers afterwards as before."""
    discovery = logging.getLogger("gym_gui.workers.discovery")
    before = discovery.level
    assert run(["--version"]) == 0
    assert discovery.level == before


_ONE_GAME = """
id = "ice_worker"
name = "Ice"
kind = "baseline"
version = "1"
[launch]
entry = "ice:Ice"
[capabilities]
environments = ["FrozenLake-v*"]
action_spaces = ["discrete"]
observation_spaces = ["any"]
"""
_ICE = """
import numpy as np
from mosaic_worker import LoadError, Worker

class Ice(Worker):
    def load(self, slot):
        if not slot.env_id.startswith("FrozenLake"):
            raise LoadError(f"{slot.env_id} is no lake")
        if slot.action_space.kind != "Discrete":
            raise LoadError("it plays numbers alone")
        return "ice"

    def select_actions(self, batch):
        masks = batch.action_masks
        return [0 if masks is None else int(np.flatnonzero(masks[i])[0]) for i in range(len(batch))]
"""


def test_a_worker_of_one_environment_is_checked_in_it(mosaic: Mosaic) -> None:
    folder = mosaic.home / "data" / "workers" / "ice_worker"
    folder.mkdir(parents=True)
    (folder / "worker.toml").write_text(_ONE_GAME)
    (folder / "ice.py").write_text(_ICE)
    done = mosaic("workers", "check", "ice_worker", "--json")
    found = {finding["name"]: finding["status"] for finding in done.json()["findings"]}
    assert done.status == 0 and found["load"] == found["answers"] == found["legal"] == "passed", done.out
    (folder / "worker.toml").write_text(_ONE_GAME.replace('environments = ["FrozenLake-v*"]', ""))
    done = mosaic("workers", "check", "ice_worker")
    assert done.status == 2 and "was not checked" in done.err and "--env" in done.err
