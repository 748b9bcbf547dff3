"""``mosaic train --seeds``: a group is trained, resumed, and reported on; its unit is the training."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.commands import Mosaic
from tests.support.groups import group
from tests.support.joint import SPREAD
from tests.support.training import search_trainer

SEARCH = ("train", "--worker", "search_trainer", "--algo", "search", "--env", "CartPole-v1", "--steps", "200")


@pytest.fixture
def searching(mosaic: Mosaic) -> Mosaic:
    """With a small training worker among the user's own."""
    folder = mosaic.home / "data" / "workers" / "search_trainer"
    folder.mkdir(parents=True)
    search_trainer(folder)
    return mosaic


def test_a_group_is_trained_and_gone_on_with(searching: Mosaic) -> None:
    first = searching(*SEARCH, "--seeds", "2", "--json")
    assert first.status == 0, first.err
    done = first.json()
    assert done["group"] == "search_CartPole-v1"
    assert [(row["seed"], row["status"]) for row in done["trainings"]] == [(1, "completed"), (2, "completed")]
    asked = json.loads((searching.home / "runs/search_CartPole-v1/seed2/train.json").read_text())
    assert (asked["group"], asked["seed"]) == ("search", 2)
    # What is done is not done again; one that did not begin, or was thrown away, is.
    kept = (searching.home / "runs/search_CartPole-v1/seed1/exit.json").read_bytes()
    (searching.home / "runs/search_CartPole-v1/seed2/exit.json").unlink()
    (searching.home / "runs/search_CartPole-v1/seed2/policy.json").unlink()
    (searching.home / "runs/search_CartPole-v1/seed2/events.jsonl").unlink()
    again = searching(*SEARCH, "--seeds", "1,2")
    assert again.status == 0, again.err
    assert "mosaic: seed 1 is trained already: runs/search_CartPole-v1/seed1" in again.err
    assert "mosaic: seed 2: " in again.err
    assert "Group:   search_CartPole-v1, 2 of 2 trainings done\n" in again.out
    assert (searching.home / "runs/search_CartPole-v1/seed1/exit.json").read_bytes() == kept
    assert (searching.home / "runs/search_CartPole-v1/seed2/exit.json").exists()
    # The same group with other settings would be no group.
    before = sorted(searching.home.rglob("*"))
    other = searching(*SEARCH, "--seeds", "3", "--set", "spread=0.5")
    line = searching.is_refused(other, before)
    assert "was trained with other settings: spread 0.5 in place of 1.0. Choose another name" in line
    reported = searching("report", "search_CartPole-v1")
    assert reported.status == 0, reported.err
    assert "search has a mean return of " in reported.out
    assert "in CartPole-v1 over 2 trainings" in reported.out
    assert "(seed 1), " in reported.out
    assert (searching.home / "runs/search_CartPole-v1/algorithms.html").exists()


def test_a_training_that_fails_leaves_the_others(searching: Mosaic) -> None:
    fault = ("--set", "fault=nan", "--set", "step_s=0.001", "--group", "bad", "--json")
    done = searching(*SEARCH, "--steps", "2000", "--seeds", "1,2", *fault)
    assert done.status == 1
    assert [row["status"] for row in done.json()["trainings"]] == ["failed", "failed"]
    told = searching("report", "bad_CartPole-v1")
    assert (told.status, told.line) == (
        2,
        "mosaic: no training of bad_CartPole-v1 is done. Wait until one is, or run its mosaic train again",
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--seeds", "0"), "a group has 1 to 1,000 trainings, not 0"),
        (("--seeds", "x"), "--seeds x is no number of seeds. Give a number (5) or a list (1,2,5)"),
        (("--seeds", "1,-2"), "is no number of seeds"),
        (("--seeds", "1,1"), "--seeds 1,1 names a seed twice"),
        (("--seeds", "1,2", "--seed", "4"), "--seed cannot be combined with a list"),
        (("--group", "x"), "--group needs a group of trainings"),
        (("--seeds", "2", "--group", "a/b"), "contains /"),
        (("--seeds", "2", "--resume", "x"), "cannot be given"),
    ],
)
def test_what_is_no_group_is_refused(searching: Mosaic, arguments: tuple[str, ...], words: str) -> None:
    assert words in searching.refused(*SEARCH, *arguments)


