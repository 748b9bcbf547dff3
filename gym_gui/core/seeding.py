"""Derivation of all random numbers of a run from integer seeds.

Episode ``i`` of a run plays environment seed ``seeds[i]``. Each agent's policy, and the engine when it
substitutes actions, draw from streams derived from (environment seed, episode index, agent) and nothing
else: not the operator, not the process, not the order of questions. So two operators with one seed get the
same random numbers, and a run gives the same results for any concurrency. If a slot has its own ``seed``
setting, this seed is mixed into its policy's stream, so that two players of one kind can be independent.

The derivation is NumPy's ``SeedSequence`` (O'Neill's ``seed_seq`` design; its output is part of NumPy's
compatibility promise, NEP 19) over fixed-width words. An agent's name is converted with CRC-32, which is
the same in every process, unlike ``hash()``.
"""

from __future__ import annotations

import zlib

import numpy as np

from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.seed_lists import MAX_SEED

SEED = "seed"
"""Setting of a slot that gives its player, of any kind, its own random numbers."""

# Numbers that separate the streams of one (seed, episode, agent). Never renumber; 2 was used.
_POLICY, _ACTION, _OWN = 0, 1, 3
_WORD = 0xFFFFFFFF


def check_seed(seed: object) -> int:
    """Return ``seed`` if the engine accepts it.

    Raises:
        UsageError: ``seed`` is not a whole number, is negative or exceeds ``MAX_SEED``.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= MAX_SEED:
        raise UsageError(f"seed {seed} is out of range", fix="Use a whole number from 0 to 2**63 - 1")
    return seed


def policy_seed(seed: int, episode_index: int, agent_id: str, own: int | None = None) -> int:
    """Return the 64-bit seed of an agent's policy in one episode.

    Args:
        seed: Environment seed of the episode, 0 … 2**64 - 1.
        episode_index: Index of the episode in its run, 0 … 2**32 - 1.
        agent_id: The agent's name in the environment.
        own: The setting ``seed`` of the agent's slot, 0 … 2**64 - 1; ``None`` if it has none.
    """
    return _derive(seed, episode_index, _name_word(agent_id), _POLICY, own)


def action_seed(seed: int, episode_index: int, agent_id: str) -> int:
    """Return the 64-bit seed with which the engine itself picks actions (``random_legal``).

    This seed differs from :func:`policy_seed`, so that a substitute action never repeats the policy's draw.
    Use it with a counter: ``rng.uniform(action_seed(...), step)``.
    """
    return _derive(seed, episode_index, _name_word(agent_id), _ACTION)


def _name_word(agent_id: str) -> int:
    return zlib.crc32(agent_id.encode("utf-8"))


def _derive(seed: int, episode_index: int, name: int, stream: int, own: int | None = None) -> int:
    # The seed always takes two words: SeedSequence drops high zero words of a longer
    # integer, and (1, 5) must not equal the single seed 5 * 2**32 + 1.
    words = [seed & _WORD, seed >> 32, episode_index, name, stream]
    if own is not None:
        words += [own & _WORD, own >> 32, _OWN]  # _OWN is not 0, because zeros at the end change nothing
    return int(np.random.SeedSequence(np.array(words, np.uint32)).generate_state(1, np.uint64)[0])
