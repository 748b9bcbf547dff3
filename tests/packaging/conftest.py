"""A wheel of the checkout, built once, and environments to install it into."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _clean_environment() -> dict[str, str]:
    """Our environment without what would lead a child back to the checkout or measure it."""
    gone = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "COVERAGE_", "COV_CORE_", "MOSAIC_")
    return {name: value for name, value in os.environ.items() if not name.startswith(gone)}


@pytest.fixture(scope="session")
def clean_environment() -> dict[str, str]:
    """Environment variables for a child that must not find its way back to the checkout."""
    return _clean_environment()


@pytest.fixture(scope="session")
def uv() -> Path:
    """The installer; scripts/test.sh puts it on PATH."""
    found = shutil.which("uv")
    if found is None:
        pytest.skip("uv is not on PATH")
    return Path(found)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the checkout as it is."""
    return _built(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def sdk_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the worker SDK as it is."""
    return _built(ROOT / "3rd_party" / "mosaic_worker_sdk", tmp_path_factory.mktemp("sdk"))


def _built(project: Path, out: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    done = subprocess.run(
        command, cwd=project, env=_clean_environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def make_environment(uv: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A function ``(python, *install_arguments) -> interpreter`` that makes a fresh environment."""

    def make(python: str, install: Sequence[str]) -> Path:
        folder = tmp_path_factory.mktemp("env") / "venv"
        interpreter = folder / "bin" / "python"
        for command in (
            [str(uv), "venv", "-q", "--no-project", "--python", python, str(folder)],
            [str(uv), "pip", "install", "-q", "--python", str(interpreter), *install],
        ):
            done = subprocess.run(
                command, env=_clean_environment(), capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
        return interpreter

    return make
