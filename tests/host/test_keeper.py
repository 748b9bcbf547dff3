"""What holds a session host for a client on another machine, and ends it when the client has gone."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE

import pytest

from gym_gui.host.keeper import until_silent
from gym_gui.version import __version__
from tests.support.processes import Offspring
from tests.support.waiting import eventually

ORDERS = {"token": "t", "operator": "op", "allowed": "[]", "workers": ["operators_worker"]}


@pytest.fixture
def keeper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[bytes]]:
    monkeypatch.setenv("MOSAIC_CACHE_DIR", str(tmp_path / "cache"))
    command = [sys.executable, "-m", "gym_gui", "session-host"]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE) as started:
        yield started
        started.kill()


def greeting(keeper: subprocess.Popen[bytes]) -> dict[str, str]:
    assert keeper.stdout is not None
    word, _, said = keeper.stdout.readline().partition(b" ")
    assert word == b"mosaic-host"
    return json.loads(said)


def test_it_ends_with_whoever_holds_it(keeper: subprocess.Popen[bytes], offspring: Offspring) -> None:
    said = greeting(keeper)
    assert said["version"] == __version__
    folders = [Path(said["socket"]).parent, Path(said["files"])]
    assert [folder.stat().st_mode & 0o777 for folder in folders] == [0o700, 0o700]
    assert keeper.stdin is not None and keeper.stdout is not None
    keeper.stdin.write(json.dumps(ORDERS).encode() + b"\n")
    keeper.stdin.flush()
    assert keeper.stdout.readline() == b"listening\n"
    assert Path(said["socket"]).stat().st_mode & 0o777 == 0o600
    keeper.stdin.close()
    eventually(lambda: not offspring.find("gym_gui.host"), "its host has ended")
    assert keeper.wait() == 0 and not any(folder.exists() for folder in folders)


def test_what_is_no_order_is_refused_in_one_line(keeper: subprocess.Popen[bytes]) -> None:
    greeting(keeper)
    _, err = keeper.communicate(b"hello\n")
    assert keeper.returncode == 2 and err.count(b"\n") == 1 and b"no request for a session host" in err


async def test_silence_and_the_end_are_the_same() -> None:
    said = asyncio.StreamReader()
    said.feed_data(b"\n\n")
    said.feed_eof()
    await asyncio.wait_for(until_silent(said, 600), 60)
    await asyncio.wait_for(until_silent(asyncio.StreamReader(), 0), 60)
