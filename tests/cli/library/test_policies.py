"""``mosaic policies``: what was trained, here or elsewhere, is brought, scored, played and given out."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gym_gui.cli.app import run
from gym_gui.workers.discovery import discover
from gym_gui.workers.manifest import read_manifest
from gym_gui.workers.registry import WorkerTypeRegistry
from tests.support.commands import ROOT, Done, Mosaic
from tests.support.little_workers import RANDOM, little_worker
from tests.support.policies import PPO, kept_policy

pytestmark = pytest.mark.usefixtures("sessions_here")

IMPORTER = """
import argparse, json, os, shutil, sys, time
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("file", type=Path)
parser.add_argument("--env-id")
parser.add_argument("--out", type=Path)
parser.add_argument("--licence", default="")
parser.add_argument("--how", default="")
asked = parser.parse_args()
if asked.how == "refuse":
    print("some noise", file=sys.stderr)
    sys.exit(print("error: it is of another brand. Bring one of ours", file=sys.stderr) or 2)
if asked.how == "fail":
    raise RuntimeError("out of luck")
if asked.how == "die":
    os.kill(os.getpid(), 9)
if asked.how == "lie":
    (asked.out / "policy.json").write_text("{}")
    sys.exit(0)
if asked.how != "nothing":
    for name in ("policy.json", "model.safetensors"):
        shutil.copy(asked.file / name, asked.out)
"""
"""Takes over what is MOSAIC's own anyway; with ``--how`` it does so badly."""


Policies = Callable[..., Done]


@pytest.fixture
def policies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Policies:
    """``mosaic policies …`` in this process, in the test's own folder and with a trash of its own."""
    import send2trash.plat_other as other  # it reads the place when it is imported

    trash = tmp_path / "share" / "Trash"
    trash.parent.mkdir()
    monkeypatch.setenv("XDG_DATA_HOME", str(trash.parent))
    monkeypatch.setattr(other, "HOMETRASH_B", str(trash).encode())
    monkeypatch.setattr(other, "HOMETRASH", str(trash), raising=False)
    monkeypatch.delenv("MOSAIC_RUNS_DIR", raising=False)
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> Done:
        capsys.readouterr()
        status = run(["policies", *arguments])
        return Done(status, *capsys.readouterr())

    return command


@pytest.fixture
def brand(tmp_path: Path) -> Iterator[None]:
    """A worker that imports."""
    if not WorkerTypeRegistry.all():
        discover()
    little_worker(tmp_path / "workers", RANDOM, "brand_worker")
    folder = tmp_path / "workers/brand_worker"
    (folder / "brand_worker_import.py").write_text(IMPORTER)
    manifest = folder / "worker.toml"
    added = '[import]\nentry = "brand_worker_import"\nformats = [".brand"]\n'
    manifest.write_text(manifest.read_text() + added)
    WorkerTypeRegistry.register(read_manifest(manifest, source="user"))
    yield
    WorkerTypeRegistry.unregister("brand_worker")


def test_a_policy_goes_out_and_comes_in(policies: Policies, tmp_path: Path) -> None:
    kept_policy(tmp_path / "runs/mine")
    listed = {row["name"]: row for row in policies("list", "--json").json()}
    assert listed["mine"]["place"] == "runs"
    assert listed["ppo_cartpole"]["place"] == "bundled"
    assert "ppo" in policies("list").out
    exported = policies("export", "mine", "out.zip")
    assert exported.status == 0, exported.err
    added = policies("add", "out.zip", "--name", "brought", "--licence", "MIT", "--json").json()
    assert (added["name"], added["licence"], added["place"]) == ("brought", "MIT", "library")
    shown = policies("show", "brought")
    assert '{worker_id: cleanrl_worker, checkpoint: "library:brought"}' in shown.out
    assert "not measured; run: mosaic policies score brought" in shown.out
    removed = policies("remove", "brought", "--json").json()
    assert Path(removed["trashed"]).is_relative_to(tmp_path / "share")
    assert not (tmp_path / "data/policies/brought").exists()
    assert "unknown policy 'brought'" in policies("show", "brought").line


def test_it_plays_under_its_name(mosaic: Mosaic) -> None:
    kept_policy(mosaic.home / "data/policies/brought")
    experiment = mosaic.home / "it.yaml"
    row = {"worker_id": "cleanrl_worker", "checkpoint": "library:brought"}
    operator = {"id": "a", "task": "CartPole-v1", "workers": {"agent": row}}
    how = {"num_episodes": 1, "processes": 1}
    experiment.write_text(json.dumps({"operators": [operator], "execution": how}))
    played = mosaic("run", experiment)
    assert played.status == 0, played.err
    assert "500" in played.out
    row["checkpoint"] = "library:broght"
    experiment.write_text(json.dumps({"operators": [operator]}))
    refused = mosaic("run", experiment)
    assert refused.status == 2
    assert "unknown policy 'broght'. Did you mean 'brought'?" in refused.line


