"""Policies are found under names that are their own, put in and given out whole, and thrown away."""

from __future__ import annotations

import json
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from gym_gui.core.errors import CheckpointError, UnknownNameError, UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.services.experiment_file import load_experiment
from gym_gui.services.policies.policy_catalog import policies_of
from gym_gui.services.policies.policy_exchange import SCORE, export_policy, import_shared_policy, is_own_form
from gym_gui.services.policies.policy_library import PolicyLibrary, at_path
from gym_gui.services.policies.policy_scores import STANDARD_SEEDS, PolicyScore
from gym_gui.services.store import Store
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeRegistry
from tests.support.policies import PPO, kept_policy

SCORED = PolicyScore.now([float(i) for i in range(20)], STANDARD_SEEDS)


@pytest.fixture
def library(tmp_path: Path) -> PolicyLibrary:
    return PolicyLibrary(Store(tmp_path / "data", tmp_path / "runs", tmp_path / "cache"))


def names(library: PolicyLibrary) -> dict[str, str]:
    return {entry.name: entry.place for entry in library.entries()}


# -- finding -----------------------------------------------------------------------------


def test_policies_of_every_place_have_names_of_their_own(library: PolicyLibrary, tmp_path: Path) -> None:
    kept_policy(library.folder / "good")
    kept_policy(tmp_path / "data/training/01ABC")
    kept_policy(tmp_path / "runs/good")
    kept_policy(tmp_path / "runs/study/good")
    kept_policy(tmp_path / "mine/good")
    library.watch_folder(tmp_path / "mine")
    assert names(library) == {
        "good": "library",
        "01ABC": "training",
        "runs/good": "runs",
        "study/good": "runs",
        "mine/good": "folder",
        "ppo_cartpole": "bundled",
    }
    for name in names(library):
        assert library.find(name).name == name
        assert library.find(f"library:{name}").file.title == name


def test_what_is_no_policy_and_what_is_hidden_is_left_out(library: PolicyLibrary, tmp_path: Path) -> None:
    kept_policy(library.folder / ".incoming-x/policy")
    kept_policy(tmp_path / "runs/bad", format_version=9)
    (tmp_path / "runs/half").mkdir()
    (tmp_path / "runs/half/policy.json").write_text("{")
    assert names(library) == {"ppo_cartpole": "bundled"}


def test_one_folder_is_listed_once(library: PolicyLibrary, tmp_path: Path) -> None:
    kept_policy(library.folder / "good")
    library.watch_folder(library.folder)
    assert list(names(library)) == ["good", "ppo_cartpole"]
    library.forget_folder(library.folder)
    assert library.folders() == []
    with pytest.raises(UsageError, match="there is no folder"):
        library.watch_folder(tmp_path / "nowhere")
    with pytest.raises(UnknownNameError):
        library.forget_folder(tmp_path / "nowhere")


def test_an_unknown_name_says_the_nearest(library: PolicyLibrary) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'ppo_cartpole'"):
        library.find("ppo_cartpol")
    with pytest.raises(UnknownNameError, match="mosaic policies list"):
        library.find("zzz")


def test_an_entry_tells_everything(library: PolicyLibrary) -> None:
    entry = library.find("ppo_cartpole")
    about = entry.to_json()
    assert json.loads(json.dumps(about)) == about
    assert (about["worker"], about["algorithm"], about["env_id"]) == ("cleanrl_worker", "ppo", "CartPole-v1")
    assert about["total_steps"] > 0
    assert about["sha256"] == entry.file.description.weights_sha256
    assert about["score"] is None
    assert set(about) >= {"observation_space", "action_space", "agents", "seed", "licence", "origin"}


def test_a_policy_is_named_in_experiments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: PolicyLibrary
) -> None:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("MOSAIC_RUNS_DIR", str(tmp_path / "runs"))
    kept = kept_policy(library.folder / "good")
    row = {"type": "rl", "checkpoint": "library:good"}
    file = tmp_path / "it.yaml"

    def written(row: object) -> Path:
        operator = {"id": "a", "task": "CartPole-v1", "workers": {"agent": row}}
        file.write_text(json.dumps({"operators": [operator]}))
        return file

    (operator,) = load_experiment(written(row), allow_code=False).operators
    assert operator.workers["agent_0"].settings["checkpoint"] == str(kept)
    with pytest.raises(UnknownNameError, match="Did you mean 'good'"):
        load_experiment(written({**row, "checkpoint": "library:goood"}), allow_code=False)
    assignment = WorkerAssignment("", "rl", {"checkpoint": "library:good", "seed": 3})
    assert at_path(assignment, library).settings == {"checkpoint": str(kept), "seed": 3}
    assert at_path(replace(assignment, settings={"seed": 3}), library).settings == {"seed": 3}


def test_pickers_offer_them_under_their_names(library: PolicyLibrary, tmp_path: Path) -> None:
    kept_policy(library.folder / "good")
    kept_policy(tmp_path / "runs/good")
    if not WorkerTypeRegistry.all():
        discover()
    offered = policies_of([WorkerTypeRegistry.require("cleanrl_worker")], library.files())
    ids = [policy.policy_id for policy in offered]
    assert len(ids) == len(set(ids))
    assert {"cleanrl_ppo:good", "cleanrl_ppo:runs/good", "cleanrl_ppo:ppo_cartpole"} <= set(ids)


# -- scores ------------------------------------------------------------------------------


