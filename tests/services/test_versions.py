"""What a run says of the code and the machine that made it."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import pytest

import gym_gui
from gym_gui.services.versions import commit, machine, version_of, versions_of


@dataclass
class Stage:
    env_package: str


def test_versions_of_the_engine_and_the_environment() -> None:
    found = versions_of(Stage("minigrid"))
    assert found["python"] == platform.python_version() and found["mosaic"] == gym_gui.__version__
    assert found["minigrid"] == version("minigrid") and found["gymnasium"] == version("gymnasium")


@pytest.mark.parametrize("package", ["", "no_such_package"])
def test_a_package_without_a_version_is_left_out(package: str) -> None:
    assert package not in versions_of(Stage(package))


def test_an_import_name_that_is_not_the_distributions() -> None:
    assert version_of("yaml") == version("PyYAML") and version_of("no_such_package") is None


def test_the_machine() -> None:
    found = machine()
    assert found["cores"] == os.cpu_count() and found["machine"] == platform.machine()
    assert 64 < found["memory_mb"] < 2**24 and "Linux" in found["system"]


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)


def test_the_commit_and_whether_something_was_changed(tmp_path: Path) -> None:
    assert commit(tmp_path) is None
    git(tmp_path, "init")
    assert commit(tmp_path) is None  # nothing was committed yet
    (tmp_path / "file").write_text("one")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "-m", "one", "--no-verify")
    head = commit(tmp_path)
    assert head is not None and re.fullmatch("[0-9a-f]{40}", head)
    (tmp_path / "untracked").write_text("of no account")
    assert commit(tmp_path) == head
    (tmp_path / "file").write_text("two")
    assert commit(tmp_path) == head + "+"


def test_no_commit_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit(Path(gym_gui.__file__).parent) is None
