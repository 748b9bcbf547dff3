"""The sampler sees what our processes are, whether they are stopped, and what they use."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from gym_gui.services.process_usage import ProcessSampler, Usage

SLEEP = "import sys, time; sys.argv.append(''); time.sleep(60)"


@pytest.fixture
def child() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []

    def start(code: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", code, *arguments]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def wait_for(sampler: ProcessSampler, wanted: Callable[[Usage], bool]) -> Usage:
    deadline = time.monotonic() + 60
    while not wanted(usage := sampler.sample()):
        assert time.monotonic() < deadline, usage
        time.sleep(0.02)
    return usage


def test_workers_and_hosts_are_told_apart(child: Callable[..., subprocess.Popen[bytes]]) -> None:
    sampler = ProcessSampler()
    before = sampler.sample()
    child(SLEEP, "mosaic_worker")
    child(SLEEP, "gym_gui.host")
    child(SLEEP, "other")
    usage = wait_for(sampler, lambda u: u.workers == 1 and u.hosts == 1)
    assert usage.stopped == 0
    assert usage.memory > before.memory


def test_a_stopped_worker_is_seen(child: Callable[..., subprocess.Popen[bytes]]) -> None:
    sampler = ProcessSampler()
    worker = child(SLEEP, "mosaic_worker")
    wait_for(sampler, lambda u: u.workers == 1)
    os.kill(worker.pid, signal.SIGSTOP)
    wait_for(sampler, lambda u: u.stopped == 1)
    os.kill(worker.pid, signal.SIGCONT)
    wait_for(sampler, lambda u: u.stopped == 0)
    worker.kill()
    wait_for(sampler, lambda u: u.workers == 0)


def test_a_process_is_what_it_runs_now(child: Callable[..., subprocess.Popen[bytes]]) -> None:
    """A process that was looked at before it had started its program is known by that program afterwards."""
    into = f"os.execv(sys.executable, [sys.executable, '-c', {SLEEP!r}, 'mosaic_worker'])"
    code = f"import os, signal, sys; signal.sigwait([signal.SIGUSR1]); {into}"
    wait = "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]);"
    sampler = ProcessSampler()
    process = child(f"{wait} print(flush=True); {code}", "gym_gui.host")
    assert process.stdout is not None and process.stdout.readline()
    usage = wait_for(sampler, lambda u: u.hosts == 1)
    assert usage.workers == 0
    process.send_signal(signal.SIGUSR1)
    assert wait_for(sampler, lambda u: u.workers == 1).hosts == 0


def test_processor_use_is_measured_over_the_time_between(
    child: Callable[..., subprocess.Popen[bytes]],
) -> None:
    sampler = ProcessSampler()
    begun = time.monotonic()
    assert sampler.sample().cpu == 0.0
    work = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True); time.sleep(60)"
    busy = child(work)
    assert busy.stdout is not None and busy.stdout.readline()
    assert sampler.sample().cpu * (time.monotonic() - begun) > 0.25


def test_a_grandchild_counts(child: Callable[..., subprocess.Popen[bytes]]) -> None:
    start = f"subprocess.Popen([sys.executable, '-c', {SLEEP!r}, 'mosaic_worker'])"
    between = child(f"import subprocess, sys; p = {start}; print(p.pid, flush=True); p.wait()")
    assert between.stdout is not None
    grandchild = int(between.stdout.readline())
    try:
        wait_for(ProcessSampler(), lambda u: u.workers == 1)
    finally:
        os.kill(grandchild, signal.SIGKILL)
