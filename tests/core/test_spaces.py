"""Every Gymnasium space as data and back, its values over the wire, and actions made from it."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from minigrid.core.mission import MissionSpace

from gym_gui.core.errors import SpaceError
from gym_gui.core.experiment.legality import problem_with
from gym_gui.core.spaces import (
    NotInSpace,
    Space,
    SpaceCodec,
    non_finite_row,
    sample_legal,
    space_to_spec,
    spec_to_space,
    to_space,
    zero_action,
)
from tests.support.space_strategies import any_space, exactly, fixed, leaves

SEEDS = st.integers(0, 2**31 - 1)

# One of each, so that every kind is met on every run whatever hypothesis draws.
BOX = spaces.Box(np.array([-1, 0], np.float32), np.array([1, np.inf], np.float32))
EVERY: dict[str, Any] = {
    "box": BOX,
    "image": spaces.Box(0, 255, (4, 3, 3), np.uint8),
    "empty box": spaces.Box(0, 1, (0,), np.float32),
    "scalar box": spaces.Box(-1, 1, (), np.float64),
    "bool box": spaces.Box(0, 1, (2,), np.bool_),
    "big endian box": spaces.Box(-1, 1, (2,), np.dtype(">f4")),
    "discrete": spaces.Discrete(7, start=-3),
    "small discrete": spaces.Discrete(7, dtype=np.int8),
    "multi-discrete": spaces.MultiDiscrete([[2, 3], [4, 5]]),
    "multi-binary": spaces.MultiBinary([2, 2]),
    "text": spaces.Text(12, min_length=0, charset="abcäß€ \n"),
    "dict": spaces.Dict({"b": BOX, "a": spaces.Dict({"c": spaces.Discrete(2)})}),
    "tuple": spaces.Tuple([spaces.Discrete(3), spaces.Tuple([BOX, spaces.Text(3)])]),
    "sequence": spaces.Sequence(spaces.Dict({"x": BOX, "t": spaces.Text(4)})),
    "stacked sequence": spaces.Sequence(BOX, stack=True),
    "graph": spaces.Graph(BOX, spaces.Discrete(4)),
    "graph without edges": spaces.Graph(spaces.Discrete(4), None),
    "one of": spaces.OneOf([spaces.Discrete(3), spaces.Text(4), BOX]),
    "sequence of graphs": spaces.Sequence(spaces.Graph(BOX, BOX)),
}


def there_and_back(space: Any, value: Any) -> Any:
    codec = SpaceCodec(space)
    parts = codec.encode(value)
    assert len(parts) == len(codec.leaves) and all(type(p) is bytes for p in parts)
    return codec.decode(parts)


@pytest.mark.parametrize("name", EVERY)
def test_every_space_is_described_and_made_again(name: str) -> None:
    space = EVERY[name]
    spec = json.loads(json.dumps(space_to_spec(space)))
    assert Space.from_json(spec) == to_space(space)
    again = spec_to_space(spec)
    if name != "big endian box":  # the byte order is the sender's own affair
        assert again == space
        assert space_to_spec(again) == spec


@pytest.mark.parametrize("name", EVERY)
def test_values_of_every_space_come_back_exact(name: str) -> None:
    space = EVERY[name]
    space.seed(3)
    for _ in range(20):
        value = space.sample()
        back = there_and_back(space, value)
        if name == "big endian box":
            np.testing.assert_array_equal(back, value)
        else:
            assert exactly(value, back), (value, back)
            assert space.contains(back)


@settings(max_examples=150, deadline=None)
@given(any_space, SEEDS)
def test_any_space_is_described_and_its_values_come_back_exact(space: Any, seed: int) -> None:
    spec = json.loads(json.dumps(space_to_spec(space)))
    again = spec_to_space(spec)
    assert again == space
    space.seed(seed)
    value = space.sample()
    back = there_and_back(space, value)
    assert exactly(value, back), (value, back)
    # The other side knows the space by its description alone.
    assert SpaceCodec(again).encode(value) == SpaceCodec(space).encode(value)


@settings(max_examples=60, deadline=None)
@given(any_space, SEEDS, st.integers(1, 5))
def test_many_values_are_columns_and_single_values_again(space: Any, seed: int, count: int) -> None:
    codec = SpaceCodec(space)
    space.seed(seed)
    values = [space.sample() for _ in range(count)]
    rows = [codec.encode(value) for value in values]
    columns = codec.join(rows)
    assert codec.split(columns, count) == rows
    unstacked = codec.unstack(columns, count)
    assert all(map(exactly, values, unstacked))
    stacked = codec.stacked(columns, count)
    assert codec.join([codec.encode(v) for v in unstacked]) == columns
    if to_space(space).fixed:
        assert stacked.shape == (count, *space.shape) and stacked.flags.writeable
        assert codec.columns(stacked, count) == columns


def test_a_value_does_not_share_memory_with_what_was_sent() -> None:
    value = np.array([0.5, 1], np.float32)
    back = there_and_back(BOX, value)
    back[0] = 0
    assert value[0] == 0.5


@pytest.mark.parametrize(
    ("space", "value"),
    [
        (BOX, np.zeros(3, np.float32)),
        (BOX, "text"),
        (BOX, {"a": 1}),
        (BOX, None),
        (spaces.Box(0, 255, (2,), np.uint8), np.array([0.5, 1])),
        (spaces.Box(0, 255, (2,), np.uint8), np.array([256, 1])),
        (spaces.Discrete(3), 1.5),
        (spaces.Discrete(3), "1"),
        (spaces.Discrete(3), None),
        (spaces.Discrete(3), [1, 2]),
        (spaces.Discrete(3, dtype=np.int8), 300),
        (spaces.Text(3), 5),
        (spaces.Dict({"a": BOX}), {"b": 1}),
        (spaces.Dict({"a": BOX}), np.zeros(2)),
        (spaces.Tuple([BOX, BOX]), (np.zeros(2),)),
    ],
)
def test_a_value_of_another_space_is_refused(space: Any, value: Any) -> None:
    with pytest.raises(NotInSpace):
        SpaceCodec(space).encode(value)


@settings(max_examples=60, deadline=None)
@given(any_space, SEEDS, st.data())
def test_damaged_bytes_are_refused_or_are_another_value(space: Any, seed: int, data: st.DataObject) -> None:
    """Never anything but ``ValueError`` and its kind, whatever a peer sends."""
    codec = SpaceCodec(space)
    space.seed(seed)
    parts = list(codec.encode(space.sample()))
    at = data.draw(st.integers(0, len(parts) - 1))
    part = parts[at]
    kind = data.draw(st.sampled_from(["cut", "grown", "changed"]))
    if kind == "cut":
        parts[at] = part[: data.draw(st.integers(0, max(len(part) - 1, 0)))]
    elif kind == "grown":
        parts[at] = part + data.draw(st.binary(min_size=1, max_size=5))
    elif part:
        where = data.draw(st.integers(0, len(part) - 1))
        parts[at] = part[:where] + bytes([part[where] ^ data.draw(st.integers(1, 255))]) + part[where + 1 :]
    try:
        value = codec.decode(parts)
    except ValueError:
        return
    with contextlib.suppress(NotInSpace):  # out of its bounds
        other = codec.encode(value)
        assert codec.encode(codec.decode(other)) == other


def test_the_number_of_parts_must_fit() -> None:
    codec = SpaceCodec(spaces.Tuple([BOX, BOX]))
    with pytest.raises(NotInSpace, match="1 parts where 2 are needed"):
        codec.decode([b"1234"])


# -- custom spaces -----------------------------------------------------------------------


class Missions(spaces.Space[Any]):
    """A space of the user's own; its values are objects."""

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        return Mission("go")

    def contains(self, x: Any) -> bool:
        return isinstance(x, Mission)


