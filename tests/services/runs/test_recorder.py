"""A run folder holds whole lines only, whatever happens, and goes on where it was cut off."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gym_gui.core.errors import UsageError
from gym_gui.services.run_lock import is_being_written
from gym_gui.services.runs.recorder import (
    COMPLETED,
    Recorder,
    RecordingError,
    check_writable,
    read_header,
)
from gym_gui.services.runs.run_files import Appender

HEADER = {"experiment": {"operators": [{"id": "op"}], "execution": {}}}


def block(index: int, rows: int = 3, status: str = "completed") -> tuple[bytes, bytes]:
    """Rows and line of an episode, as the engine gives them."""
    shas = [f"{index:08x}{k:08x}" for k in range(rows)]
    steps = [
        {"episode_index": index, "step_index": k, "reward": 0.1, "state_sha": s} for k, s in enumerate(shas)
    ]
    whole = (shas[-1] if rows else "0" * 16) + "f" * 48
    episode = {"episode_index": index, "status": status, "trajectory_sha256": whole, "name": "é"}
    lines = [
        json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
        for row in (*steps, episode)
    ]
    return b"".join(lines[:-1]), lines[-1]


def begin(out: Path) -> Recorder:
    return Recorder.create(out, ["op"], HEADER)


def files(folder: Path) -> tuple[bytes, bytes]:
    home = folder / "operators" / "op"
    return (home / "steps.jsonl").read_bytes(), (home / "episodes.jsonl").read_bytes()


def test_a_run_begins_with_its_header_and_ends_with_it(tmp_path: Path) -> None:
    recorder = begin(tmp_path)
    header = read_header(recorder.folder)
    assert (header["status"], header["format"], header["run_id"]) == ("running", 2, recorder.folder.name)
    recorder.update(players={"op": "somebody"})
    assert read_header(recorder.folder)["players"] == {"op": "somebody"}
    recorder.close(COMPLETED, retries=[])
    header = read_header(recorder.folder)
    assert header["status"] == "completed" and header["finished_at"] >= header["started_at"]
    left = {path.name for path in recorder.folder.iterdir()}
    assert left == {"run.json", "operators"}


def test_an_episode_is_on_the_disk_when_it_was_recorded(tmp_path: Path) -> None:
    recorder = begin(tmp_path)
    expected = (b"", b"")
    for index in range(3):
        steps, episode = block(index)
        recorder.episode("op", steps, episode)
        expected = (expected[0] + steps, expected[1] + episode)
        assert files(recorder.folder) == expected
    recorder.close(COMPLETED)


def test_paid_calls_are_written_at_once_and_end_with_a_break(tmp_path: Path) -> None:
    recorder = begin(tmp_path)
    calls = recorder.folder / "operators" / "op" / "calls.jsonl"
    assert not calls.exists()
    recorder.call("op", b'{"a":1}')
    recorder.call("op", b'{"a":2}\n')
    assert calls.read_bytes() == b'{"a":1}\n{"a":2}\n'
    recorder.close(COMPLETED)


@pytest.mark.full
def test_a_thousand_operators_take_few_open_files(tmp_path: Path) -> None:
    names = [f"op_{i}" for i in range(1000)]
    operators = [{"id": name, "task": "CartPole-v1", "workers": {}} for name in names]
    experiment = {**HEADER["experiment"], "operators": operators}
    recorder = Recorder.create(tmp_path, names, {**HEADER, "experiment": experiment})
    steps, episode = block(0)
    for name in names:
        recorder.episode(name, steps, episode)
        recorder.call(name, b"{}")
    with os.scandir("/proc/self/fd") as handles:
        assert sum(os.path.realpath(h.path).startswith(str(recorder.folder)) for h in handles) < 400
    recorder.episode(names[0], *block(1))
    gone = recorder.folder / "operators" / names[1] / "steps.jsonl"
    gone.unlink()
    with pytest.raises(RecordingError):
        recorder.episode(names[1], *block(1))
    assert not gone.exists(), "it is not made anew, without what it held"
    recorder.close(COMPLETED)
    first, last = (
        (recorder.folder / "operators" / name / "episodes.jsonl").read_bytes()
        for name in (names[0], names[-1])
    )
    assert (first, last) == (episode + block(1)[1], episode)


# -- going on ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three episodes."""
    recorder = begin(tmp_path_factory.mktemp("written"))
    for index in range(3):
        recorder.episode("op", *block(index))
    recorder.close("stopped")
    return recorder.folder


def cut(folder: Path, name: str, size: int) -> None:
    os.truncate(folder / "operators" / "op" / f"{name}.jsonl", size)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_it_goes_on_from_a_cut_at_any_byte(written: Path, data: st.DataObject) -> None:
    steps, episodes = files(written)
    at_steps = data.draw(st.integers(len(block(0)[0]), len(steps)), "steps")
    at_episodes = data.draw(st.integers(len(block(0)[1]), len(episodes)), "episodes")
    check_cut(written, at_steps, at_episodes)