def test_a_report_has_the_training_as_its_unit(mosaic: Mosaic) -> None:
    group(mosaic.home / "runs", [480.0, 500.0, 470.0, 490.0, 495.0, 450.0], "good")
    group(mosaic.home / "runs", [100.0, 90.0, 200.0, 150.0, 120.0], "poor")
    done = mosaic("report", "poor_CartPole-v1", "runs/good_CartPole-v1", "--out", "told")
    assert done.status == 0, done.err
    said = " ".join(done.out.split())
    assert "good is better than poor by 348.8 in mean return" in said
    assert "over 6 and 5 trainings, p = 0.0022;" in said
    assert "of pairs of trainings good did better in 100 %" in said
    assert "480.0 (seed 1), 500.0 (seed 2)" in said
    assert "Page: told/algorithms.html" in done.out
    data = mosaic("report", "poor_CartPole-v1", "group:good_CartPole-v1", "--json").json()
    assert data["report"] is None
    assert [a["name"] for a in data["algorithms"]] == ["good", "poor"]
    assert data["comparisons"][0]["improvement"]["value"] == 1.0
    assert not list((mosaic.home / "runs").rglob("algorithms.html"))


def test_several_environments_need_random_play_and_a_reference(mosaic: Mosaic) -> None:
    for label, scores in (("ref", [400.0, 420.0]), ("new", [480.0, 500.0])):
        group(mosaic.home / "runs", scores, label)
        group(mosaic.home / "runs", [-100.0 - scores[0] / 10, -90.0], label, "MountainCar-v0")
    names = ["new_CartPole-v1", "ref_CartPole-v1", "ref_MountainCar-v0", "new_MountainCar-v0"]
    done = mosaic("report", *names, "--reference", "ref", "--json")
    assert done.status == 0, done.err
    data = done.json()
    assert data["measure"] == "normalized score"
    assert data["reference"] == "the mean of ref there"
    assert data["scales"]["CartPole-v1"]["reference"] == 410.0
    assert 10 < data["scales"]["CartPole-v1"]["random"] < 40
    by_name = {a["name"]: a for a in data["algorithms"]}
    assert by_name["ref"]["mean"]["value"] == pytest.approx(1.0)
    unknown = mosaic("report", *names, "--reference", "dqn")
    assert "unknown algorithm of this report 'dqn'" in unknown.line


def test_where_several_act_all_of_them_play_at_random(mosaic: Mosaic, joint_policy: Path) -> None:
    runs = mosaic.home / "runs"
    for label, scores in (("ippo", [-60.0, -61.0]), ("mappo", [-58.0, -59.0])):
        group(runs, [90.0, 91.0], label)
        spread = group(runs, scores, label, "spread")
        for training in spread.iterdir():
            row = json.loads((training / "train.json").read_text()) | {"env_id": SPREAD}
            (training / "train.json").write_text(json.dumps(row))
            shutil.copytree(joint_policy, training, dirs_exist_ok=True, ignore=only_the_policy)
    names = [f"runs/{label}_{env}" for label in ("ippo", "mappo") for env in ("CartPole-v1", "spread")]
    done = mosaic("report", *names, "--json")
    assert done.status == 0, done.err
    assert -110 < done.json()["scales"][SPREAD]["random"] < -50


def only_the_policy(_folder: str, names: list[str]) -> set[str]:
    return set(names) - {"policy.json", "model.safetensors"}


def test_a_group_is_one_of_the_policies(mosaic: Mosaic) -> None:
    group(mosaic.home / "runs", [480.0, 500.0])
    listed = mosaic("policies", "list").out
    assert "ppo_CartPole-v1  ppo " in listed
    assert "group of 2 trainings, 2 done: mean return 480.0, 500.0" in listed
    assert "seed1" not in listed
    rows = {row["name"]: row["group"] for row in mosaic("policies", "list", "--json").json()}
    assert rows["ppo_CartPole-v1/seed1"] == "ppo_CartPole-v1"
    assert rows["ppo_cartpole"] is None
    shown = mosaic("policies", "show", "ppo_CartPole-v1").out
    assert "seed 2: completed, mean return 500.0: ppo_CartPole-v1/seed2" in shown
    trainings = mosaic("policies", "show", "ppo_CartPole-v1", "--json").json()["trainings"]
    assert [row["policy"] for row in trainings] == ["ppo_CartPole-v1/seed1", "ppo_CartPole-v1/seed2"]


def test_runs_and_groups_are_not_reported_together(mosaic: Mosaic, played: Path) -> None:
    group(mosaic.home / "runs", [480.0])
    done = mosaic("report", played.name, "ppo_CartPole-v1")
    assert (done.status, done.line) == (
        2,
        "mosaic: runs and groups of trainings cannot be in one report. Make one report of each kind",
    )
    assert "--reference is for groups of trainings" in mosaic("report", played.name, "--reference", "x").line
    assert "ppo_CartPole-v1" in mosaic("report", "ppo_CartPole").line