class Mission:
    def __init__(self, words: str) -> None:
        self.words = words

    def __str__(self) -> str:
        return self.words

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mission) and self.words == other.words

    __hash__ = None  # type: ignore[assignment]


class Spoken(Missions):
    """The same, with a JSON form of its own."""

    def to_jsonable(self, sample_n: Any) -> Any:
        return [{"say": m.words} for m in sample_n]

    def from_jsonable(self, sample_n: Any) -> Any:
        return [Mission(data["say"]) for data in sample_n]


def test_a_custom_space_is_named_and_cannot_be_rebuilt() -> None:
    spec = space_to_spec(Missions())
    assert spec == {"kind": "Custom", "name": "Missions"}
    with pytest.raises(SpaceError, match="custom space \\(Missions\\)"):
        spec_to_space(spec)


def test_a_custom_value_travels_as_its_text_where_json_cannot_say_it() -> None:
    codec = SpaceCodec(Missions())
    assert codec.encode(Mission("go")) == (b'"go"',)
    assert codec.encode("already text") == (b'"already text"',)


def test_a_custom_value_comes_back_as_the_space_itself_says() -> None:
    codec = SpaceCodec(Spoken())
    assert codec.encode(Mission("gö")) == (json.dumps({"say": "gö"}).encode(),)
    assert codec.decode(codec.encode(Mission("gö"))) == Mission("gö")


