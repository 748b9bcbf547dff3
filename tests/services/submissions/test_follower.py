"""Who follows a submission, and who is told to end when it is stopped."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from gym_gui.core.errors import UsageError
from gym_gui.services.submissions.follower import end_following, follower_of, following


def test_one_process_follows_and_is_known_by_its_number(tmp_path: Path) -> None:
    assert follower_of(tmp_path) is None
    with following(tmp_path):
        follower = follower_of(tmp_path)
        assert follower is not None and follower.is_here and follower.pid == os.getpid()
        with pytest.raises(UsageError, match="another process"), following(tmp_path):
            pass
    assert follower_of(tmp_path) is None


def test_a_file_that_names_a_stranger_has_nobody_end(tmp_path: Path) -> None:
    """A folder comes from anywhere; what is written in it is no reason to end a process."""
    stranger = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        with following(tmp_path):
            (tmp_path / "followed-by").write_text(f"{socket.gethostname()} {stranger.pid}\n")
            follower = follower_of(tmp_path)
            assert follower is not None and not follower.is_here
            with pytest.raises(UsageError, match="followed by another process"):
                end_following(tmp_path, follower)
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()
        assert stranger.stdin is not None
        stranger.stdin.close()
