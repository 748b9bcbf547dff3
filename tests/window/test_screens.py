"""The first window on small screens, in a frame as window managers make it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.window.conftest import Start
from tests.window.desktop import Desktop, missing


@pytest.fixture(params=[(1366, 768), (1024, 700)], ids=["1366x768", "1024x700"])
def desktop(request: pytest.FixtureRequest) -> Iterator[Desktop]:
    """A small screen of the test's own."""
    if absent := missing():
        pytest.skip(f"not installed: {', '.join(absent)} (xvfb, openbox, xdotool, x11-utils, imagemagick)")
    result = Desktop(request.param, framed=True)
    yield result
    result.close()


def test_settings_and_log_lie_on_the_screen(start: Start, desktop: Desktop) -> None:
    window = start()
    width, height = desktop.size

    def inside(name: str) -> bool:
        left, top, wide, high = window.ready(name).rect
        return left >= 0 and top >= 0 and left + wide <= width and top + high <= height

    for name in ("go-settings", "toggle-log"):
        window.wait(lambda name=name: inside(name), f"{name} lies on the screen")
    assert window.quit() == 0
