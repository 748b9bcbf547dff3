"""The window on small screens in a frame as window managers make it, on large ones, and enlarged twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.window.conftest import Start
from tests.window.desktop import Desktop, missing
from tests.window.program import Program

PAGES = ("home", "play", "operators", "agents", "train", "results")


class Screen(NamedTuple):
    """A screen, and how much larger than usual everything is on it."""

    width: int
    height: int
    scale: int = 1

    def __str__(self) -> str:
        return f"{self.width}x{self.height}" + ("" if self.scale == 1 else f"-at-{100 * self.scale}")


SMALL = (Screen(1366, 768), Screen(1024, 700))
ANY = (Screen(1024, 700), Screen(3840, 2160), Screen(2048, 1400, 2), Screen(3840, 2160, 2))


@pytest.fixture
def desktop(request: pytest.FixtureRequest) -> Iterator[Desktop]:
    """A screen of the test's own."""
    if absent := missing():
        pytest.skip(f"not installed: {', '.join(absent)} (xvfb, openbox, xdotool, x11-utils, imagemagick)")
    screen: Screen = request.param
    also = {} if screen.scale == 1 else {"QT_SCALE_FACTOR": str(screen.scale)}
    result = Desktop((screen.width, screen.height), framed=screen in SMALL, also=also)
    yield result
    result.close()


def until_on_screen(window: Program, name: str) -> None:
    """Wait until something can be clicked, and all of it lies on the screen."""
    width, height = window.desktop.size

    def inside() -> bool:
        left, top, wide, high = window.ready(name).rect
        return left >= 0 and top >= 0 and left + wide <= width and top + high <= height

    window.wait(inside, f"{name} lies on the screen")


@pytest.mark.parametrize("desktop", SMALL, ids=str, indirect=True)
def test_settings_and_log_lie_on_the_screen(start: Start, desktop: Desktop) -> None:
    window = start()
    for name in ("go-settings", "toggle-log"):
        until_on_screen(window, name)
    assert window.quit() == 0


@pytest.mark.full
@pytest.mark.parametrize("desktop", ANY, ids=str, indirect=True)
def test_every_page_and_a_comparison_with_the_mouse(start: Start, desktop: Desktop) -> None:
    window = start()
    for page in (*PAGES, "settings", "home"):
        window.click(f"go-{page}")
        window.until_page(page)
        until_on_screen(window, "toggle-log")
    window.click("start-duel")
    window.until_page("operators")
    window.until_recorded(1)  # the card has them play at once
    until_on_screen(window, "operators-stop")
    window.click("operators-run")
    window.until_text("operators-run", lambda text: text == "Run", "all hold")
    for name in ("operators-speed", "operator-environment", "operator-enlarge"):
        until_on_screen(window, name)
    window.click("operator-enlarge")
    window.click("operator-enlarge")
    window.click("operators-stop")
    assert window.quit() == 0
    window.end_trainer()  # which the Train page has begun
