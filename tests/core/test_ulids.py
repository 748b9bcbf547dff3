"""Names that sort by time."""

from __future__ import annotations

import re
import time

from gym_gui.core.ulids import new_ulid


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
