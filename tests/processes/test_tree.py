"""Finding and ending every descendant of a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gym_gui.processes.tree import TAG, kill_tree, members, program_tag, resident_mb, signal_name, tagged
from tests.support.processes import Offspring, alive
from tests.support.waiting import eventually

SLEEP = "import time; time.sleep(600)"
RUNAWAY = f"import os, sys\nif os.fork(): sys.exit()\nos.setsid()\n{SLEEP}"
FAMILY = f"""
import subprocess, sys
subprocess.Popen([sys.executable, "-c", {SLEEP!r}])
subprocess.Popen([sys.executable, "-c", {SLEEP!r}], start_new_session=True)
subprocess.run([sys.executable, "-c", {RUNAWAY!r}])
{SLEEP}
"""


@contextmanager
def family(tag: str, code: str = FAMILY) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", code], env=tagged(dict(os.environ), tag))
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_the_tag_marks_children_orphans_and_who_left_the_session():
    with family("tree-of-four") as process:
        found = eventually(
            lambda: len(list(members("tree-of-four"))) == 4 and list(members("tree-of-four")), "4"
        )
        assert process.pid in found
        assert os.getpid() not in found
        assert kill_tree("tree-of-four") == 0
        assert not list(members("tree-of-four"))
        assert process.wait() == -signal.SIGKILL


def test_stopped_processes_are_ended_too():
    with family("tree-stopped", SLEEP) as process:
        os.kill(process.pid, signal.SIGSTOP)
        assert kill_tree("tree-stopped") == 0
        assert process.wait() == -signal.SIGKILL


def test_other_trees_are_left_alone(offspring: Offspring):
    with family("tree-one", SLEEP) as one, family("tree-two", SLEEP) as two:
        kill_tree("tree-one")
        one.wait()
        assert alive(two.pid)
        assert offspring.pids() == [two.pid]


def test_a_zombie_is_no_member():
    with family("tree-zombie", "pass") as process:
        # It has ended, and its parent has not waited for it.
        eventually(lambda: not alive(process.pid), "it ends")
        assert not list(members("tree-zombie"))


def test_nothing_to_end():
    assert kill_tree("tree-of-nobody") == 0
    assert resident_mb("tree-of-nobody") == 0.0


def test_memory_is_that_of_the_whole_tree():
    child = "b = bytearray(b'x') * (64 << 20); import time; time.sleep(600)"
    code = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {child!r}])\n{child}"
    with family("tree-fat", code):
        eventually(lambda: resident_mb("tree-fat") > 128, "both hold their memory")
        kill_tree("tree-fat")


def test_tags_are_added_to_what_is_inherited(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(TAG, "a:b")
    assert tagged({"X": "1"}, "c") == {"X": "1", TAG: "a:b:c"}
    monkeypatch.delenv(TAG)
    assert tagged({}, "c") == {TAG: f"{program_tag()}:c"}


def test_signals_in_words():
    assert signal_name(9) == "signal 9, SIGKILL"
    assert signal_name(signal.SIGRTMIN + 3) == f"signal {signal.SIGRTMIN + 3}"


CHURN = """
import threading
from gym_gui.processes.tree import kill_strays

def churn():
    for _ in range(3000):
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()

busy = [threading.Thread(target=churn) for _ in range(4)]
for thread in busy:
    thread.start()
while any(thread.is_alive() for thread in busy):
    kill_strays()
"""


def test_threads_that_end_meanwhile_do_no_harm_to_the_search():
    command = [sys.executable, "-c", CHURN]
    assert subprocess.run(command, env=tagged(dict(os.environ), "churning"), check=False).returncode == 0
