"""A session host that is killed: its card says so, nothing else is touched, and it can be had back."""

from __future__ import annotations

import os
import signal

from tests.window.program import Program


def test_a_killed_host_and_restart(window: Program) -> None:
    window.press("ctrl+3")
    window.until_page("operators")
    window.press("ctrl+n")
    window.ready("card-random")
    window.press("ctrl+n")
    first, second = operators(window)
    window.press("ctrl+r")
    window.until_recorded(1, first)
    window.until_recorded(1, second)

    (victim,) = window.offspring.hosts(first)
    (other,) = window.offspring.hosts(second)
    os.kill(victim, signal.SIGKILL)
    sentence = window.until_text(
        "operator-trouble", bool, "the card says what happened", within=f"card-{first}"
    )
    assert "killed" in sentence or "signal 9" in sentence
    assert not window.widgets("operator-trouble", within=f"card-{second}")

    count = len(window.episodes(second))
    window.until_recorded(count + 2, second)
    assert window.offspring.hosts(second) == [other]
    assert window.text("operator-status", within=f"card-{first}") == "Stopped"

    before = len(window.episodes(first))
    window.click("operator-restart", within=f"card-{first}")
    window.until_recorded(before + 1, first)
    assert not window.widgets("operator-trouble")
    (reborn,) = window.offspring.hosts(first)
    assert reborn != victim
    assert {episode["status"] for episode in window.episodes(second)} == {"completed"}


def operators(window: Program) -> tuple[str, str]:
    """Ids of the two operators whose cards are shown."""
    window.wait(lambda: len(cards(window)) == 2, "there are two cards")
    first, second = cards(window)
    return first, second


def cards(window: Program) -> list[str]:
    """Ids of the operators whose cards are shown, in the order of their places."""
    names = ("random", *(f"random_{n}" for n in range(1, 9)), *(f"random-{n}" for n in range(1, 9)))
    return [name for name in names if window.widgets(f"card-{name}")]