def test_a_score_of_what_cannot_be_played(policies: Policies, tmp_path: Path) -> None:
    kept_policy(tmp_path / "data/policies/mine", env_id="Acrobot-v1")
    done = policies("score", "mine")
    assert done.status == 2
    assert "this slot has Box(6)" in done.err


def test_folders_of_ones_own(policies: Policies, tmp_path: Path) -> None:
    kept_policy(tmp_path / "shelf/good")
    assert policies("folders", "--add", "shelf").status == 0
    assert "good" in policies("list").out
    assert str(tmp_path / "shelf") in policies("folders").out
    policies("folders", "--remove", "shelf")
    assert "good" not in policies("list").out


# -- files of other programs ---------------------------------------------------------------


@pytest.mark.usefixtures("brand")
def test_the_worker_that_reads_a_file_takes_it_over(policies: Policies, tmp_path: Path) -> None:
    kept_policy(tmp_path / "theirs.brand")
    arguments = ["add", "theirs.brand", "--worker", "brand_worker"]
    assert "Add --env ENVIRONMENT" in policies(*arguments).line
    done = policies(*arguments, "--env", "CartPole-v1", "--json")
    assert done.status == 0, done.err
    assert done.json()["name"] == "theirs"
    for how, status, words in (
        ("refuse", 2, "mosaic: it is of another brand. Bring one of ours"),
        ("fail", 1, "brand_worker failed to import the policy: RuntimeError: out of luck"),
        ("die", 1, "brand_worker was killed (signal 9, SIGKILL) during the import"),
        ("lie", 2, "format_version"),
        ("nothing", 2, "contains no readable policy"),
    ):
        done = policies(*arguments, "--env", "CartPole-v1", "--name", how, "--how", how)
        assert done.status == status, done.err
        assert words in done.line
    left = sorted(p.name for p in (tmp_path / "data/policies").iterdir())
    assert left == ["theirs"], "what was refused leaves nothing"


def test_nobody_reads_it(policies: Policies, tmp_path: Path) -> None:
    (tmp_path / "it.xyz").write_text("x")
    assert "no worker reads files such as it.xyz" in policies("add", "it.xyz").line
    assert "nothing.pt does not exist" in policies("add", "nothing.pt").line
    assert "operators_worker" in policies("add", "it.xyz", "--worker", "operators_worker").line
    assert "unknown worker" in policies("add", "it.xyz", "--worker", "nobody").line
    (tmp_path / "more.zip").write_bytes((PPO / "model.safetensors").read_bytes())
    unknown = policies("add", str(PPO), "--nmae", "x").line
    assert "leave out --nmae" in unknown


def test_a_file_of_a_cleanrl_script_is_brought_and_its_score_is_kept(
    policies: Policies, tmp_path: Path
) -> None:
    """Written by a program of its own with ``torch.save``, as people have it."""
    torch = pytest.importorskip("torch")
    from safetensors.torch import load_file

    state = load_file(str(PPO / "model.safetensors"))
    torch.save(state, tmp_path / "ppo.cleanrl_model")
    done = policies("add", "ppo.cleanrl_model", "--env", "CartPole-v1", "--steps", "500000", "--json")
    assert done.status == 0, done.err
    about = done.json()
    assert (about["worker"], about["algorithm"], about["total_steps"]) == ("cleanrl_worker", "ppo", 500_000)
    assert about["origin"]["format"] == "cleanrl_model"
    scored = policies("score", "ppo", "--json")
    assert scored.status == 0, scored.err
    assert scored.json()["mean"] == 500.0
    assert scored.json()["seeds"] == list(range(10_000, 10_020))
    (row,) = [r for r in policies("list", "--json").json() if r["name"] == "ppo"]
    assert row["score"]["mean"] == 500.0
    assert "500.0 ± 0.0 on 20 seeds from 10000" in policies("show", "ppo").out
    assert not list(tmp_path.glob("runs/*")), "no run is left behind"


class Bomb:
    """Makes a file where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.mark}",)


def test_a_pickle_bomb_is_refused_and_nothing_runs(policies: Policies, tmp_path: Path) -> None:
    mark = tmp_path / "it-ran"
    (tmp_path / "bomb.cleanrl_model").write_bytes(pickle.dumps(Bomb(mark)))
    done = policies("add", "bomb.cleanrl_model", "--env", "CartPole-v1")
    assert done.status == 2, done.err
    assert done.line
    assert not mark.exists()
    assert not list((tmp_path / "data/policies").glob("*"))


def test_a_policy_is_shown_by_its_folder(mosaic: Mosaic, tmp_path: Path) -> None:
    bundled = ROOT / "docs" / "examples" / "checkpoints" / "ppo_cartpole"
    copied = tmp_path / "copied"
    shutil.copytree(bundled, copied)
    for folder, written in ((bundled, "library:"), (copied, str(copied))):
        done = mosaic("policies", "show", folder)
        assert done.status == 0, done.err
        assert "CartPole-v1" in done.out and f'checkpoint: "{written}' in done.out
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "holds no policy" in mosaic("policies", "show", empty).line