def test_it_goes_on_from_a_cut_at_every_byte_of_the_last_block(written: Path) -> None:
    steps, episodes = files(written)
    first = len(block(0)[0] + block(1)[0])
    for at in range(first, len(steps) + 1, 3):
        check_cut(written, at, len(block(0)[1] + block(1)[1]))
    for at in range(len(block(0)[1] + block(1)[1]), len(episodes) + 1):
        check_cut(written, len(steps), at)


def check_cut(written: Path, at_steps: int, at_episodes: int) -> None:
    steps, episodes = files(written)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(shutil.copytree(written, Path(place) / "run"))
        cut(folder, "steps", at_steps)
        cut(folder, "episodes", at_episodes)
        recorder, done = Recorder.reopen(folder)
        whole = [
            index
            for index in range(3)
            if sum(len(block(k)[0]) for k in range(index + 1)) <= at_steps
            and sum(len(block(k)[1]) for k in range(index + 1)) <= at_episodes
        ]
        assert done == {"op": set(whole)}
        assert files(folder) == (
            b"".join(block(k)[0] for k in whole),
            b"".join(block(k)[1] for k in whole),
        )
        for index in sorted({0, 1, 2} - set(whole)):
            recorder.episode("op", *block(index))
        recorder.close(COMPLETED)
        assert files(folder) == (steps, episodes)


def test_rows_of_an_unfinished_episode_are_dropped_wherever_they_stand(tmp_path: Path) -> None:
    recorder = begin(tmp_path)
    for index in (4, 1, 3):
        recorder.episode("op", *block(index))
    recorder.close("stopped")
    path = recorder.folder / "operators" / "op" / "episodes.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[2])
    again, done = Recorder.reopen(recorder.folder)
    assert done == {"op": {4, 3}}
    assert files(again.folder) == (block(4)[0] + block(3)[0], lines[0] + lines[2])
    again.close(COMPLETED)


def test_aborted_episodes_are_played_again_and_failed_ones_are_not(tmp_path: Path) -> None:
    recorder = begin(tmp_path)
    recorder.episode("op", *block(0, status="failed"))
    recorder.episode("op", *block(1, status="aborted"))
    recorder.episode("op", *block(2))
    recorder.episode("op", *block(3, rows=0, status="failed"))
    recorder.close("stopped")
    again, done = Recorder.reopen(recorder.folder)
    assert done == {"op": {0, 2, 3}} and again.failed == {"op": 2}
    assert files(again.folder)[0] == block(0)[0] + block(2)[0]
    again.close(COMPLETED)


def test_an_episode_that_no_session_could_play_counts_as_done(tmp_path: Path) -> None:
    recorder = begin(tmp_path)
    recorder.episode("op", b"", b'{"episode_index":0,"status":"failed","trajectory_sha256":null}\n')
    recorder.close("failed")
    again, done = Recorder.reopen(recorder.folder)
    assert done == {"op": {0}}
    again.close(COMPLETED)