def test_a_custom_space_within_others() -> None:
    space = spaces.Dict({"mission": MissionSpace(mission_func=lambda: "get the key"), "box": BOX})
    space.seed(1)
    value = space.sample()
    back = there_and_back(space, value)
    assert str(back["mission"]) == "get the key" and exactly(value["box"], back["box"])


def test_within_others_a_custom_space_speaks_for_itself_too() -> None:
    space = spaces.Tuple([spaces.Discrete(2), spaces.Dict({"m": Spoken()})])
    codec = SpaceCodec(space)
    parts = codec.encode((1, {"m": Mission("go")}))
    assert parts[1] == b'{"say": "go"}' and codec.decode(parts)[1]["m"] == Mission("go")
    inherited = type("Inherited", (spaces.Discrete,), {"contains": lambda self, x: isinstance(x, Mission)})
    assert SpaceCodec(inherited(3)).encode(Mission("go")) == (b'"go"',)


def test_a_custom_space_that_raises_refuses() -> None:
    with pytest.raises(NotInSpace, match="Spoken cannot convert a value of type int"):
        SpaceCodec(Spoken()).encode(5)
    with pytest.raises(NotInSpace, match="Spoken cannot read"):
        SpaceCodec(Spoken()).decode([b'{"shout": "go"}'])


def test_a_subclass_that_holds_other_values_is_custom() -> None:
    class Odd(spaces.Discrete):
        def contains(self, x: Any) -> bool:
            return x == "odd"

    class Named(spaces.Discrete):
        """Adds nothing to what it holds."""

    assert to_space(Odd(3)).kind == "Custom" and to_space(Named(3)).kind == "Discrete"


def test_what_is_no_space_is_refused() -> None:
    with pytest.raises(SpaceError, match="is no Gymnasium space"):
        to_space(object())


@pytest.mark.parametrize(
    "data", [{}, {"kind": "Square"}, {"kind": "Box"}, {"kind": "Dict", "spaces": [1]}, {"kind": 3}]
)
def test_what_describes_no_space_is_refused(data: Any) -> None:
    with pytest.raises(ValueError, match="space"):
        Space.from_json(data)


def test_describing_needs_no_gymnasium() -> None:
    """The worker's side of the wire has none."""
    import subprocess

    code = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "from mosaic_worker.spaces import Space; from mosaic_worker.codec import Codec\n"
        "import json; s = Space.from_json(json.loads(sys.argv[1])); c = Codec(s)\n"
        "print(c.decode([bytes.fromhex(p) for p in sys.argv[2].split()]))"
    )
    space = spaces.Tuple([spaces.Discrete(5), spaces.Text(3)])
    parts = " ".join(p.hex() for p in SpaceCodec(space).encode((np.int64(4), "abc")))
    command = [sys.executable, "-c", code, json.dumps(space_to_spec(space)), parts]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() in ("(4, 'abc')", "(np.int64(4), 'abc')")


# -- NaN, zero actions, legal samples ----------------------------------------------------


