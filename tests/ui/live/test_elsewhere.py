"""Operators on this machine and on another one, side by side: a real sshd on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gym_gui.controllers.engine.operator_state import OperatorState
from gym_gui.ui.context import AppContext
from gym_gui.ui.live.operator_deck import OperatorDeck
from tests.support.remote import keep, profile
from tests.support.sshd import Sshd, sshd

from .conftest import baseline

pytestmark = pytest.mark.full


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Sshd]:
    with sshd(tmp_path / "sshd") as found:
        yield found


@pytest.fixture
def both(context: AppContext, finish: Any, server: Sshd, tmp_path: Path) -> Iterator[OperatorDeck]:
    keep(profile(server, tmp_path, "one"))
    deck = OperatorDeck(context, seed=4)
    deck.add(baseline("here"))
    deck.add(baseline("there", host="one"))
    yield deck
    finish(deck.close())
    deck.deleteLater()


def test_they_play_in_step_and_the_record_says_where(both: OperatorDeck, qtbot: Any) -> None:
    here, there = (operator.player for operator in both.operators)
    both.play.step_all()
    qtbot.waitUntil(lambda: all(p.last_view is not None and p.last_view.step == 1 for p in (here, there)))
    both.play.set_pace(None, lock_step=True)
    both.play.run()
    qtbot.waitUntil(lambda: both.recording is not None and both.recording.saved >= 4)
    both.play.pause()
    assert abs(here.tally.episodes - there.tally.episodes) <= 1
    folder = both.recording.folder if both.recording is not None else None
    both.stop_all()
    assert folder is not None
    qtbot.waitUntil(lambda: "finished_at" in json.loads((folder / "run.json").read_text()))
    machines = json.loads((folder / "run.json").read_text())["machines"]
    assert list(machines) == ["there"] and machines["there"]["host"] == "one"
    lines = [(folder / "operators" / name / "episodes.jsonl").read_text() for name in ("here", "there")]
    digests = [[json.loads(line)["trajectory_sha256"] for line in each.splitlines()][:2] for each in lines]
    assert digests[0] == digests[1]


def test_a_broken_connection_is_one_operators_alone(both: OperatorDeck, qtbot: Any, server: Sshd) -> None:
    here, there = (operator.player for operator in both.operators)
    both.play.set_pace(20.0, lock_step=True)
    both.play.run()
    qtbot.waitUntil(lambda: there.last_view is not None and there.last_view.step >= 3)
    server.end()
    qtbot.waitUntil(lambda: there.state is OperatorState.BROKEN)
    assert there.trouble == "The session was lost: the connection to one broke"
    steps = here.tally.decisions
    qtbot.waitUntil(lambda: here.tally.decisions > steps + 5)
    server.start()
    both.restart("there")
    qtbot.waitUntil(lambda: there.state is OperatorState.RUNNING)
