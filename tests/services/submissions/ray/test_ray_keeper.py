"""What the keeper of a submission on a Ray cluster keeps, without a cluster."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gym_gui.services.submissions.ray.ray_keeper import Keeper

PLAN = {"digest": "d1", "options": {}}


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    return Keeper("01SUBMISSION", str(tmp_path))


def sent(keeper: Keeper, name: str, *parts: bytes) -> None:
    offset = 0
    for part in (*parts, b""):
        keeper.put(name, offset, part)
        offset += len(part)


def test_a_file_is_there_when_it_is_whole(keeper: Keeper) -> None:
    assert keeper.use(PLAN) is False
    keeper.put("bundle-d1", 0, b"one ")
    assert keeper.use(PLAN) is False
    keeper.put("bundle-d1", 4, b"two")
    keeper.put("bundle-d1", 0, b"")
    assert keeper.use(PLAN) is True
    assert (keeper.get("bundle-d1", 4), keeper.get("bundle-d1", 7)) == (b"two", b"")


def test_the_latest_try_is_gone_on_with(keeper: Keeper, tmp_path: Path) -> None:
    assert keeper.saved(3) == ""
    for attempt in (9, 10):
        sent(keeper, f"3-{attempt}", b"played")
    assert not list(tmp_path.rglob("3-9")), "one is kept of each"
    keeper.put("3-11", 0, b"cut off")
    sent(keeper, "33-20", b"another")
    assert keeper.saved(3) == "3-10"


def test_what_was_fetched_is_kept_until_it_is_written_down(keeper: Keeper, tmp_path: Path) -> None:
    sent(keeper, "3-1", b"played")
    sent(keeper, "4-1", b"played")
    keeper.handed(3)
    keeper.look([(3, 1), (4, 1)])
    assert keeper.saved(3) == "3-1"
    keeper.look([(4, 1)])
    assert (keeper.saved(3), keeper.saved(4)) == ("", "4-1")


def test_a_try_that_was_given_up_is_to_end(keeper: Keeper) -> None:
    assert keeper.note(3, 1, {"state": "playing"})[0] == "KILL"
    rows, without = keeper.look([(3, 1)])
    assert rows[0][2] == {"state": "lost", "why": "the cluster no longer knows it"}
    assert without == {}


def test_a_folder_is_cleared(keeper: Keeper, tmp_path: Path) -> None:
    sent(keeper, "3-1", b"played")
    keeper.clear()
    assert not list(tmp_path.iterdir())


def test_what_nobody_asks_for_is_removed_in_time(tmp_path: Path) -> None:
    waits = "import sys, threading; from gym_gui.services.submissions.ray.ray_keeper import Keeper"
    begins = f"{waits}; Keeper('01SUBMISSION', sys.argv[1], kept_s=0.1); threading.Event().wait()"
    subprocess.run([sys.executable, "-c", begins, str(tmp_path)], timeout=60, check=True)
    assert not list(tmp_path.iterdir())
