"""What ends on its own, what is ended, and that nothing is left of it."""

from __future__ import annotations

import os
import signal

import pytest

from tests.support.processes import strangers
from tests.support.waiting import eventually
from tests.window.program import Program

AT_ONCE_S = 20.0
"""Within this all is gone, on a machine that is busy with other things."""


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


@pytest.mark.full
def test_a_killed_host_its_restart_and_the_end_of_everything(window: Program) -> None:
    busy(window, "duel", "ppo", "random")
    kill_and_restart(window, "random", "ppo")
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


def kill_and_restart(window: Program, first: str, second: str) -> None:
    """Kill the host of one operator: its card says so, the other plays on, and it can be had back."""
    window.until_recorded(1, first)
    (victim,) = window.offspring.hosts(first)
    (other,) = window.offspring.hosts(second)
    os.kill(victim, signal.SIGKILL)
    sentence = window.until_text(
        "operator-trouble", bool, "the card says what happened", within=f"card-{first}"
    )
    assert "killed" in sentence or "signal 9" in sentence
    assert not window.widgets("operator-trouble", within=f"card-{second}")

    picture = window.ready("frameView", within=f"card-{second}").rect
    for _ in range(2):
        before = window.desktop.look_of(*picture)
        window.wait(lambda then=before: window.desktop.look_of(*picture) != then, f"{second} plays on")
    assert window.offspring.hosts(second) == [other]
    assert window.text("operator-status", within=f"card-{first}") == "Stopped"

    played = len(window.episodes(first))
    window.click("operator-restart", within=f"card-{first}")
    window.until_recorded(played + 1, first)
    assert not window.widgets("operator-trouble")
    (reborn,) = window.offspring.hosts(first)
    assert reborn != victim
    assert {episode["status"] for episode in window.episodes(second)} <= {"completed"}
