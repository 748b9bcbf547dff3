"""Pictures through memory that two processes share: whole, the newest, and nothing left of them."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gym_gui.host.frames import LARGEST, BufferPositions, FrameReader, FrameWriter
from gym_gui.host.host_program import make_memory


@pytest.fixture
def ends():
    fd = make_memory()
    assert fd is not None
    reader, writer = FrameReader(fd), FrameWriter(os.dup(fd))
    yield reader, writer
    reader.close()
    writer.close()


def picture(height: int, width: int, seed: int = 0) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def shown(writer: FrameWriter, frame: NDArray[np.uint8], number: int) -> BufferPositions:
    places = writer.write(frame, number)
    assert places is not None
    return places


@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (400, 600), (1080, 1920), (2160, 3840)])
def test_a_picture_arrives_as_it_was(ends: tuple[FrameReader, FrameWriter], shape: tuple[int, int]):
    reader, writer = ends
    frame = picture(*shape)
    got = reader.newest(shown(writer, frame, 1))
    assert got is not None and got[1] == 1
    assert np.array_equal(got[0], frame) and got[0].flags.owndata


def test_pictures_may_change_their_size_at_any_time(ends: tuple[FrameReader, FrameWriter]):
    reader, writer = ends
    sizes = [(10, 10), (300, 300), (10, 10), (900, 1200), (1, 2), (301, 299)] * 3
    for number, size in enumerate(sizes, 1):
        frame = picture(*size, seed=number)
        got = reader.newest(shown(writer, frame, number))
        assert got is not None and got[1] == number and np.array_equal(got[0], frame)


def test_room_is_made_by_doubling(ends: tuple[FrameReader, FrameWriter]):
    reader, writer = ends
    for height in range(1, 2000, 7):
        shown(writer, picture(height, 100), height)
    largest = 2000 * 100 * 3
    assert os.fstat(reader.fd).st_size < 3 * 4 * largest


def test_the_newest_wins_and_is_told_once(ends: tuple[FrameReader, FrameWriter]):
    reader, writer = ends
    places = [shown(writer, np.full((4, 4, 3), n, np.uint8), n) for n in range(1, 9)]
    got = reader.newest(places[0])
    assert got is not None and got[1] == 8 and (got[0] == 8).all()
    assert reader.newest(places[-1]) is None


def test_pictures_need_not_lie_in_one_block_of_memory(ends: tuple[FrameReader, FrameWriter]):
    reader, writer = ends
    frame = picture(40, 60)[::-1, ::2]
    got = reader.newest(shown(writer, frame, 1))
    assert got is not None and np.array_equal(got[0], frame)


def test_what_is_too_large_is_refused_and_smaller_ones_still_go(ends: tuple[FrameReader, FrameWriter]):
    reader, writer = ends
    assert writer.write(np.zeros((LARGEST // 3 + 1, 1, 3), np.uint8), 1) is None
    assert reader.newest(shown(writer, picture(2, 2), 2)) is not None


def test_places_that_are_not_there_are_not_read(ends: tuple[FrameReader, FrameWriter]):
    reader, _ = ends
    for places in (BufferPositions(0, 0), BufferPositions(0, 4096), BufferPositions(1 << 60, 4096)):
        assert reader.newest(places) is None


def test_nobody_can_shrink_it_under_a_reader(ends: tuple[FrameReader, FrameWriter]):
    reader, writer = ends
    shown(writer, picture(100, 100), 1)
    with pytest.raises(PermissionError):
        os.ftruncate(reader.fd, 0)


def test_it_has_no_name(ends: tuple[FrameReader, FrameWriter]):
    reader, writer = ends
    before = set(Path("/dev/shm").iterdir())
    shown(writer, picture(100, 100), 1)
    assert set(Path("/dev/shm").iterdir()) == before
    assert os.fstat(reader.fd).st_nlink == 0


def test_a_picture_that_is_being_written_is_passed_over(ends: tuple[FrameReader, FrameWriter]):
    reader, writer = ends
    places = [shown(writer, np.full((4, 4, 3), n, np.uint8), n) for n in (1, 2, 3)][-1]
    memory = mmap.mmap(reader.fd, 0)
    at = places.base + 3 % 3 * places.stride
    memory[at : at + 16] = (4).to_bytes(8, "little") + (0).to_bytes(8, "little")  # begun, not done
    got = reader.newest(places)
    assert got is not None and got[1] == 2 and (got[0] == 2).all()


_WRITER = """
import sys
import numpy as np
from gym_gui.host.frames import FrameWriter
writer = FrameWriter(int(sys.argv[1]))
for number in range(1, 1_000_000):
    size = 40 + number % 400
    places = writer.write(np.full((size, size, 3), number % 251, np.uint8), number)
    if number % 10 == 0:
        print(places.base, places.stride, flush=True)
"""


def test_no_picture_is_torn_while_another_process_writes_as_fast_as_it_can():
    fd = make_memory()
    assert fd is not None
    reader = FrameReader(fd)
    process = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(fd)], pass_fds=(fd,), stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        numbers: list[int] = []
        for line in process.stdout:
            got = reader.newest(BufferPositions(*map(int, line.split())))
            if got is not None:
                frame, number = got
                assert frame.shape == (40 + number % 400,) * 2 + (3,) and (frame == number % 251).all()
                numbers.append(number)
            if len(numbers) == 300:
                break
        assert numbers == sorted(set(numbers))
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
        reader.close()
