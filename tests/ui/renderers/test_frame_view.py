"""Pictures: crisp when pixels are big, smooth when small, copied, painted once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from PyQt6.QtGui import QColor
from pytestqt.qtbot import QtBot

from gym_gui.envs import make
from gym_gui.ui.renderers import FrameView
from gym_gui.ui.theme import RADIUS_CONTROL, Theme

Show = Callable[..., None]


def stripes(side: int) -> NDArray[np.uint8]:
    """One pixel red, one pixel blue, from left to right."""
    frame = np.zeros((side, side, 3), np.uint8)
    frame[:, 0::2, 0] = 255
    frame[:, 1::2, 2] = 255
    return frame


def colors(view: FrameView) -> set[str]:
    """Colors inside the picture, away from the rounded corners."""
    area = view.picture_rect().adjusted(RADIUS_CONTROL, RADIUS_CONTROL, -RADIUS_CONTROL, -RADIUS_CONTROL)
    image = view.grab(area).toImage()
    return {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(0, image.height(), 7)}


def test_big_pixels_keep_their_edges(theme: Theme, shown: Show) -> None:
    view = FrameView(theme)
    shown(view, 350, 350)
    view.show_frame(stripes(40))
    assert colors(view) == {"#ff0000", "#0000ff"}


def test_small_pixels_are_averaged(theme: Theme, shown: Show) -> None:
    view = FrameView(theme)
    shown(view, 300, 300)
    view.show_frame(stripes(900))
    mixed = [QColor(name) for name in colors(view)]
    assert not {"#ff0000", "#0000ff"} & {color.name() for color in mixed}
    assert all(40 < color.red() < 215 and 40 < color.blue() < 215 for color in mixed)


@pytest.mark.parametrize(("width", "height"), [(640, 200), (200, 640), (333, 217)])
def test_the_shape_is_kept_and_the_rest_is_stage(theme: Theme, shown: Show, width: int, height: int) -> None:
    view = FrameView(theme)
    shown(view, width, height)
    view.show_frame(np.full((60, 90, 3), 255, np.uint8))
    area = view.picture_rect()
    assert area.width() / area.height() == pytest.approx(1.5, rel=0.03)
    assert view.rect().contains(area)
    assert max(area.width() / width, area.height() / height) > 0.92
    image = view.grab().toImage()
    edge = (width // 2, 1) if area.top() > 2 else (1, height // 2)
    assert image.pixelColor(*edge).name() == theme.tokens.stage
    assert image.pixelColor(width // 2, height // 2).name() == "#ffffff"


def test_a_whole_number_of_pixels_is_taken_where_it_nearly_fills(theme: Theme, shown: Show) -> None:
    view = FrameView(theme)
    shown(view, 410, 410)
    view.show_frame(stripes(100))
    assert view.picture_rect().width() == 400


def test_the_frame_is_copied(theme: Theme, shown: Show) -> None:
    view = FrameView(theme)
    shown(view)
    frame = np.full((50, 50, 3), 200, np.uint8)
    view.show_frame(frame)
    frame[:] = 0
    assert colors(view) == {"#c8c8c8"}


def test_many_frames_before_a_paint_are_painted_once(theme: Theme, shown: Show, qtbot: QtBot) -> None:
    view = FrameView(theme)
    shown(view)
    painted: list[int] = []
    view.painted.connect(painted.append)
    for number in range(1, 21):
        view.show_frame(np.full((40, 40, 3), number, np.uint8), number)
    qtbot.waitUntil(lambda: bool(painted))
    view.repaint()  # An expose event is no new frame.
    assert painted == [20]
    assert colors(view) == {"#141414"}


def test_without_a_frame_the_hint_is_written(theme: Theme, shown: Show) -> None:
    view = FrameView(theme)
    shown(view)
    empty = view.grab().toImage()
    view.set_hint("Nothing runs", "Press Run.")
    assert view.accessibleDescription() == "Nothing runs Press Run."
    assert view.grab().toImage() != empty
    view.show_frame(stripes(10))
    view.clear()
    assert view.image() is None


def test_corners_are_those_of_the_card_in_both_themes(theme: Theme, shown: Show) -> None:
    view = FrameView(theme)
    shown(view, 200, 200)
    view.show_frame(np.full((200, 200, 3), 255, np.uint8))
    for mode in ("light", "dark"):
        theme.set_mode(mode)
        corner = view.grab().toImage().pixelColor(0, 0).name()
        assert corner == theme.tokens.panel


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros((4, 4), np.uint8),
        np.zeros((4, 4, 4), np.uint8),
        np.zeros((4, 4, 3)),
        np.zeros((0, 4, 3), np.uint8),
    ],
)
def test_what_is_no_picture_is_refused(theme: Theme, qtbot: QtBot, wrong: NDArray[np.uint8]) -> None:
    view = FrameView(theme)
    qtbot.addWidget(view)
    with pytest.raises(ValueError, match="Convert it to RGB first"):
        view.show_frame(wrong)


def test_a_real_environment_is_shown_as_it_is(theme: Theme, shown: Show) -> None:
    environment = make("MiniGrid-Empty-5x5-v0", render_mode="rgb_array")
    environment.adapter.reset(seed=1)
    picture = environment.picture()
    assert picture is not None
    view = FrameView(theme)
    shown(view, 2 * picture.shape[1], 2 * picture.shape[0])
    view.show_frame(picture)
    image = view.grab().toImage()
    for y in range(20, 300, 37):
        for x in range(20, 300, 41):
            assert image.pixelColor(x, y).getRgb()[:3] == tuple(picture[y // 2, x // 2])
    environment.close()


def test_every_screen_pixel_is_used_on_a_dense_screen() -> None:
    """In a process of its own: a scale belongs to a whole application."""
    script = (
        "import numpy as np\n"
        "from PyQt6.QtWidgets import QApplication\n"
        "app = QApplication([])\n"
        "from gym_gui.ui.renderers import FrameView\n"
        "from gym_gui.ui.theme import Theme\n"
        "view = FrameView(Theme('light'))\n"
        "view.resize(100, 100)\n"
        "frame = np.zeros((200, 200, 3), np.uint8)\n"
        "frame[:, 0::2] = 255\n"
        "view.show_frame(frame)\n"
        "image = view.grab().toImage()\n"
        "print(image.width(), [image.pixelColor(x, 100).red() for x in range(40, 46)])\n"
    )
    environment = {"QT_SCALE_FACTOR": "2", "QT_QPA_PLATFORM": "offscreen", "HOME": "/nonexistent"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split("\n")[0] == "200 [255, 0, 255, 0, 255, 0]", done.stderr


def test_what_nobody_sees_is_there_when_somebody_looks(theme: Theme, shown: Show) -> None:
    view = FrameView(theme)
    shown(view, 300, 300)
    view.hide()
    frame = np.full((30, 30, 3), (255, 0, 0), np.uint8)
    view.show_frame(frame)
    frame[:] = 0  # its memory may be used again
    assert view.filled
    view.show()
    assert colors(view) == {"#ff0000"}