def test_the_first_row_with_nan_is_found() -> None:
    space = spaces.Dict({"n": spaces.Discrete(3), "x": BOX, "y": spaces.Box(-1, 1, (), np.float64)})
    codec = SpaceCodec(space)

    def row(x: float = 0, y: float = 0) -> Any:
        return codec.encode({"n": 1, "x": np.array([x, 0], np.float32), "y": np.array(y)})

    rows = [row(), row(x=np.inf), row(y=-np.inf)]
    assert non_finite_row(codec, rows) is None
    assert non_finite_row(codec, [*rows, row(x=np.nan), row()]) == 3
    assert non_finite_row(codec, [*rows, row(), row(y=np.nan)]) == 4
    assert non_finite_row(SpaceCodec(spaces.Discrete(3)), [(b"\xff" * 8,)]) is None


@settings(max_examples=150, deadline=None)
@given(any_space)
def test_doing_nothing_is_always_possible(space: Any) -> None:
    if _has_zero(space):
        action = zero_action(to_space(space))
        assert space.contains(action), action


def _has_zero(space: Any) -> bool:
    """Graphs, and texts that must be longer, have no value that stands for nothing."""
    if isinstance(space, spaces.Text):
        return space.min_length == 0
    if isinstance(space, (spaces.Graph, spaces.Sequence)):
        return isinstance(space, spaces.Sequence)
    children: Any = getattr(space, "spaces", ())
    inner = list(children.values()) if hasattr(children, "values") else list(children)
    return all(map(_has_zero, inner[:1] if isinstance(space, spaces.OneOf) else inner))


@settings(max_examples=150, deadline=None)
@given(leaves, st.integers(0, 2**64 - 1))
def test_a_sample_is_legal_and_the_same_for_the_same_seed(space: Any, seed: int) -> None:
    described = to_space(space)
    action = sample_legal(described, None, seed)
    assert not problem_with(described, action)
    again = sample_legal(described, None, seed)
    assert type(action) is type(again)
    np.testing.assert_array_equal(action, again)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 12), st.integers(-4, 4), st.data())
def test_a_sample_keeps_to_the_mask(n: int, start: int, data: st.DataObject) -> None:
    described = to_space(spaces.Discrete(n, start=start))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), np.int8)
    seed = data.draw(st.integers(0, 2**64 - 1))
    action = sample_legal(described, mask, seed)
    if mask.any():
        assert not problem_with(described, action, mask)
    else:
        assert action == start


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.data())
def test_a_sample_of_several_keeps_to_the_mask(nvec: list[int], data: st.DataObject) -> None:
    described = to_space(spaces.MultiDiscrete(nvec))
    parts = [data.draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(any)) for n in nvec]
    mask = np.concatenate([np.array(part, np.int8) for part in parts])
    action = sample_legal(described, mask, data.draw(st.integers(0, 2**64 - 1)))
    assert not problem_with(described, action, mask)


def test_samples_are_spread_evenly() -> None:
    described = to_space(spaces.Discrete(4, start=2))
    mask = np.array([1, 0, 1, 1])
    drawn = [sample_legal(described, mask, seed * 0x9E3779B97F4A7C15 % 2**64) for seed in range(3000)]
    counts = [drawn.count(a) for a in (2, 4, 5)]
    assert sum(counts) == 3000 and all(900 < count < 1100 for count in counts)


@given(fixed)
@settings(max_examples=40, deadline=None)
def test_the_size_of_fixed_values_is_known(space: Any) -> None:
    codec = SpaceCodec(space)
    assert codec.size_hint == sum(map(len, codec.encode(space.sample())))


def test_spaces_of_real_environments() -> None:
    for name in ("CartPole-v1", "Taxi-v4", "MiniGrid-Empty-5x5-v0"):
        env = gym.make(name)
        observation, _ = env.reset(seed=1)
        back = there_and_back(env.observation_space, observation)
        if isinstance(observation, dict):
            assert list(back) == list(env.observation_space.spaces)  # type: ignore[attr-defined]
            np.testing.assert_array_equal(back["image"], observation["image"])
        else:
            np.testing.assert_array_equal(back, observation)
        env.close()
