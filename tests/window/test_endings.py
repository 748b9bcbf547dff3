"""What ends on its own, what is ended, and that nothing is left of it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gym_gui.core.experiment.experiment_data import experiment_from_data
from gym_gui.services.operator_table import OperatorTable
from tests.support.fake_model_server import FakeModelServer, Reply
from tests.support.processes import strangers
from tests.support.waiting import LONG_S, eventually
from tests.window.conftest import Start
from tests.window.desktop import Desktop, missing
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


@pytest.fixture
def model() -> Iterator[FakeModelServer]:
    reply = Reply("<action>right</action>", tokens=(200, 10), after_s=0.2)
    with FakeModelServer(lambda _request: reply, models=("tiny-1",)) as server:
        yield server


def asker(model: FakeModelServer, task: str) -> dict[str, Any]:
    """An operator that asks the model for every move."""
    settings = {"client_name": "custom", "base_url": model.url, "model_id": "tiny-1"}
    player = {"type": "llm", "worker_id": "mosaic_llm_worker", "settings": settings}
    return {"id": "a", "task": task, "workers": {"agent": player}, "max_steps": 50}


def status_of(folder: Path) -> str:
    """What a run says of itself."""
    return str(json.loads((folder / "run.json").read_text())["status"])


@pytest.mark.full
def test_a_comparison_of_aborted_episodes_alone_is_not_completed(
    start: Start, model: FakeModelServer, tmp_path: Path
) -> None:
    """Its calls were paid for, so it is on record."""
    kept = tmp_path / "home" / "data" / "operators.json"
    kept.parent.mkdir(parents=True)
    data = {"operators": [asker(model, "CliffWalking-v1")], "execution": {"seeds": 7}}
    OperatorTable(tuple(experiment_from_data(data).operators), 7).save(kept)
    window = start()
    window.press("ctrl+3")
    window.until_page("operators")
    window.click("operators-run")
    window.wait(lambda: len(model.requests) > 3, "the model is asked")
    window.click("operators-stop")
    folder = window.wait(window.run_folders, "what was paid for is on record")[0]
    window.press("ctrl+n")  # the next comparison is a run of its own
    window.wait(lambda: status_of(folder) == "stopped", "the run says so")
    assert {episode["status"] for episode in window.episodes()} <= {"aborted"}
    window.press("ctrl+6")
    window.until_page("results")
    window.tab_to("run-table")
    window.press("Home")
    window.wait(lambda: "Stopped" in window.current_cells("run-table"), "the list says so")


class TestAltF4:
    """On a desktop whose window manager closes windows by that key."""

    @pytest.fixture
    def desktop(self) -> Iterator[Desktop]:
        if absent := missing():
            pytest.skip(f"not installed: {', '.join(absent)}")
        result = Desktop(framed=True)
        yield result
        result.close()

    @pytest.mark.full
    def test_a_run_that_is_paid_for_is_not_closed_unasked(
        self, start: Start, model: FakeModelServer, tmp_path: Path
    ) -> None:
        execution = {"num_episodes": 20, "seeds": 7, "concurrency": 1, "processes": 1}
        file = tmp_path / "paid.json"
        file.write_text(json.dumps({"operators": [asker(model, "FrozenLake-v1")], "execution": execution}))
        window = start("gui", file)
        window.click("script-run")
        window.wait(lambda: len(model.requests) > 1, "the model is asked")

        window.press("alt+F4")
        window.until("it asks", lambda s: s["dialog"] == "closing-dialog")
        window.press("Return")  # what the filled button says: Stay
        window.until("the window stays", lambda s: s["dialog"] == "")
        asked = len(model.requests)
        window.wait(lambda: len(model.requests) > asked, "the run goes on")

        window.press("alt+F4")
        window.click("closing-close")
        assert window.process.wait(LONG_S) == 0
        (folder,) = window.run_folders()
        assert status_of(folder) == "stopped"


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
