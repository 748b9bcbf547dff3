"""Wheels for machines without a network: what is refused, and a whole installation from them."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import Mosaic, experiment

HERE = {
    "format": 1,
    "python": f"{sys.version_info[0]}.{sys.version_info[1]}",
    "system": platform.system(),
    "processor": platform.machine(),
    "glibc": platform.libc_ver()[1],
}


def listed(folder: Path, **changed: object) -> Path:
    """A folder with the listing of a wheelhouse."""
    folder.mkdir()
    (folder / "wheelhouse.json").write_text(json.dumps({**HERE, **changed}))
    return folder


@pytest.mark.parametrize(
    "command", [("envs", "install", "crafter"), ("install", "gui"), ("workers", "install", "sb3")]
)
def test_a_folder_that_is_no_wheelhouse_is_refused(mosaic: Mosaic, command: tuple[str, ...]) -> None:
    (mosaic.home / "empty").mkdir()
    told = mosaic.refused(*command, "--offline", "empty")
    assert "empty is no complete wheelhouse" in told
    assert "mosaic wheelhouse empty" in told


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"python": "3.8"}, ("python 3.8", HERE["python"])),
        ({"system": "Plan9"}, ("system Plan9", HERE["system"])),
        ({"processor": "vax"}, ("processor vax", HERE["processor"])),
        ({"glibc": "99.1"}, ("glibc 99.1", HERE["glibc"])),
        ({"format": 99}, ("newer MOSAIC",)),
        ({"python": None}, ("python None",)),
    ],
)
def test_wheels_for_another_machine_are_refused(
    mosaic: Mosaic, changed: dict[str, object], words: tuple[str, ...]
) -> None:
    listed(mosaic.home / "wheels", **changed)
    told = mosaic.refused("envs", "install", "crafter", "--offline", "wheels")
    assert [word for word in words if str(word) not in told] == []


def test_wheels_of_an_older_glibc_fit(mosaic: Mosaic) -> None:
    listed(mosaic.home / "wheels", glibc="2.9")
    done = mosaic("envs", "install", "gymnasium", "--offline", "wheels", "--dry-run")
    assert "glibc" not in done.err


@pytest.mark.parametrize("option", ["--extra", "--env", "--worker"])
def test_an_unknown_name_is_refused_before_anything_is_fetched(mosaic: Mosaic, option: str) -> None:
    assert "'nonsense'" in mosaic.refused("wheelhouse", "wheels", option, "nonsense")


def test_a_download_is_not_looked_for_when_offline(mosaic: Mosaic) -> None:
    """The wheels that are there are all that counts: an empty wheelhouse has no package at all."""
    listed(mosaic.home / "wheels")
    done = mosaic.process(
        "envs", "install", "bsuite", "--offline", "wheels", UV_NO_CACHE="1", PIP_NO_CACHE_DIR="1"
    )
    assert done.status == 1
    assert "http" not in done.err.splitlines()[-1]


@pytest.mark.full
@pytest.mark.skipif(os.getuid() != 0 or shutil.which("unshare") is None, reason="needs root and unshare")
def test_everything_is_installed_and_played_without_a_network(mosaic: Mosaic, tmp_path: Path) -> None:
    wheels, env = tmp_path / "wheels", tmp_path / "player"
    done = mosaic.process("wheelhouse", str(wheels), "--env", "toy-text", "--env", "unreal", timeout=900)
    assert done.status == 0, done.err
    assert "mosaic, toy-text, unreal" in done.out
    subprocess.run([sys.executable, "-m", "venv", str(env)], check=True)
    python = env / "bin" / "python"
    clean = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "MOSAIC_DATA_DIR": str(tmp_path / "data")}

    def cut_off(*command: str | Path) -> str:
        line = ["unshare", "--net", *map(str, command)]
        told = subprocess.run(line, env=clean, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert told.returncode == 0, told.stderr
        return told.stdout

    cut_off(python, "-m", "pip", "install", "-q", "--no-index", "--find-links", wheels, "mosaic-gym-gui")
    told = cut_off(env / "bin/mosaic", "envs", "install", "toy-text", "--offline", wheels)
    assert told.startswith("gymnasium is installed")
    told = cut_off(env / "bin/mosaic", "envs", "install", "unreal", "--offline", wheels)
    assert told.startswith("unreal is installed")
    path = experiment(tmp_path, {"task": "FrozenLake-v1"})
    assert "FrozenLake" in cut_off(env / "bin/mosaic", "run", path, "--out", tmp_path / "runs")