def test_a_score_belongs_to_the_weights(library: PolicyLibrary, tmp_path: Path) -> None:
    first = kept_policy(library.folder / "good")
    library.scores.save(library.find("good").file, SCORED)
    entry = library.find("good")
    assert entry.score == SCORED
    assert (entry.score.mean, round(entry.score.deviation, 3)) == (9.5, 5.916)
    shutil.copytree(first, tmp_path / "runs/copy")
    assert library.find("copy").score == SCORED
    kept_policy(tmp_path / "runs/other", preprocessing=["flatten"])
    kept_policy(tmp_path / "runs/third", preprocessing=[{"step": "flatten"}])
    assert library.find("third").score is None
    (score,) = library.scores.folder.iterdir()
    score.write_text("{}")
    assert library.find("good").score is None


# -- giving out and taking in -------------------------------------------------------------


@pytest.mark.parametrize("form", ["it.zip", "it"])
def test_an_export_is_taken_in_as_it_was(form: str, library: PolicyLibrary, tmp_path: Path) -> None:
    kept_policy(library.folder / "good")
    library.scores.save(library.find("good").file, SCORED)
    target = export_policy(library.find("good"), tmp_path / "out" / form)
    assert is_own_form(target)
    elsewhere = PolicyLibrary(Store(tmp_path / "elsewhere", tmp_path / "r", tmp_path / "c"))
    entry = import_shared_policy(elsewhere, target, licence="CC-BY-4.0")
    assert (entry.name, entry.place, entry.score) == ("it", "library", SCORED)
    assert entry.file.description.licence == "CC-BY-4.0"
    ours, theirs = library.find("good").file, entry.file
    assert replace(theirs.description, licence="") == ours.description
    assert (theirs.path / "model.safetensors").read_bytes() == (ours.path / "model.safetensors").read_bytes()
    assert not (theirs.path / SCORE).exists()
    assert elsewhere.find("it").score == SCORED
    with pytest.raises(UsageError, match="exists already"):
        export_policy(library.find("good"), target)
    with pytest.raises(UsageError, match="policy 'it' exists already"):
        import_shared_policy(elsewhere, target)
    assert import_shared_policy(elsewhere, target, "again").name == "again"
    assert sorted(p.name for p in elsewhere.folder.iterdir()) == [".scores", "again", "it"]


def test_a_damaged_policy_does_not_get_in(library: PolicyLibrary, tmp_path: Path) -> None:
    kept = kept_policy(tmp_path / "kept")
    weights = kept / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(bytes(data))
    with pytest.raises(CheckpointError, match="sha256 differs"):
        import_shared_policy(library, kept)
    (kept / "policy.json").write_text("{}")
    with pytest.raises(CheckpointError, match="format_version"):
        import_shared_policy(library, kept)
    weights.unlink()
    with pytest.raises(CheckpointError):
        import_shared_policy(library, kept)
    assert names(library) == {"ppo_cartpole": "bundled"}
    assert not [p for p in library.folder.iterdir() if p.name != ".scores"]


def test_a_zip_that_is_damaged_or_too_large(library: PolicyLibrary, tmp_path: Path) -> None:
    kept_policy(tmp_path / "runs/good")
    target = export_policy(library.find("good"), tmp_path / "out.zip")
    data = bytearray(target.read_bytes())
    cut = tmp_path / "cut.zip"
    cut.write_bytes(data[: len(data) // 2])
    assert not is_own_form(cut)
    with zipfile.ZipFile(target) as archive:
        place = archive.getinfo("model.safetensors").header_offset + 200
    data[place : place + 50] = bytes(50)
    spoilt = tmp_path / "spoilt.zip"
    spoilt.write_bytes(bytes(data))
    with pytest.raises(CheckpointError, match="is damaged"):
        import_shared_policy(library, spoilt, "spoilt")
    large = tmp_path / "large.zip"
    with zipfile.ZipFile(target) as whole, zipfile.ZipFile(large, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("model.safetensors", whole.read("model.safetensors"))
        made.writestr("policy.json", whole.read("policy.json") + b" " * 2**23)  # still JSON
    with pytest.raises(CheckpointError, match=r"policy\.json of the policy is too large"):
        import_shared_policy(library, large)


def test_files_beside_the_policy_stay_out(library: PolicyLibrary, tmp_path: Path) -> None:
    archive = tmp_path / "more.zip"
    with zipfile.ZipFile(archive, "w") as made:
        for name in ("policy.json", "model.safetensors"):
            made.write(PPO / name, name)
        made.writestr("../evil", "x")
        made.writestr("run.py", "x")
    entry = import_shared_policy(library, archive)
    assert sorted(p.name for p in entry.file.path.iterdir()) == ["model.safetensors", "policy.json"]
    assert not (library.folder.parent / "evil").exists()


@pytest.mark.parametrize("name", ["../out", "a/b", ".hidden", "-x", "a\nb", ""])
def test_names_that_no_folder_can_have(name: str, library: PolicyLibrary) -> None:
    with pytest.raises(UsageError, match="cannot be called"):
        library.place_for(name)


# -- throwing away ------------------------------------------------------------------------


def test_what_is_not_ours_to_throw_away(library: PolicyLibrary, tmp_path: Path) -> None:
    kept_policy(tmp_path / "data/training/01ABC")
    for name, words in (("01ABC", "on the Train page"), ("ppo_cartpole", "comes with MOSAIC")):
        with pytest.raises(UsageError, match=words):
            library.remove(name)
    assert (tmp_path / "data/training/01ABC").exists()
    assert PPO.exists()


def test_a_policy_that_a_training_writes_stays(library: PolicyLibrary, tmp_path: Path) -> None:
    import fcntl

    folder = kept_policy(tmp_path / "runs/now")
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="a training is writing now"):
            library.remove("now")
    assert folder.exists()
