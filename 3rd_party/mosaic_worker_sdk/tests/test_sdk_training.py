"""What a training reports is in its folder, whole and in order, and wishes reach it there."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mosaic_worker
from mosaic_worker.training import CONTROL, CONTROL_AT, EPISODES, EVENTS, METRICS, TrainingRun, ask


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def never() -> None:
    raise AssertionError("nothing was to be saved")


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_bytes().splitlines()]


def names(folder: Path) -> list[str]:
    return [row["event"] for row in rows(folder, EVENTS)]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def run(tmp_path: Path, clock: Clock) -> Iterator[TrainingRun]:
    with contextlib.closing(TrainingRun(tmp_path, clock=clock)) as made:
        yield made


def test_a_training_tells_its_life_in_events(tmp_path: Path, run: TrainingRun, clock: Clock) -> None:
    run.start("ppo", "CartPole-v1", 3, 1000)
    clock.now = 10.0
    run.episode(100, 21.0, 21)
    run.metrics(100, {"losses/value": 0.5, "charts/SPS": float("nan")})
    run.advance(200, never)
    run.warn("the disk is nearly full")
    run.filmed(200, tmp_path / "videos" / "step-000000200.mp4")
    run.done("completed", 1000, 99.5)
    start, progress, warning, video, last, done = rows(tmp_path, EVENTS)
    assert {k: v for k, v in start.items() if k != "t"} == {
        "event": "start",
        "algorithm": "ppo",
        "env_id": "CartPole-v1",
        "seed": 3,
        "total_steps": 1000,
        "step": 0,
        "pid": os.getpid(),
    }
    assert (progress["step"], progress["mean_return"], progress["episodes"]) == (200, 21.0, 1)
    assert (progress["steps_per_s"], progress["elapsed_s"], progress["remaining_s"]) == (20.0, 10.0, 40.0)
    assert warning["message"] == "the disk is nearly full"
    assert video["file"] == "videos/step-000000200.mp4"
    assert (last["event"], last["step"]) == ("progress", 1000)
    assert (done["status"], done["mean_return"], done["wall_s"]) == ("completed", 99.5, 10.0)
    assert rows(tmp_path, METRICS)[0]["m"] == {"losses/value": 0.5, "charts/SPS": None}
    assert rows(tmp_path, EPISODES)[0] | {"t": 0} == {"step": 100, "t": 0, "return": 21.0, "length": 21}


def test_one_that_goes_on_counts_its_episodes_on(tmp_path: Path, clock: Clock) -> None:
    with contextlib.closing(TrainingRun(tmp_path, clock=clock)) as first:
        first.start("ppo", "X", 1, 100)
        for step in (10, 20, 30):
            first.episode(step, 1.0, 10)
        first.done("stopped", 30, None)
    with contextlib.closing(TrainingRun(tmp_path, clock=clock)) as again:
        again.start("ppo", "X", 1, 100, step=20)  # the last one is played again
        again.episode(40, 1.0, 20)
        again.done("completed", 40, None)
    told = [row["episodes"] for row in rows(tmp_path, EVENTS) if "episodes" in row]
    assert told[-1] == 3


def test_rows_wait_for_company_but_not_for_long(tmp_path: Path, run: TrainingRun, clock: Clock) -> None:
    run.start("ppo", "X", 1, 10)
    clock.now = 1.0
    run.advance(1, never)
    run.metrics(2, {"a": 1.0})
    run.advance(2, never)
    assert rows(tmp_path, METRICS) == []
    clock.now = 1.3
    run.advance(2, never)
    assert len(rows(tmp_path, METRICS)) == 1
    for step in range(5000):
        run.metrics(step, {"losses/some_loss": 1.0})
    run.advance(3, never)
    assert len(rows(tmp_path, METRICS)) == 5001


def test_checkpoints_are_due_by_time_and_on_request(tmp_path: Path, run: TrainingRun, clock: Clock) -> None:
    saved: list[int] = []
    run.start("ppo", "X", 1, 10)
    run.advance(1, never)
    clock.now = 30.0
    run.advance(2, lambda: saved.append(2))
    run.advance(3, never)
    ask(tmp_path, "checkpoint")
    run.advance(4, lambda: saved.append(4))
    run.advance(5, never)
    assert saved == [2, 4]
    assert [row["step"] for row in rows(tmp_path, EVENTS) if row["event"] == "checkpoint"] == [2, 4]


def test_a_paused_training_waits_keeps_on_request_and_counts_no_time(
    tmp_path: Path, run: TrainingRun, clock: Clock
) -> None:
    run.start("ppo", "X", 1, 10)
    saved = threading.Event()
    ask(tmp_path, "pause")
    thread = threading.Thread(target=run.advance, args=(5, saved.set))
    thread.start()
    wait_for(lambda: "paused" in names(tmp_path))
    clock.now = 100.0
    ask(tmp_path, "checkpoint")
    assert saved.wait(10)
    assert thread.is_alive()
    ask(tmp_path, "resume")
    thread.join(10)
    assert not thread.is_alive()
    clock.now = 101.0
    run.done("completed", 10, None)
    assert rows(tmp_path, EVENTS)[-1]["wall_s"] == 1.0
    assert [n for n in names(tmp_path) if n != "progress"] == [
        "start",
        "paused",
        "checkpoint",
        "resumed",
        "done",
    ]


def wait_for(condition: Any) -> None:
    pause = threading.Event()
    for _ in range(1000):
        if condition():
            return
        pause.wait(0.01)
    raise AssertionError("it did not happen within 10 s")


def test_stopping_ends_a_pause(tmp_path: Path, run: TrainingRun) -> None:
    run.start("ppo", "X", 1, 10)
    ask(tmp_path, "pause")
    ask(tmp_path, "stop")
    run.advance(1, never)
    assert run.stop_requested
    assert "paused" not in names(tmp_path)


@pytest.mark.parametrize("line", [b"{", b"[]\n", b'{"do": 3}\n', b"\xff\n", b'{"do": "dance"}\n', b"\n\n"])
def test_what_makes_no_sense_is_no_wish(tmp_path: Path, run: TrainingRun, line: bytes) -> None:
    run.start("ppo", "X", 1, 10)
    (tmp_path / CONTROL).write_bytes(line)
    run.advance(1, never)
    assert not run.stop_requested
    if not line.endswith(b"\n"):
        (tmp_path / CONTROL).write_bytes(line + b"}\n")
    ask(tmp_path, "stop")
    run.advance(2, never)
    assert run.stop_requested


def test_only_wishes_to_this_training_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(tmp_path, "stop")
    first = (tmp_path / CONTROL).stat().st_size
    with contextlib.closing(TrainingRun(tmp_path)) as later:
        later.advance(1, never)
        assert not later.stop_requested
    ask(tmp_path, "stop")
    # Who started it says where its wishes begin: this one came while it was still importing.
    monkeypatch.setenv(CONTROL_AT, str(first))
    with contextlib.closing(TrainingRun(tmp_path)) as told:
        told.advance(1, never)
        assert told.stop_requested


def test_no_such_wish(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="pause, resume, checkpoint or stop, not 'dance'"):
        ask(tmp_path, "dance")
    assert not (tmp_path / CONTROL).exists()


@given(
    done=st.lists(st.integers(0, 9), max_size=4),
    half=st.binary(max_size=200).filter(lambda b: b"\n" not in b),
)
def test_a_line_that_an_earlier_training_left_unfinished_is_taken_away(
    tmp_path_factory: pytest.TempPathFactory, done: list[int], half: bytes
) -> None:
    folder = tmp_path_factory.mktemp("run")
    whole = b"".join(b'{"event":"x","n":%d}\n' % n for n in done)
    (folder / EVENTS).write_bytes(whole + half)
    with contextlib.closing(TrainingRun(folder)) as run:
        run.warn("on")
    assert (folder / EVENTS).read_bytes().startswith(whole)
    assert [row.get("n") for row in rows(folder, EVENTS)] == [*done, None]


def test_an_unfinished_line_may_be_long(tmp_path: Path) -> None:
    (tmp_path / METRICS).write_bytes(b'{"step":1}\n' + b"x" * 200_000)
    TrainingRun(tmp_path).close()
    assert (tmp_path / METRICS).read_bytes() == b'{"step":1}\n'


def test_who_reads_along_is_told_in_words(tmp_path: Path) -> None:
    spoken = io.StringIO()
    with contextlib.closing(TrainingRun(tmp_path, spoken)) as run:
        run.start("ppo", "X", 1, 2000, step=1000)
        run.advance(1500, never)
        run.done("stopped", 1500, 3.0)
    assert "Continuing from step 1,000 with ppo in X, seed 1, 2,000 steps" in spoken.getvalue()
    assert "stopped after 1,500 steps" in spoken.getvalue()
    assert rows(tmp_path, EVENTS)[0]["step"] == 1000


def in_process(folder: Path, code: str, **options: Any) -> subprocess.Popen[str]:
    program = "import sys\nfrom pathlib import Path\nfrom mosaic_worker.training import TrainingRun\n"
    program += f"run = TrainingRun(Path({str(folder)!r}), sys.stdout)\n" + textwrap.dedent(code)
    path = str(Path(mosaic_worker.__file__).resolve().parents[1])
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def test_a_reader_that_goes_away_stops_it(tmp_path: Path) -> None:
    code = """
        run.start("ppo", "X", 1, 10)
        sys.stdin.read()
        run.warn("are you there?")
        run.done("stopped", 1, None)
        run.close()
        sys.exit(130 if run.stop_requested else 0)
    """
    with in_process(tmp_path, code, stdin=subprocess.PIPE) as process:
        assert process.stdout and process.stdin and process.stderr
        process.stdout.readline()
        process.stdout.close()
        process.stdin.close()
        assert process.wait(30) == 130
        assert process.stderr.read() == ""
    assert names(tmp_path)[-1] == "done"


def test_the_first_signal_asks_and_the_second_ends(tmp_path: Path) -> None:
    code = """
        import time
        with run.stop_on_signals():
            run.start("ppo", "X", 1, 10)
            while not run.stop_requested:
                time.sleep(0.01)
            run.warn("one more and it is over")
            while True:
                time.sleep(0.01)
    """
    with in_process(tmp_path, code) as process:
        wait_for(lambda: (tmp_path / EVENTS).exists() and "start" in names(tmp_path))
        process.send_signal(signal.SIGTERM)
        wait_for(lambda: names(tmp_path)[-1] == "warning")
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == -signal.SIGTERM


def test_what_a_full_disk_refuses_is_kept_and_the_reason_is_told(tmp_path: Path) -> None:
    code = """
        import resource
        run.start("ppo", "X", 1, 10)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            for step in range(2000):
                run.metrics(step, {"losses/value": 0.5})
            run.flush()
        except OSError as error:
            run.fail("failed", f"the run folder cannot be written: {error.strerror}")
            run.close()
            sys.exit(1)
    """
    with in_process(tmp_path, code) as process:
        assert process.stderr
        assert process.wait(30) == 1
        assert process.stderr.read() == "error: the run folder cannot be written: File too large\n"
    whole, _, half = (tmp_path / METRICS).read_bytes().rpartition(b"\n")
    steps = [json.loads(line)["step"] for line in whole.splitlines()]
    assert steps == list(range(len(steps))) and len(steps) > 300
    assert len(half) < 100
    assert rows(tmp_path, EVENTS)[-1]["kind"] == "failed"


def test_what_could_not_be_written_follows_when_it_can(tmp_path: Path) -> None:
    code = """
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
        for step in range(2000):
            run.metrics(step, {"losses/value": 0.5})
        try:
            run.flush()
        except OSError:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        run.close()
    """
    with in_process(tmp_path, code) as process:
        assert process.wait(30) == 0
    assert [row["step"] for row in rows(tmp_path, METRICS)] == list(range(2000))
