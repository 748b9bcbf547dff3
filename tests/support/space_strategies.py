"""Hypothesis strategies of Gymnasium spaces, and exact comparison of their values."""

from __future__ import annotations

import string
from typing import Any

import numpy as np
from gymnasium import spaces
from hypothesis import strategies as st

_FLOATS = (np.float32, np.float64, np.float16)
_INTS = (np.uint8, np.int8, np.int32, np.int64, np.uint16)


@st.composite
def boxes(draw: st.DrawFn) -> spaces.Box:
    """Of any dtype and shape, bounded or not, bounds alike or one by one."""
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
    dtype: Any = draw(st.sampled_from([*_FLOATS, *_INTS]))
    if np.issubdtype(dtype, np.floating):
        low = draw(st.sampled_from([-np.inf, -2.5, 0.0]))
        high = draw(st.sampled_from([np.inf, 3.25, 1.0]))
    else:
        low, high = draw(st.integers(0, 5)), draw(st.integers(6, 100))
    lows, highs = np.full(shape, low, dtype), np.full(shape, high, dtype)
    if lows.size > 1 and draw(st.booleans()):
        lows.flat[0] = 1 if low < 1 else low
    return spaces.Box(lows, highs, shape, dtype)


@st.composite
def discretes(draw: st.DrawFn) -> spaces.Discrete:
    """Of any start and width."""
    dtype: Any = draw(st.sampled_from([np.int64, np.int32, np.int8]))
    return spaces.Discrete(draw(st.integers(1, 60)), start=draw(st.integers(-60, 60)), dtype=dtype)


@st.composite
def multi_discretes(draw: st.DrawFn) -> spaces.MultiDiscrete:
    """Of one or two dimensions, some with a start."""
    shape = draw(st.sampled_from([(1,), (3,), (2, 2)]))
    count = int(np.prod(shape))
    nvec = np.array(draw(st.lists(st.integers(1, 9), min_size=count, max_size=count))).reshape(shape)
    start = np.array(draw(st.lists(st.integers(-5, 5), min_size=count, max_size=count))).reshape(shape)
    dtype: Any = draw(st.sampled_from([np.int64, np.int32]))
    return spaces.MultiDiscrete(nvec, dtype=dtype, start=start)


multi_binaries = st.builds(spaces.MultiBinary, st.sampled_from([1, 4, [2, 3]]))
texts = st.builds(
    lambda low, more, charset: spaces.Text(low + more, min_length=low, charset=charset),
    st.integers(0, 3),
    st.integers(1, 8),
    st.sampled_from([string.ascii_letters, "äöü€", "01", 'a"\\\n ']),
)
graphs = st.builds(
    spaces.Graph,
    st.one_of(boxes(), st.builds(spaces.Discrete, st.integers(1, 9))),
    st.one_of(st.none(), st.builds(spaces.Discrete, st.integers(1, 9)), boxes()),
)
leaves = st.one_of(boxes(), discretes(), multi_discretes(), multi_binaries, texts)
fixed = st.one_of(boxes(), discretes(), multi_discretes(), multi_binaries)


def _nested(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    names = st.text("abcxyz._ 0", min_size=1, max_size=4)
    return st.one_of(
        st.builds(spaces.Dict, st.dictionaries(names, children, min_size=1, max_size=3)),
        st.builds(spaces.Tuple, st.lists(children, min_size=1, max_size=3)),
        st.builds(lambda options: spaces.OneOf(options), st.lists(children, min_size=1, max_size=3)),
        st.builds(lambda element: spaces.Sequence(element), children),
    )


any_space = st.recursive(st.one_of(leaves, graphs), _nested, max_leaves=5)
"""Every space Gymnasium has, nested in each other."""


def exactly(sent: Any, back: Any) -> bool:
    """Same value, dtype and shape all the way down; a number may come back as its array."""
    if isinstance(sent, spaces.GraphInstance):
        return isinstance(back, spaces.GraphInstance) and all(map(exactly, sent, back))
    if isinstance(sent, np.ndarray):
        same = isinstance(back, np.ndarray) and sent.dtype == back.dtype and sent.shape == back.shape
        return bool(same and sent.tobytes() == back.tobytes())
    if isinstance(sent, dict):
        return list(sent) == list(back) and all(exactly(sent[k], back[k]) for k in sent)
    if isinstance(sent, tuple):
        return type(back) is tuple and len(sent) == len(back) and all(map(exactly, sent, back))
    if isinstance(sent, np.generic):
        return type(sent) is type(back[()] if isinstance(back, np.ndarray) else back) and bool(sent == back)
    return type(sent) is type(back) and sent == back
