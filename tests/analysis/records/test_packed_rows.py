"""Compressed rows are read as if they were not."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from backports import zstd
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_gui.analysis.records.jsonl import open_rows, packed, read_lines
from gym_gui.analysis.records.packed_rows import FRAME, PackedRowsError, pack, unpacked
from gym_gui.core.errors import UsageError

LINES = [
    b'{"episode_index":%d,"state_sha":"%016x"}\n' % (i, i * 0x9E3779B97F4A7C15 % 2**64) for i in range(60_000)
]
ROWS = b"".join(LINES)
PACKED = b"".join(pack(io.BytesIO(ROWS)))


def placed(tmp_path: Path, data: bytes) -> Path:
    """Where the rows would stand, of which there is only the compressed file."""
    path = tmp_path / "operators" / "op" / "steps.jsonl"
    path.parent.mkdir(parents=True)
    packed(path).write_bytes(data)
    return path


def test_rows_of_several_frames_come_back_line_by_line(tmp_path: Path) -> None:
    assert len(ROWS) > 2 * FRAME
    path = placed(tmp_path, PACKED)
    found = list(read_lines(path))
    assert [line.value["episode_index"] for line in found] == list(range(60_000))
    with open_rows(path) as file:
        for line in (found[41_234], found[3], found[-1]):
            file.seek(line.start)
            assert file.readline() == LINES[line.number - 1]
    path.write_bytes(LINES[0])
    assert len(list(read_lines(path))) == 1, "where both are there the plain file counts"


def test_every_program_for_zstandard_reads_them() -> None:
    assert zstd.decompress(PACKED) == ROWS


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(ROWS) + 9), st.integers(0, 3 << 16)), max_size=6))
def test_any_part_is_what_stands_there(places: list[tuple[int, int]]) -> None:
    with unpacked(io.BytesIO(PACKED)) as file:
        for start, length in places:
            assert file.seek(start) == start
            assert file.read(length) == ROWS[start : start + length]
        assert file.seek(0, io.SEEK_END) == len(ROWS)


def test_a_file_without_a_table_is_read_too(tmp_path: Path) -> None:
    path = placed(tmp_path, zstd.compress(ROWS))
    assert sum(1 for _ in read_lines(path)) == 60_000
    with open_rows(path) as file:
        file.seek(len(LINES[0]))
        assert file.readline() == LINES[1]


def test_no_rows_and_no_file() -> None:
    with unpacked(io.BytesIO(b"".join(pack(io.BytesIO(b""))))) as file:
        assert file.read() == b""


def altered(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@pytest.mark.parametrize(
    "data",
    [
        altered(PACKED, 5000),  # a bit has turned
        PACKED[:400_000] + PACKED[400_100:],  # a part is missing
        PACKED[:-200] + PACKED[-9:],
        PACKED[:-9] + b"\xff\xff\xff\x7f" + PACKED[-5:],  # a table of two billion frames
        altered(PACKED, len(PACKED) - 10),  # a frame of gigabytes
        PACKED[:400_000],  # cut off, its table too
        zstd.compress(ROWS)[:-100],
        b"not compressed at all",
    ],
    ids=["turned", "missing", "table", "count", "large", "half", "stream", "foreign"],
)
def test_what_is_damaged_is_said_and_never_read_wrong(tmp_path: Path, data: bytes) -> None:
    path = placed(tmp_path, data)
    seen = 0
    with pytest.raises(UsageError, match=r"steps.jsonl cannot be read: its compressed rows are damaged"):
        for line in read_lines(path):
            assert line.value["episode_index"] == seen
            seen += 1
    with pytest.raises(PackedRowsError), open_rows(path) as file:
        file.seek(0, io.SEEK_END)
        file.seek(0)
        file.read()
