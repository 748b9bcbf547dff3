"""The time of a machine whose clock is off."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gym_gui.core import clock


@pytest.mark.parametrize(("told", "behind_h"), [("-7200", -2), ("3600", 1), ("", 0), ("x", 0), ("inf", 0)])
def test_what_a_clock_is_behind_is_added(told: str, behind_h: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(clock.BEHIND, told)
    before = datetime.now(UTC)
    off = clock.now() - timedelta(hours=behind_h)
    assert before <= off <= datetime.now(UTC)
