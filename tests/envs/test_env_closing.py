"""An environment that cannot be closed costs a line in the log, not what was played in it."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from gym_gui.envs import make
from tests.support.arenas import Corridor
from tests.support.engine import play_task


class Jammed(Corridor):
    """A corridor whose door does not shut."""

    def close(self) -> None:
        raise OSError("the door is jammed")


JAMMED = f"{__name__}:Jammed"


async def test_episodes_stand_when_closing_fails(caplog: pytest.LogCaptureFixture) -> None:
    policy: Any = lambda seen: 1  # noqa: E731  # a bare function, as people write them
    sheet = await play_task(JAMMED, {"agent_0": policy}, range(3))
    assert [episode["status"] for episode in sheet.episodes.values()] == ["completed"] * 3
    assert "the door is jammed" in caplog.text


def test_the_reason_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    environment = make(JAMMED)
    with caplog.at_level(logging.WARNING, "gym_gui.envs.environment"):
        environment.close()
        environment.close()
    assert [record.getMessage() for record in caplog.records] == [
        f"{JAMMED} could not be closed: OSError: the door is jammed"
    ]
