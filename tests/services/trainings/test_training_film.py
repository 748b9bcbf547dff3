"""Films of policies, as trainings write them, are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gym_gui.services.trainings.training_film import FilmError, read_film, step_of
from gym_gui.services.video import write_video


@pytest.fixture
def film(tmp_path: Path) -> Path:
    path = tmp_path / "step-000020000.mp4"
    frames = [np.full((64, 48, 3), 20 * n, np.uint8) for n in range(8)]
    write_video(path, frames, 10.0)
    return path


def test_a_film_is_read(film: Path) -> None:
    read = read_film(film)
    assert (len(read.frames), read.fps, read.step) == (8, 10.0, 20_000)
    height, width, colors = read.frames[0].shape
    assert height / width == pytest.approx(64 / 48, rel=0.02) and colors == 3
    assert abs(float(read.frames[5].mean()) - 100) < 6


def test_a_picture_is_a_film_of_one(tmp_path: Path) -> None:
    path = tmp_path / "step-000000100.png"
    Image.new("RGB", (40, 30), "#ff3366").save(path)
    read = read_film(path)
    assert [frame.shape for frame in read.frames] == [(30, 40, 3)] and read.step == 100


def test_what_is_no_film_is_told(tmp_path: Path) -> None:
    (tmp_path / "step-1.mp4").write_bytes(b"nothing of the kind")
    for name in ("step-1.mp4", "gone.mp4"):
        with pytest.raises(FilmError, match="cannot be shown"):
            read_film(tmp_path / name)
    assert step_of(Path("other.png")) is None
