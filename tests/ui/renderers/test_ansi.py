"""Terminal text, taken apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gym_gui.ui.renderers.ansi import Style, StyledText, parse


def plain(text: str) -> str:
    return "".join(run.text for run in parse(text))


def test_colors_weight_and_their_end() -> None:
    runs = parse("a\x1b[1;31mb\x1b[0mc\x1b[42md\x1b[49;97me")
    assert runs == [
        StyledText("a", Style()),
        StyledText("b", Style(foreground=1, bold=True)),
        StyledText("c", Style()),
        StyledText("d", Style(background=2)),
        StyledText("e", Style(foreground=15)),
    ]


def test_256_and_true_colors() -> None:
    runs = parse("\x1b[38;5;196mr\x1b[48;2;1;2;3mb\x1b[38;5;244mg\x1b[38;5;3my")
    assert [run.style.foreground for run in runs] == ["#ff0000", "#ff0000", "#808080", 3]
    assert [run.style.background for run in runs] == [None, "#010203", "#010203", "#010203"]


def test_other_sequences_are_dropped() -> None:
    assert plain("\x1b[2J\x1b[1;1Hon\x1b]0;title\x07ce\x1b[?25l") == "once"


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(exclude_characters="\x1b\r", exclude_categories=("Cs",))),
            st.integers(0, 120),
        )
    )
)
def test_no_character_is_lost(parts: list[tuple[str, int]]) -> None:
    text = "".join(f"\x1b[{code}m{words}" for words, code in parts)
    assert plain(text) == "".join(words for words, _ in parts)


@given(st.text())
def test_nothing_is_too_strange_to_be_parsed(text: str) -> None:
    assert isinstance(plain(text), str)
    assert isinstance(plain(f"\x1b[{text}m"), str)
