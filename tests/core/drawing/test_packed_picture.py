"""Compressed pictures come back as they were, and no larger than they say."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from gym_gui.core.drawing.packed_picture import PackedPicture, pack, unpack


def test_a_picture_comes_back() -> None:
    picture = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
    again = unpack(pack(picture))
    assert (again == picture).all() and again.flags.writeable
    assert unpack(pack(picture[:0])).shape == (0, 5, 3)


@pytest.mark.parametrize(("height", "width"), [(1, 1), (-1, -1), (1 << 20, 1 << 20), (100, 100)])
def test_one_of_another_size_than_it_says_is_refused(height: int, width: int) -> None:
    with pytest.raises(ValueError, match=r"picture|unpacks to more|cannot reshape"):
        unpack(PackedPicture(zlib.compress(bytes(1 << 16)), height, width))
