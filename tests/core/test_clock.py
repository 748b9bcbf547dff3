"""The time of a machine whose clock is off."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta

import pytest

from gym_gui.core import clock
from gym_gui.core.clock import new_ulid


@pytest.mark.parametrize(("told", "behind_h"), [("-7200", -2), ("3600", 1), ("", 0), ("x", 0), ("inf", 0)])
def test_what_a_clock_is_behind_is_added(told: str, behind_h: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(clock.BEHIND, told)
    before = datetime.now(UTC)
    off = clock.now() - timedelta(hours=behind_h)
    assert before <= off <= datetime.now(UTC)


def test_it_holds_the_time_in_its_first_ten_digits() -> None:
    before = time.time_ns() // 1_000_000
    name = new_ulid()
    after = time.time_ns() // 1_000_000
    assert re.fullmatch(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", name)
    digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    told = 0
    for digit in name[:10]:
        told = 32 * told + digits.index(digit)
    assert before <= told <= after


def test_later_names_sort_later_and_none_repeats() -> None:
    names: list[str] = []
    for _ in range(5):
        names += sorted(new_ulid() for _ in range(200))
        time.sleep(0.002)
    assert len(set(names)) == len(names)
    assert [name[:10] for name in names] == sorted(name[:10] for name in names)
