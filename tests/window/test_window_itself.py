"""The palette, the theme, and what is remembered."""

from __future__ import annotations

import pytest

from tests.window.conftest import Start
from tests.window.program import Program


def palette(window: Program, words: str, found: str) -> None:
    """Open the palette, type, and choose what it offers first."""
    window.press("ctrl+shift+p")
    window.until("one can type", lambda state: state["focus"][:1] == ["palette-search"])
    window.type(words)

    def offered() -> bool:
        return window.text("palette-search") == words and window.current_row("palette-list") == found

    window.wait(offered, f"{found!r} is offered for {words!r}")
    window.press("Return")


def brightness(window: Program) -> float:
    """Of an empty part of the rail."""
    left, top, width, height = window.ready("rail").rect
    return window.desktop.brightness(left + 4, top + height - 120, width - 8, 40)


@pytest.mark.full
def test_the_palette_leads_to_pages_and_switches_the_theme(start: Start) -> None:
    window = start()
    palette(window, "results", "Results")
    window.until_page("results")
    window.desktop.rest_pointer()
    light = brightness(window)
    assert light > 0.8
    palette(window, "dark", "Switch between light and dark")
    window.wait(lambda: brightness(window) < 0.3, "it is dark")
    assert window.quit() == 0

    again = start()
    again.until_page("results")
    assert brightness(again) < 0.3
    palette(again, "switch between", "Switch between light and dark")
    again.wait(lambda: abs(brightness(again) - light) < 0.05, "it is light again")
    palette(again, "cartpole-v1", "CartPole-v1")
    again.until_page("play")
    again.until_text("prompt", lambda text: "to begin" in text, "CartPole is there to be played")
