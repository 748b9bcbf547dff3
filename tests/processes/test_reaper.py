"""The reaper ends what a killed program leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from gym_gui.processes.tree import TAG
from tests.support.processes import Offspring, alive
from tests.support.waiting import eventually

PROGRAM = """
import os, subprocess, sys, time
from pathlib import Path
from gym_gui.processes.tree import tagged
from gym_gui.processes.reaper import guard, remove_after

environment = tagged(dict(os.environ), "a")
for _ in range(2):
    guard()
folder = Path(sys.argv[1])
folder.mkdir()
(folder / "socket").touch()
remove_after(folder)
# What leaves its process group, and whose parent has ended.
runaway = "import os, sys\\nif os.fork(): sys.exit()\\nos.setsid()\\nimport time; time.sleep(600)"
subprocess.run([sys.executable, "-c", runaway], env=environment)
Path(sys.argv[1] + ".ready").touch()
{then}
"""


def start(folder: Path, then: str) -> subprocess.Popen[bytes]:
    environment = {k: v for k, v in os.environ.items() if k != TAG}
    code = textwrap.dedent(PROGRAM).replace("{then}", then)
    process = subprocess.Popen([sys.executable, "-c", code, str(folder)], env=environment)
    eventually(lambda: Path(f"{folder}.ready").exists(), "the program is ready")
    return process


def test_nothing_survives_a_program_that_is_killed(tmp_path: Path, offspring: Offspring):
    process = start(tmp_path / "run", "time.sleep(600)")
    (reaper,) = offspring.find("gym_gui.processes.reaper")
    assert len(offspring.pids()) == 3, "program, reaper, runaway"
    process.send_signal(signal.SIGKILL)
    process.wait()
    offspring.assert_none()
    eventually(lambda: not alive(reaper), "the reaper is done")
    eventually(lambda: not (tmp_path / "run").exists(), "the folder is removed")


def test_nothing_survives_a_program_that_forgets(tmp_path: Path, offspring: Offspring):
    assert start(tmp_path / "run", "").wait() == 0
    offspring.assert_none()


def test_a_forked_child_that_holds_the_pipe_does_not_keep_it_waiting(tmp_path: Path, offspring: Offspring):
    process = start(tmp_path / "run", "if os.fork(): time.sleep(600)\nelse: time.sleep(20)")
    process.send_signal(signal.SIGKILL)
    process.wait()
    (reaper,) = offspring.find("gym_gui.processes.reaper")
    eventually(lambda: not alive(reaper), "the reaper is done")
    offspring.kill()  # the program forked it itself, without the tag: it is the program's own affair


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_does_not_hear_what_is_meant_for_the_program(tmp_path: Path, offspring: Offspring, number: int):
    process = start(tmp_path / "run", "time.sleep(600)")
    (reaper,) = offspring.find("gym_gui.processes.reaper")
    assert os.getpgid(reaper) != os.getpgid(process.pid)
    os.killpg(os.getpgid(reaper), 0)
    process.send_signal(number)
    process.wait()
    offspring.assert_none()


def test_a_program_within_a_program_has_no_reaper_of_its_own(tmp_path: Path, offspring: Offspring):
    code = textwrap.dedent(PROGRAM).replace("{then}", "time.sleep(600)")
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "run")])
    try:
        eventually(lambda: Path(f"{tmp_path / 'run'}.ready").exists(), "the program is ready")
        assert offspring.find("gym_gui.processes.reaper") == []
    finally:
        process.kill()
        process.wait()
        offspring.kill()
