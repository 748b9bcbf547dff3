"""The record of a training that came from elsewhere: what it names counts once it was allowed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gym_gui.cli.library.trust import add_trusted
from gym_gui.core.errors import UsageError
from gym_gui.core.trusted import trust
from gym_gui.core.trusted.subjects import Subject
from gym_gui.core.trusted.trust import NotAllowedError
from gym_gui.services.trainer.foreground import resumed
from gym_gui.services.trainer.request import REQUEST_FORMAT, SavedRequest
from gym_gui.services.worker_registry import WorkerCatalog


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOSAIC_CONFIG_DIR", str(tmp_path / "config"))
    trust.begin()


def record(folder: Path, **more: Any) -> Path:
    row = {
        "format_version": REQUEST_FORMAT,
        "run_id": "01M8H83KEBJ7758D9XJK3WVK24",
        "worker": "ray_worker",
        "algorithm": "PPO",
        "env_id": "CartPole-v1",
        "seed": 1,
        **more,
    }
    folder.mkdir(exist_ok=True)
    (folder / "train.json").write_text(json.dumps(row))
    return folder


def test_the_address_of_a_cluster_is_asked_about(tmp_path: Path) -> None:
    registry = WorkerCatalog().registry
    folder = record(tmp_path / "theirs", given={"address": "elsewhere.example:6379"})
    with pytest.raises(NotAllowedError, match=r"trains on a cluster at .*elsewhere\.example:6379"):
        resumed(folder, {}, registry)
    typed = resumed(folder, {"address": "127.0.0.1:6379"}, registry)
    assert typed.settings["address"] == "127.0.0.1:6379", "a person has said another one"
    assert resumed(record(tmp_path / "mine", given={"address": ""}), {}, registry).resume


@pytest.mark.parametrize("run_id", ["../../.profile", "", "a/b", ".", "x" * 100, 7])
def test_its_id_is_the_name_of_a_file(tmp_path: Path, run_id: object) -> None:
    with pytest.raises(UsageError, match="is damaged"):
        SavedRequest.read(record(tmp_path / "theirs", run_id=run_id))


@pytest.mark.parametrize("entry", ["/home/other/policy", "../policy", "~/policy", "pool.yaml", "here"])
def test_a_path_in_its_pool_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    registry = WorkerCatalog().registry
    given = {"pool": f"random, {entry} ,library:mine"}
    game = {"worker": "cleanrl_worker", "algorithm": "self_play", "env_id": "connect_four_v3"}
    folder = record(tmp_path / "theirs", **game, given=given)
    with pytest.raises(NotAllowedError) as caught:
        resumed(folder, {}, registry)
    (need,) = caught.value.needs
    assert need.subject == Subject("file", str(Path(entry).expanduser().resolve()))
    trust.allow([need.subject])
    assert resumed(folder, {}, registry).settings["pool"] == given["pool"]


def test_arguments_are_not_allowed_with_the_folder_that_they_stand_in(tmp_path: Path) -> None:
    registry, place = WorkerCatalog().registry, tmp_path.resolve() / "theirs"
    folder = record(place, arguments=["--total-steps=100"])
    trust.allow([Subject("file", str(place)), Subject("folder", str(place), "0"), Subject("file", "/")])
    with pytest.raises(NotAllowedError, match=r"--total-steps=100"):
        resumed(folder, {}, registry)


def test_these_very_arguments_are_allowed_for_good(tmp_path: Path) -> None:
    registry = WorkerCatalog().registry
    folder = record(tmp_path / "theirs", arguments=["--total-steps=100"])
    add_trusted([str(folder)], as_json=True)
    assert resumed(folder, {}, registry).settings["total_steps"] == 100
    record(folder, arguments=["--total-steps=101"])
    with pytest.raises(NotAllowedError, match=r"--total-steps=101"):
        resumed(folder, {}, registry)
