"""Seeds are part of the run format: these constants must never change."""

from __future__ import annotations

import subprocess
import sys
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_gui.core.seeding import (
    MAX_SEED,
    action_seed,
    check_seed,
    policy_seed,
)

seeds = st.integers(0, MAX_SEED)
episodes = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((0, 0, "agent_0"), 11116328432724599208),
        ((42, 3, "green_0"), 16476360093556017861),
        ((MAX_SEED, 0, "player_1"), 18158902160824266350),
    ],
)
def test_policy_seed_is_fixed_for_ever(args: tuple[int, int, str], expected: int):
    assert policy_seed(*args) == expected


def test_the_stream_of_substitute_actions_is_fixed_for_ever():
    assert action_seed(42, 3, "green_0") == 16602867118328234625


def test_policy_seed_is_numpys_own_seed_sequence_of_five_words():
    words = [42, 0, 3, zlib.crc32(b"green_0"), 0]
    reference = np.random.SeedSequence(words).generate_state(1, np.uint64)[0]
    assert policy_seed(42, 3, "green_0") == int(reference)


def test_same_seed_in_processes_with_different_hash_randomisation():
    code = "from gym_gui.core.seeding import policy_seed; print(policy_seed(7, 1, 'blue_1'))"
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": salt, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for salt in ("1", "2")
    }
    assert found == {f"{policy_seed(7, 1, 'blue_1')}\n"}


@given(seeds, episodes, st.text(max_size=20))
def test_seed_fits_64_bits_and_streams_differ(seed: int, episode: int, agent: str):
    policy, action = policy_seed(seed, episode, agent), action_seed(seed, episode, agent)
    assert 0 <= policy < 2**64
    assert policy != action


@given(
    st.lists(st.tuples(seeds, episodes, st.sampled_from(["agent_0", "agent_0/goal", "red_1"])), unique=True)
)
def test_different_episodes_and_agents_get_different_seeds(keys: list[tuple[int, int, str]]):
    assert len({policy_seed(*key) for key in keys}) == len(keys)


def test_high_half_of_a_long_seed_does_not_run_into_the_episode():
    assert policy_seed(5 * 2**32 + 1, 0, "a") != policy_seed(1, 5, "a")


def test_largest_seed_is_accepted():
    assert check_seed(MAX_SEED) == MAX_SEED
