"""The palette, the theme, what is remembered, and the end of the program."""

from __future__ import annotations

from tests.support.processes import strangers
from tests.support.waiting import eventually
from tests.window.conftest import Start
from tests.window.program import Program

AT_ONCE_S = 20.0
"""Within this all is gone, on a machine that is busy with other things."""


def palette(window: Program, words: str, found: str) -> None:
    """Open the palette, type, and choose what it offers first."""
    window.press("ctrl+shift+p")
    window.until("one can type", lambda state: state["focus"][:1] == ["palette-search"])
    window.type(words)

    def offered() -> bool:
        if window.text("palette-search") != words:
            return False
        return any(
            row["current"] and row["texts"][0] == found for row in window.ask("rows", name="palette-list")
        )

    window.wait(offered, f"{found!r} is offered for {words!r}")
    window.press("Return")


def brightness(window: Program) -> float:
    """Of an empty part of the rail."""
    left, top, width, height = window.ready("rail").rect
    return window.desktop.brightness(left + 4, top + height - 120, width - 8, 40)


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


def busy(window: Program, card: str, *operators: str) -> Program:
    """Have the sessions play that a card on Home starts."""
    window.click(f"start-{card}")
    window.until_page("operators")
    for operator in operators:
        running = f"{operator} plays"
        window.until_text("operator-status", lambda text: text == "Running", running, f"card-{operator}")
        assert len(window.offspring.hosts(operator)) == 1
    assert len(window.offspring.pids()) >= 1 + 2 * len(operators), "a host and a worker for each"
    return window


def test_ctrl_q_ends_everything(window: Program) -> None:
    busy(window, "duel", "ppo", "random")
    played = len(window.until_recorded(1, "random"))
    assert window.quit() == 0
    window.offspring.assert_none(AT_ONCE_S)
    assert not strangers(window.runtime)
    assert not window.log
    assert len(window.episodes("random")) >= played
    (folder,) = window.run_folders()
    assert '"status": "running"' not in (folder / "run.json").read_text()


def test_a_killed_window_takes_all_with_it(window: Program) -> None:
    busy(window, "soccer", "soccer")
    window.kill()
    window.offspring.assert_none(AT_ONCE_S)
    eventually(lambda: not strangers(window.runtime), "no socket is left", AT_ONCE_S)
