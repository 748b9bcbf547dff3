"""Rows are read as they are appended: each once, in order, whatever the pieces they come in."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_gui.core.errors import RunFormatError
from gym_gui.services.trainer.file_follower import CHUNK, Follower
from gym_gui.services.trainer.training_folder import EVENTS, METRICS
from mosaic_worker.training import TrainingRun

ROWS = st.lists(
    st.fixed_dictionaries({"step": st.integers(0, 10**9), "text": st.text(max_size=30)}), max_size=20
)


@given(rows=ROWS, cuts=st.lists(st.integers(0, 2000), max_size=12), limit=st.integers(1, 300))
def test_every_row_comes_once_wherever_the_file_is_cut(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], cuts: list[int], limit: int
) -> None:
    path = tmp_path_factory.mktemp("run") / EVENTS
    data = b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
    follower = Follower(path)
    seen: list[dict[str, Any]] = []
    ends = sorted(min(cut, len(data)) for cut in cuts)
    for begin, end in zip([0, *ends], [*ends, len(data)], strict=True):
        with path.open("ab") as file:
            file.write(data[begin:end])
        seen += follower.read(limit)
    while more := follower.read(limit):
        seen += more
    assert seen == rows
    assert (follower.position, follower.behind) == (len(data), 0)


def test_one_who_comes_later_goes_on_where_another_stood(tmp_path: Path) -> None:
    path = tmp_path / METRICS
    path.write_text('{"step": 1}\n{"step": 2}\n{"st')
    first = Follower(path)
    assert [row["step"] for row in first.read()] == [1, 2]
    assert first.behind == 4
    with path.open("a") as file:
        file.write('ep": 3}\n')
    assert Follower(path, first.position).read() == [{"step": 3}]


@pytest.mark.parametrize("line", ["nonsense", "[1]", '{"a": NaN}', "\x00" * 9, '{"a": 1', "3"])
def test_what_is_no_row_is_skipped(tmp_path: Path, line: str) -> None:
    path = tmp_path / EVENTS
    path.write_text(f'{{"a": 1}}\n{line}\n\n{{"a": 2}}\n')
    assert Follower(path).read() == [{"a": 1}, {"a": 2}]


def test_a_file_that_is_not_there_shrinks_or_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / EVENTS
    follower = Follower(path)
    assert (follower.read(), follower.behind) == ([], 0)
    path.write_text('{"a": 1}\n{"a": 2}\n')
    assert len(follower.read()) == 2
    path.write_text('{"a": 3}\n')
    assert follower.read() == [{"a": 3}]
    other = tmp_path / "other"
    other.write_text('{"a": 4}\n{"a": 5}\n{"a": 6}\n')
    other.replace(path)
    assert [row["a"] for row in follower.read()] == [4, 5, 6]


def test_fifty_thousand_points_a_second_are_followed_without_loss(tmp_path: Path) -> None:
    """Written by the SDK as fast as it can while they are read: all arrive, and faster than that."""
    steps, points = 20_000, 10
    values = {f"losses/loss_{i}": 0.1 * i for i in range(points)}
    run = TrainingRun(tmp_path)
    over = threading.Event()

    def write() -> None:
        for step in range(steps):
            run.metrics(step, values)
            if step % 50 == 0:
                run.flush()
        run.close()
        over.set()

    follower = Follower(tmp_path / METRICS)
    seen: list[dict[str, Any]] = []
    began = time.process_time()
    writer = threading.Thread(target=write)
    writer.start()
    while not over.is_set() or follower.behind:
        rows = follower.read()
        seen += rows
        if not rows:
            over.wait(0.01)
    writer.join()
    took = time.process_time() - began
    assert [row["step"] for row in seen] == list(range(steps))
    assert all(len(row["m"]) == points for row in seen)
    assert steps * points / took > 50_000


def test_a_file_that_comes_in_the_place_of_one_that_is_gone_is_read_whole(tmp_path: Path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1}\n{"step": 2}\n')
    follower = Follower(path)
    assert len(follower.read()) == 2
    path.unlink()
    assert follower.read() == []
    path.write_text('{"step": 3}\n{"step": 4}\n{"step": 5}\n')
    assert [row["step"] for row in follower.read()] == [3, 4, 5]


def test_long_lines_and_long_files_come_in_portions(tmp_path: Path) -> None:
    path = tmp_path / METRICS
    long = {"text": "x" * (3 * CHUNK)}
    short = [{"step": k, "text": "y" * 100} for k in range(30_000)]
    path.write_text("".join(json.dumps(row) + "\n" for row in [*short, long, {"step": 1}]) + "half")
    follower, portions = Follower(path), list[list[dict[str, Any]]]()
    while rows := follower.read():
        portions.append(rows)
    assert [row for rows in portions for row in rows] == [*short, long, {"step": 1}]
    assert len(portions) > 3, "taken in at once, it would hold everybody else up"


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_text('{"step": 1}\n')
    (tmp_path / METRICS).symlink_to(tmp_path / "other")
    with pytest.raises(RunFormatError, match=METRICS):
        Follower(tmp_path / METRICS).read()
    with pytest.raises(RunFormatError, match=METRICS):
        Follower(tmp_path / METRICS).read_end(100)


def test_of_a_log_the_end_is_read_then_what_follows(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    log = Follower(path)
    assert log.read_end(20) == (b"", False)
    path.write_text("first\nsec")
    assert log.read_end(20) == (b"first\nsec", False)
    with path.open("a") as file:
        file.write("ond\n")
    assert log.read_end(20) == (b"ond\n", False)
    with path.open("a") as file:
        file.write("a line that is left out\nthe last line\n")
    assert log.read_end(20) == (b"the last line\n", True), "a great deal at once: only its end is shown"
    assert log.read_end(20) == (b"", False)
    path.write_text("anew\n")
    assert log.read_end(20) == (b"anew\n", True)
    path.unlink()
    assert log.read_end(20) == (b"", True)
    assert Follower(path).read_end(20) == (b"", False)
