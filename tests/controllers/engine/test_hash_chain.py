"""The digest format can never change silently: its values are written down here."""

from __future__ import annotations

import hashlib
import struct
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from gym_gui.controllers.engine import hash_chain
from gym_gui.core.spaces import SpaceCodec
from tests.support.engine import arena, play_task, player


def blob(space: Any, value: Any) -> bytes:
    codec = SpaceCodec(space)
    return hash_chain.blob_of(codec)(codec.encode(value))


def test_the_start_is_zero() -> None:
    assert bytes(32) == hash_chain.START and hash_chain.KEEP == 128


def test_a_lone_array_enters_as_its_bytes() -> None:
    box = spaces.Box(-1, 1, (2,), np.float32)
    assert blob(box, np.array([0.5, -1], np.float32)).hex() == "0000003f000080bf"
    assert blob(spaces.Discrete(5), 3).hex() == "0300000000000000"
    assert blob(spaces.MultiDiscrete([3, 4]), np.array([1, 2])).hex() == "01000000000000000200000000000000"


def test_parts_and_varying_sizes_are_preceded_by_their_size() -> None:
    pair = spaces.Dict({"b": spaces.Discrete(3), "a": spaces.Box(0, 1, (1,), np.float32)})
    # Gymnasium sorts the keys of a Dict.
    value = {"a": np.array([1], np.float32), "b": 2}
    assert blob(pair, value).hex() == "040000000000803f" + "080000000200000000000000"
    assert blob(spaces.Text(8), "hi").hex() == "020000006869"


def test_a_long_observation_enters_as_its_digest() -> None:
    assert hash_chain.condensed(bytes(128)) == bytes(128)
    assert (
        hash_chain.condensed(bytes(129)).hex()
        == "2c80619d7e7c58257293cda3a878c13e5856f4e06f6f90601276f7b9179c9e07"
    )


def test_rows_have_these_digests() -> None:
    first = hash_chain.link(hash_chain.START, b"agent_0\0", b"\1\2\3", b"\4", -1.5, False, True)
    assert first.hex() == "db5176aeaf7917a6e238b68f298629806c02a1c56ab48d6ac1cb007b8d697286"
    by_hand = bytes(32) + b"agent_0\0" + b"\1\2\3" + b"\4" + struct.pack("<d", -1.5) + b"\2"
    assert first == hashlib.sha256(by_hand).digest()
    second = hash_chain.link(first, b"agent_1\0", hash_chain.condensed(bytes(129)), b"\5", 0.1, True, False)
    assert second.hex() == "b00c2a6a45dd94aec1d5af910fb790e28f36550091ef8546e028b21944a1030b"


GOLDEN = {
    "single": "739058f17bcab60dec156b9150e79c574ea26a3e2d524cb21b8d1d8ea89d30b1",
    "turns": "9b77884653ba5b8fce71bf8ab2f77ebfd2a0c1bfb273545bb489c49910e6ea27",
    "crowd": "ae2c56f1fd3b4ed114c04a22c0b85174fd97677c0d98f8fcbdbcc954f84672b1",
    "game": "d40b797c5c03fdf01e8b0ecbcfe4a721363289841ddeb1efdb753eea05cbecf7",
}
"""Trajectories of environments that are the same everywhere. If one changes, so did the format:
no run that is on a user's disk would verify any more."""


async def golden(name: str) -> str:
    agents = ["a", "b"]
    if name == "single":
        sheet = await play_task(arena("Corridor"), {"agent_0": player(lambda s: s.step_index % 3)}, (7,))
    elif name == "turns":
        turns = [["a", {}, {}], ["b", {"a": 5}, {}], ["a", {"b": 1}, {}], ["b", {}, {"a": "t", "b": "c"}]]
        sheet = await play_task(
            arena("Turns"), {a: player() for a in agents}, env_kwargs={"agents": agents, "turns": turns}
        )
    elif name == "crowd":
        script = [{"rewards": {"a": 0.1}}, {"terminated": ["a"]}, {"truncated": ["b"], "rewards": {"b": -2}}]
        sheet = await play_task(
            arena("Crowd"), {a: player() for a in agents}, env_kwargs={"agents": agents, "script": script}
        )
    else:
        first = player(lambda s: s.legal_actions[0])
        sheet = await play_task("tictactoe_v3", {"player_1": first, "player_2": first})
    assert sheet.episodes[0]["status"] == "completed"
    return sheet.episodes[0]["trajectory_sha256"]


@pytest.mark.parametrize("name", GOLDEN)
async def test_trajectories_have_these_digests(name: str) -> None:
    assert await golden(name) == GOLDEN[name]


rows = st.tuples(
    st.sampled_from([b"a\0", b"ab\0", b"agent_0\0"]),
    st.binary(max_size=140),
    st.binary(max_size=9),
    st.floats(allow_nan=False),
    st.booleans(),
    st.booleans(),
)


def chained(table: list[Any]) -> list[bytes]:
    digests = [hash_chain.START]
    for agent, seen, done, reward, terminated, truncated in table:
        digests.append(
            hash_chain.link(
                digests[-1], agent, hash_chain.condensed(seen), done, reward, terminated, truncated
            )
        )
    return digests[1:]


@given(st.lists(rows, min_size=1, max_size=6), st.data())
def test_a_change_shows_from_its_row_on_and_not_before(table: list[Any], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(table) - 1))
    field = data.draw(st.integers(0, 5))
    changed = list(table[at])
    value = changed[field]
    if field == 0:
        changed[0] = b"other\0"
    elif field in (1, 2):
        changed[field] = value + b"!"
    elif field == 3:
        changed[3] = 1.0 if value != 1.0 else 2.0
    else:
        changed[field] = not value
    before, after = chained(table), chained([*table[:at], tuple(changed), *table[at + 1 :]])
    assert before[:at] == after[:at]
    assert all(a != b for a, b in zip(before[at:], after[at:], strict=True))


@given(st.binary(min_size=1, max_size=300))
def test_no_two_observations_look_alike(seen: bytes) -> None:
    other = bytes([seen[0] ^ 1]) + seen[1:]
    assert hash_chain.condensed(seen) != hash_chain.condensed(other)
    assert len(hash_chain.condensed(seen)) <= hash_chain.KEEP


@given(st.text(max_size=5), st.text(max_size=5), st.text(max_size=5), st.text(max_size=5))
def test_parts_of_varying_size_cannot_be_shifted(a: str, b: str, c: str, d: str) -> None:
    charset = "".join({*a, *b, *c, *d, "x"})
    two = spaces.Tuple([spaces.Text(8, min_length=0, charset=charset)] * 2)
    assert (blob(two, (a, b)) == blob(two, (c, d))) == ((a, b) == (c, d))
