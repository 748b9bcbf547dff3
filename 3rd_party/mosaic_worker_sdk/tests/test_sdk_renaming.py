"""Texts in other names: what is replaced, what stays, and that nothing is lost on the way."""

from __future__ import annotations

import json

import pytest

from mosaic_worker.renaming import Names

NAMES = Names({"left": "dibeb", "drop": "kepib"}, {"end zone": "zekag", "zone": "viroz", "box": "vitiv"})


@pytest.mark.parametrize(
    ("usual", "other"),
    [
        ("- left: turn left", "- dibeb: turn left"),
        ("Turn left. Left: a wall", "Turn left. Left: a wall"),
        ('so does "drop" with it (drop)', 'so does "kepib" with it (kepib)'),
        ("the end zone, a zone", "the zekag, a viroz"),
        ("Boxes and a Box, boxer, green_box", "Vitivs and a Vitiv, boxer, green_box"),
        ("box's lid", "vitiv's lid"),
    ],
)
def test_actions_where_they_are_meant_and_things_wherever_they_stand(usual: str, other: str) -> None:
    assert NAMES.text(usual) == other


def test_marks_of_a_board_replace_nothing_in_a_text() -> None:
    board = Names({"column 1": "column P"}, marks={"column 1": "P", "piece X": "L"}, drawn=True)
    assert board.text('"column 1" is free') == '"column 1" is free'
    assert board.action("column 1") == "column P" and board.action("pass") == "pass"
    assert board.listed == ("column 1: P", "piece X: L")


def test_they_travel_as_plain_data() -> None:
    assert Names.of(json.loads(json.dumps(NAMES.to_json()))) == NAMES
    assert not Names.of("both") and not Names.of({"rename": "both"}) and bool(NAMES)
    assert Names().text("a box") == "a box"
