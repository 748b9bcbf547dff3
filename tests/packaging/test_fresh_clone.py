"""From a fresh clone to a working program, and to the next start, with the real scripts."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of what is committed, in a folder with a space."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    folder = tmp_path_factory.mktemp("clone") / "a fresh clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True)
    return folder


def _start(clone: Path, cwd: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [str(clone / "scripts" / "run.sh"), "workers", "list"]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def test_the_first_start_sets_up_and_the_second_does_not(
    clone: Path, tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    first = _start(clone, tmp_path, clean_environment)
    assert first.returncode == 0, first.stderr
    assert "Set-up done" in first.stderr
    assert not list((clone / ".venv").rglob("nvidia_*.dist-info"))

    begin = time.monotonic()
    second = _start(clone, tmp_path, clean_environment)
    assert time.monotonic() - begin < 4  # 2 s, and what the command itself takes
    assert (second.returncode, second.stdout) == (0, first.stdout)
    assert "Set" not in second.stderr


def test_two_at_once_end_well(clone: Path, tmp_path: Path, clean_environment: dict[str, str]) -> None:
    for stamp in (clone / ".venv" / ".mosaic-setup").glob("*.stamp"):
        stamp.unlink()
    command = [str(clone / "scripts" / "run.sh"), "workers", "list"]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    started = [subprocess.Popen(command, cwd=tmp_path, env=clean_environment, **pipes) for _ in range(2)]
    outputs = [process.communicate(timeout=300)[1].decode() for process in started]
    assert [process.returncode for process in started] == [0, 0]
    assert sum("Set-up done" in text for text in outputs) == 1
