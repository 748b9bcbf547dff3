"""Tables in a terminal: nothing is cut off and nothing left out, however narrow it is."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from gym_gui.core.terminal import Heading, console, print_table

_HEADINGS = [Heading("Operator", words=True), *(Heading(f"Figure {i}") for i in range(8))]


def _printed(headings: list[Heading], rows: list[list[str]], width: int, title: str = "") -> list[str]:
    out = io.StringIO()
    cells = [[Text(each) for each in row] for row in rows]
    print_table(console(file=out, width=width), headings, cells, title=title)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_each_figure_stands_whole_beside_the_name_of_its_row(width: int) -> None:
    rows = [["lean", *(f"{i}.{i}{i} [0.{i}, 9.{i}]" for i in range(8))]]
    lines = _printed(_HEADINGS, rows, width)
    assert max(map(len, lines)) <= width
    for figure in rows[0][1:]:
        (line,) = [line for line in lines if figure in line]
        assert line.startswith("lean")
    for heading in _HEADINGS[1:]:
        assert any(heading.text in line for line in lines)


def test_what_fits_is_one_table() -> None:
    rows = [["lean", *"12345678"], ["a name that is longer", *"12345678"]]
    lines = _printed(_HEADINGS, rows, 110, title="Results")
    assert lines[0].rstrip() == "Results"
    assert sum("Operator" in line for line in lines) == 1 and "a name that is longer" in "\n".join(lines)


_words = st.text("abcdefgh", min_size=1, max_size=40)


@given(
    st.lists(st.tuples(_words, _words, st.integers(), st.integers()), min_size=1, max_size=4),
    st.integers(30, 120),
)
def test_no_letter_is_lost_at_any_width(rows: list[tuple[str, str, int, int]], width: int) -> None:
    headings = [Heading("n", words=True), Heading("t", words=True), Heading("x"), Heading("y")]
    lines = _printed(headings, [list(map(str, row)) for row in rows], width)
    assert max(map(len, lines)) <= width
    letters = sorted("".join(lines).replace("─", "").replace(" ", ""))
    parts = sum(line.startswith("n") and set(line) <= set("ntxy ") for line in lines)
    names = "".join(row[0] for row in rows) + "n"
    rest = "".join(f"{row[1]}{row[2]}{row[3]}" for row in rows) + "txy"
    assert letters == sorted(names * parts + rest)
