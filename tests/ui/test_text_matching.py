"""What the palette and the pickers find."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_gui.ui.text_matching import best, score

NAMES = ["CarRacing-v3", "CartPole-v1", "classic/chess_v6", "MiniGrid-DoorKey-8x8-v0", "Open experiment file"]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("cart", "CartPole-v1"),
        ("chess", "classic/chess_v6"),
        ("door 8x8", "MiniGrid-DoorKey-8x8-v0"),
        ("8x8 minigrid", "MiniGrid-DoorKey-8x8-v0"),
        ("crac", "CarRacing-v3"),
        ("exp", "Open experiment file"),
    ],
)
def test_the_best_comes_first(query: str, first: str) -> None:
    assert best(query, NAMES, str)[0] == first


def test_what_does_not_fit_is_left_out() -> None:
    assert best("zzz", NAMES, str) == []
    assert best("cart chess", NAMES, str) == []


def test_nothing_asked_is_everything_in_order() -> None:
    assert best("  ", NAMES, str) == NAMES
    assert best("", NAMES, str, limit=2) == NAMES[:2]


@given(st.text(), st.text())
def test_any_text_gets_a_score(query: str, text: str) -> None:
    assert score(query, text) >= 0.0


@given(st.text(alphabet=st.characters(codec="ascii", categories=("L", "N")), min_size=1))
def test_a_text_fits_itself(text: str) -> None:
    assert score(text, text) > 1.0
