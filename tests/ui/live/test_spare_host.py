"""A session process waits before an operator wants one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gym_gui.services.process_usage import ProcessSampler
from gym_gui.ui import spare_host
from gym_gui.ui.context import AppContext
from gym_gui.ui.spare_host import maintain_spare_host
from tests.support.fixtures import offspring
from tests.support.processes import Offspring

from .test_live_operator import Live

__all__ = ["offspring"]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not wait for a quiet moment."""
    for name in ("FIRST_S", "AGAIN_S"):
        monkeypatch.setattr(spare_host, name, 0.0)


def waiting(context: AppContext) -> int:
    """The process that waits; 0 where there is none."""
    return context.spare_host.pid if context.spare_host is not None else 0


@pytest.mark.usefixtures("at_once")
def test_an_operator_gets_the_one_that_waits_and_another_waits_then(
    context: AppContext, live: Live, offspring: Offspring, qtbot: Any, finish: Callable[..., object]
) -> None:
    context.spawn(maintain_spare_host(context), "Keeping")
    qtbot.waitUntil(lambda: waiting(context) > 0)
    first, sampler = waiting(context), ProcessSampler()
    qtbot.waitUntil(lambda: sampler.sample().hosts == 1)
    assert sampler.sample(spare=first).hosts == 0, "no operator plays in it"
    operator = live(host=True)
    operator.player.start(42, paused=True)
    qtbot.waitUntil(lambda: operator.player.last_frame is not None)
    assert operator.player.link.pid == first
    qtbot.waitUntil(lambda: waiting(context) not in (0, first))
    finish(operator.player.close())
    finish(context.close())
    offspring.assert_none()


@pytest.mark.usefixtures("at_once")
def test_where_memory_is_short_none_waits_and_operators_play(
    context: AppContext, live: Live, offspring: Offspring, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spare_host, "LEAST_BYTES", 1 << 60)
    context.spawn(maintain_spare_host(context), "Keeping")
    qtbot.waitUntil(lambda: context.spare_host is not None)
    operator = live(host=True)
    operator.player.start(42, paused=True)
    qtbot.waitUntil(lambda: operator.player.last_frame is not None)
    assert offspring.find("gym_gui.host") == [operator.player.link.pid]
