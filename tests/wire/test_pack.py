"""Columns survive the way through a message."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gym_gui.core.spaces import Column
from gym_gui.wire import add_columns, columns_of, pb

_COLUMNS = st.lists(
    st.builds(Column, st.binary(max_size=40), st.lists(st.integers(0, 2**32 - 1), max_size=5)), max_size=4
)


@given(_COLUMNS)
def test_round_trip(columns: list[Column]):
    message = pb.Questions()
    add_columns(message.observation, columns)
    again = pb.Questions.FromString(message.SerializeToString())
    assert [(c.data, list(c.sizes)) for c in columns_of(again.observation)] == [
        (c.data, list(c.sizes)) for c in columns
    ]


def test_columns_are_added_to_what_is_there():
    message = pb.Replies(action=[pb.Column(data=b"a")])
    add_columns(message.action, [Column(b"b", [])])
    assert [c.data for c in columns_of(message.action)] == [b"a", b"b"]