def test_a_sound_run_is_reopened_as_it_is(written: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(written, tmp_path / "run")
    recorder, done = Recorder.reopen(folder)
    assert done == {"op": {0, 1, 2}} and files(folder) == files(written)
    assert read_header(folder)["status"] == "running"
    recorder.close(COMPLETED)
    assert read_header(folder)["run_id"] == written.name


# -- one writer --------------------------------------------------------------------------


def test_a_run_is_written_by_one_process(tmp_path: Path) -> None:
    recorder = begin(tmp_path)
    assert is_being_written(recorder.folder)
    with pytest.raises(UsageError, match="is being written by another process"):
        Recorder.reopen(recorder.folder)
    recorder.close("stopped")
    assert not is_being_written(recorder.folder)
    Recorder.reopen(recorder.folder)[0].close(COMPLETED)


def child(code: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **options)


KILLED = """
import os, signal, sys
from pathlib import Path
from gym_gui.services.runs.recorder import Recorder
recorder = Recorder.create(Path(sys.argv[1]), ["op"], {"experiment": {"operators": [{"id": "op"}]}})
recorder.episode("op", b'{"episode_index":0}\\n', b'{"episode_index":0,"status":"completed"}\\n')
print(recorder.folder, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_writer_that_was_killed_leaves_its_episodes_and_no_lock(tmp_path: Path) -> None:
    ended = child(KILLED, str(tmp_path))
    assert ended.returncode == -signal.SIGKILL
    folder = Path(ended.stdout.strip())
    assert not is_being_written(folder) and read_header(folder)["status"] == "running"
    recorder, done = Recorder.reopen(folder)
    assert done == {"op": {0}}
    recorder.close(COMPLETED)
    assert {path.name for path in folder.iterdir()} == {"run.json", "operators"}


# -- no room, no permission --------------------------------------------------------------

FILLING = """
import json, resource, sys
from pathlib import Path
from gym_gui.services.runs.recorder import Recorder, RecordingError
sys.path.insert(0, sys.argv[2])
from test_recorder import HEADER, block
for limit in map(int, sys.argv[3:]):
    recorder = Recorder.create(Path(sys.argv[1], str(limit)), ["op"], HEADER)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    for index in range(10_000):
        try:
            recorder.episode("op", *block(index, rows=7))
        except RecordingError as exc:
            said = [limit, index, str(exc), str(recorder.folder)]
            break
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(json.dumps(said))
"""
LIMITS = (3000, 3001, 3100, 3333, 4095)


def test_a_file_that_cannot_grow_keeps_whole_episodes(tmp_path: Path) -> None:
    ended = child(FILLING, str(tmp_path), str(Path(__file__).parent), *map(str, LIMITS))
    assert ended.returncode == 0, ended.stderr
    told = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [limit for limit, *_ in told] == list(LIMITS)
    for limit, count, words, place in told:
        assert words.startswith("the run folder cannot be written: File too large"), limit
        assert "--resume" in words, limit
        whole = [block(index, rows=7) for index in range(count)]
        assert whole, limit
        assert files(Path(place)) == (b"".join(s for s, _ in whole), b"".join(e for _, e in whole)), limit


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 512 KiB, where one may be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    if os.geteuid() != 0 or mount is None:
        pytest.skip("only root mounts a small disk")
    done = subprocess.run([mount, "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)], check=False)
    if done.returncode:
        pytest.skip("this machine mounts nothing")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_keeps_whole_episodes_and_room_for_last_words(small_disk: Path) -> None:
    recorder = begin(small_disk)
    count = 0
    with pytest.raises(RecordingError, match="No space left on device"):
        for count in range(10_000):  # the number it came to is wanted
            recorder.episode("op", *block(count, rows=50))
    whole = [block(index, rows=50) for index in range(count)]
    assert count > 10 and files(recorder.folder) == (
        b"".join(s for s, _ in whole),
        b"".join(e for _, e in whole),
    )
    recorder.free_reserve()
    recorder.episode("op", b"", block(count, rows=0, status="failed")[1])
    recorder.close("failed", problem="the disk is full")
    assert read_header(recorder.folder)["status"] == "failed"
    with pytest.raises(UsageError, match="No space left on device"):
        check_writable_of(small_disk)


def check_writable_of(place: Path) -> None:
    """Fill what is left, then ask."""
    with (place / "rest").open("wb", buffering=0) as file:
        while True:
            try:
                file.write(bytes(512))
            except OSError:
                break
    check_writable(place)


@pytest.mark.parametrize("below", ["file", "file/deeper"])
def test_a_file_in_place_of_the_folder_is_said(below: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for attempt in (begin, check_writable):
        with pytest.raises(UsageError) as caught:
            attempt(tmp_path / below)
        assert "cannot be written to" in caught.value.message and "--out" in caught.value.fix
    assert (tmp_path / "file").read_text() == "in the way"


UNASKED = """
import os, sys
from pathlib import Path
from gym_gui.core.errors import UsageError
from gym_gui.services.runs.recorder import Recorder, check_writable
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
for attempt in (check_writable, lambda out: Recorder.create(out, ["op"], {})):
    try:
        attempt(Path(sys.argv[1]))
    except UsageError as exc:
        print(exc)
"""


def test_a_folder_without_permission_is_said(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    ended = child(UNASKED, str(closed))
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert len(lines) == 2
    assert all("Permission denied. Choose another folder with --out" in line for line in lines)
    assert not list(closed.iterdir())


def test_asking_for_room_leaves_nothing(tmp_path: Path) -> None:
    check_writable(tmp_path / "not" / "there" / "yet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "is not a run folder: it has no run.json"),
        (b"{half", "cannot be read"),
        (b"[]", "is not a run description"),
        (b'{"run_id": "x"}', "is not a run description"),
    ],
)
def test_what_is_no_run_is_said(content: bytes | None, words: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "run.json").write_bytes(content)
    for read in (read_header, Recorder.reopen):
        with pytest.raises(UsageError, match=words):
            read(tmp_path)


def test_a_block_is_appended_whole_or_not_at_all(tmp_path: Path) -> None:
    appender = Appender(tmp_path / "file")
    assert appender.append(b"one\n") == 0 and appender.append(b"two\n") == 4
    appender.close()
    again = Appender(tmp_path / "file")
    assert again.append(b"three\n") == 8
    again.cut(4)
    assert (tmp_path / "file").read_bytes() == b"one\n"
    again.close()
