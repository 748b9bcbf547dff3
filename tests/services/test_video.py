"""Videos that players show, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gym_gui.core.errors import UsageError
from gym_gui.services.video import VideoError, write_video

av: Any = pytest.importorskip("av")


def picture(shade: int, height: int = 31, width: int = 45) -> NDArray[np.uint8]:
    return np.full((height, width, 3), shade, np.uint8)


def test_every_picture_is_in_it_and_pixels_are_enlarged(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    shades = [0, 80, 160, 240]
    assert write_video(path, (picture(s) for s in shades), fps=5) == 4
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        assert float(stream.average_rate) == 5
        assert stream.codec_context.name == "h264" and stream.pix_fmt == "yuv420p"
        assert stream.height % 2 == 0 and stream.width % 2 == 0 and stream.height > 400
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(stream)]
    assert [round(float(f[:100, :100].mean())) for f in frames] == pytest.approx(shades, abs=6)
    assert [p.name for p in tmp_path.iterdir()] == ["a.mp4"]


def test_pictures_of_other_sizes_are_fitted_in(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    assert write_video(path, [picture(10), picture(20, 60, 20)], fps=10) == 2


def test_bad_places_and_nothing_to_write(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is not an \.mp4 file"):
        write_video(tmp_path / "a.avi", [picture(1)], 5)
    with pytest.raises(UsageError, match="no folder"):
        write_video(tmp_path / "b" / "a.mp4", [picture(1)], 5)
    with pytest.raises(UsageError, match="no picture"):
        write_video(tmp_path / "a.mp4", [], 5)
    (tmp_path / "c.mp4").mkdir()
    with pytest.raises(VideoError, match="cannot be written"):
        write_video(tmp_path / "c.mp4", [picture(1)], 5)


def test_what_fails_half_way_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(b"old")

    def broken() -> Iterator[NDArray[np.uint8]]:
        yield picture(1)
        raise UsageError("the environment fails")

    with pytest.raises(UsageError, match="fails"):
        write_video(path, broken(), 5)
    assert path.read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 1
