"""Disks that are full, here and on a host: small ones, mounted for the test."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
import yaml

from gym_gui.analysis import compare_runs
from tests.cli.test_slurm import cluster
from tests.cli.test_slurm import profile as slurm_profile
from tests.cli.test_submissions import TWO, profile, server
from tests.support.commands import Mosaic, experiment
from tests.support.slurm import Cluster
from tests.support.sshd import Sshd

__all__ = ["cluster", "server"]
pytestmark = [pytest.mark.full, pytest.mark.usefixtures("all_sessions_here")]


@pytest.fixture
def small(tmp_path: Path) -> Generator[Path]:
    """A disk of 600 kB."""
    place = tmp_path / "small"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", place],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"needs a disk of its own: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def grown(place: Path) -> None:
    """Make room there."""
    subprocess.run(["mount", "-o", "remount,size=50m", place], check=True)


def test_a_full_disk_here_is_one_line_and_gone_on_with(mosaic: Mosaic, server: Sshd, small: Path) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=100)
    whole = mosaic.home / mosaic("run", file, "--json").json()["run"]
    hosts = profile(mosaic, server, "one")
    done = mosaic("run", file, "--executor", "ssh", "--profile", hosts, "--shards", "2", "--out", small)
    assert done.status == 2, done.err
    assert "there is no space left in" in done.err or "No space left on device" in done.err, done.err
    grown(small)
    submission = next((small / "submissions").iterdir())
    done = mosaic("run", "--resume", submission, "--json")
    assert done.status == 0, done.err
    assert compare_runs(whole, Path(done.json()["run"])) is None


def test_a_full_disk_of_a_host_is_one_line_and_gone_on_with(
    mosaic: Mosaic, server: Sshd, small: Path
) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=100)
    whole = mosaic.home / mosaic("run", file, "--json").json()["run"]
    (mosaic.home / "one").symlink_to(small)
    hosts = profile(mosaic, server, "one", patience=2)
    asked = ("run", file, "--executor", "ssh", "--profile", hosts, "--shards", "2")
    done = mosaic(*asked)
    assert done.status in (1, 2) and "No space left" in done.err, done.err
    grown(small)
    done = mosaic("run", "--resume", next((mosaic.home / "runs/submissions").iterdir()), "--json")
    assert done.status == 0, done.err
    assert compare_runs(whole, Path(done.json()["run"])) is None


def test_a_full_disk_of_a_slurm_is_one_line_and_gone_on_with(
    mosaic: Mosaic, cluster: Cluster, small: Path
) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=100)
    whole = mosaic.home / mosaic("run", file, "--json").json()["run"]
    asked = ("run", file, "--executor", "slurm", "--profile", slurm_profile(mosaic), "--shards", "2")
    # All nodes see it, and so does who handed it in.
    done = mosaic(*asked, "--out", small, **cluster)
    assert done.status in (1, 2), done.err
    assert "there is no space left in" in done.err or "No space left on device" in done.err, done.err
    grown(small)
    done = mosaic("run", "--resume", next((small / "submissions").iterdir()), "--json", **cluster)
    assert done.status == 0, done.err
    assert compare_runs(whole, Path(done.json()["run"])) is None


def test_a_host_that_sends_without_end_fills_no_disk(mosaic: Mosaic, server: Sshd, small: Path) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=4)
    grown(small)
    adds = mosaic.home / "adds"
    adds.write_text(
        f'{sys.executable} -m gym_gui "$@"; code=$?\n'
        'for run in work/*/runs/*; do [ -d "$run" ] && truncate -s 1T "$run/more"; done\n'
        "exit $code\n"
    )
    hosts = profile(mosaic, server, "one")
    data = yaml.safe_load(hosts.read_text())
    hosts.write_text(yaml.safe_dump({**data, "mosaic": f"sh {adds}"}))
    asked = ("run", file, "--executor", "ssh", "--profile", hosts, "--shards", "1", "--out", small)
    done = mosaic(*asked)
    assert done.status == 2, done.err
    assert "there is no space left in" in done.err and "shard 1 of 1 of one has " in done.err, done.err
    assert shutil.disk_usage(small).free > 40 << 20, "the part that was written is removed"
