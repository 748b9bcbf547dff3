"""Folders of sockets are swept when their owner was killed, and left alone while it lives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from gym_gui.host.socket_folder import SocketFolder

OWNER = """
import sys
from pathlib import Path
from gym_gui.host.socket_folder import SocketFolder
folder = SocketFolder(Path(sys.argv[1]))
(folder.path / "h").touch()
print(folder.path, flush=True)
sys.stdin.read()
"""


def test_what_a_killed_owner_left_is_swept_by_the_next(tmp_path: Path) -> None:
    ours, stranger = SocketFolder(tmp_path), tmp_path / "trainer-abc"
    stranger.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        theirs = Path(owner.stdout.readline().strip())
        between = SocketFolder(tmp_path)
        assert {theirs, ours.path, between.path} < set(tmp_path.iterdir()), "a live process keeps its folder"
        os.kill(owner.pid, signal.SIGKILL)
        owner.wait()
    assert (theirs / "h").exists()
    last = SocketFolder(tmp_path)
    assert not theirs.exists() and ours.path.exists() and between.path.exists()
    for folder in (ours, between, last):
        folder.remove()
    assert list(tmp_path.iterdir()) == [stranger]
