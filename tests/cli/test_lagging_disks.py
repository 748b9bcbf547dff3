"""A disk that lags and is slow between a real Slurm and who hands in: one of FUSE, mounted for the test."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from gym_gui.analysis import compare_runs
from gym_gui.processes.tree import TAG
from tests.cli.test_slurm import cluster, profile
from tests.cli.test_submissions import TWO
from tests.support.commands import Mosaic, experiment
from tests.support.debian import need_files
from tests.support.lagging_disk import LATE
from tests.support.slurm import Cluster
from tests.support.waiting import eventually

__all__ = ["cluster"]
pytestmark = [pytest.mark.full, pytest.mark.usefixtures("all_sessions_here")]

LAG_S, DELAY_S = 5, 0.002


@pytest.fixture
def disk(tmp_path: Path) -> Generator[Path]:
    """A disk on which who has ``LATE`` in the environment sees what jobs have written five seconds late."""
    need_files(
        Path("/usr/lib/python3/dist-packages/fusepy.py"), packages=("python3-fusepy", "libfuse2", "fuse3")
    )
    behind, place = tmp_path / "behind", tmp_path / "disk"
    for folder in (behind, place):
        folder.mkdir()
    said = (tmp_path / "disk-said").open("wb")
    program = Path(__file__).parents[1] / "support" / "lagging_disk.py"
    line = ["/usr/bin/python3", "-B", program, behind, place, str(LAG_S), str(DELAY_S)]
    # Sessions in this process end strangers among its children.
    ours = {"PATH": "/usr/bin:/bin", TAG: os.environ[TAG]}
    served = subprocess.Popen(line, env=ours, stdout=said, stderr=said)
    try:
        eventually(lambda: place.is_mount() or served.poll() is not None, "it is mounted", 60)
        if not place.is_mount():
            pytest.skip(f"needs FUSE: {(tmp_path / 'disk-said').read_text().strip()}")
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=False, capture_output=True)
        served.terminate()
        served.wait()
        said.close()


def test_what_is_seen_late_is_waited_for(mosaic: Mosaic, cluster: Cluster, disk: Path) -> None:
    file = experiment(mosaic.home, *TWO, num_episodes=20)
    whole = mosaic.home / mosaic("run", file, "--json").json()["run"]
    asked = ("run", file, "--executor", "slurm", "--profile", profile(mosaic), "--shards", "4")
    done = mosaic.process(*asked, "--out", disk, "--json", timeout=400, **{**cluster, LATE: "1"})
    assert done.status == 0, done.err
    merged = Path(done.json()["run"])
    assert compare_runs(whole, merged) is None
    assert mosaic("verify", merged).status == 0
    record = json.loads((next((disk / "submissions").iterdir()) / "submission.json").read_text())
    assert {row["tries"] for row in record["shards"].values()} == {1}, "none is taken for lost"
