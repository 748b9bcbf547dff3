"""Rows of an episode: filled while it runs, written as JSON lines when it is over."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import orjson
from msgspec import Struct

from gym_gui.controllers.engine import hash_chain
from gym_gui.core.plain_data import to_plain
from gym_gui.core.spaces import Parts, SpaceCodec
from gym_gui.core.types import WORD, AgentID
from gym_gui.services.backends import SlotInfo


class Row(Struct, gc=False):
    """One decision of an episode that runs; filled in later, for what it earns is known when its agent acts
    again or ends.

    Nothing that it holds refers back to it, so that the garbage collector need not look at the tens of
    thousands that long episodes have.

    Attributes:
        step: Environment step, from 0.
        agent: Who acted.
        action: What was played, in its space's own type.
        source: Who chose it (:class:`~gym_gui.core.enums.ActionSource`).
        seen: What the digest takes of the observation.
        latency_ms: From the question to the answer.
        extras: What is recorded beside the action.
        view: The observation as plain data, where it is kept.
        reward: What it has earned so far.
        terminated: The environment ended for its agent.
        truncated: Its agent was cut off.
    """

    step: int
    agent: AgentID
    action: Any
    source: str
    seen: bytes
    latency_ms: float
    extras: Mapping[str, Any] | None
    view: Any
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False


_END = b"}\n"
_MOST_CACHED = 1024
"""Actions whose encoding is kept."""


class SeatCodecs:
    """What all episodes of one seating need to know of their agents; made once for them.

    Attributes:
        seats: Which configured slot plays which agent.
        encode: Observation to wire form, by agent.
        seen: Wire form of an observation to what the digest takes, by agent.
    """

    def __init__(self, slots: Mapping[AgentID, SlotInfo], seats: Mapping[AgentID, AgentID]) -> None:
        self.seats: dict[AgentID, AgentID] = {}
        self.encode: dict[AgentID, Callable[[Any], Parts]] = {}
        self.seen: dict[AgentID, Callable[[Parts], bytes]] = {}
        self._acts: dict[AgentID, tuple[bytes, Callable[[Any], bytes], bool]] = {}
        for agent, slot in seats.items():
            self.join(agent, slot, slots[agent])

    def join(self, agent: AgentID, slot: AgentID, info: SlotInfo) -> None:
        """Seat an agent.

        Args:
            agent: The agent.
            slot: Whose policy plays it.
            info: Its spaces.
        """
        self.seats[agent] = slot
        self.encode[agent] = info.observation_codec.encode
        self.seen[agent] = hash_chain.blob_of(info.observation_codec)
        self._acts[agent] = (
            agent.encode() + b"\0",
            _digested(info.action_codec),
            info.action_codec.space.kind == "Discrete",
        )

    def lines(
        self, rows: Sequence[Row], episode: int, seed: int, words: Sequence[str] = ()
    ) -> tuple[bytes, bytes, str]:
        """Rows as JSON lines, the same without times, and the digest of the trajectory.

        Args:
            rows: What was played.
            episode: Its number.
            seed: The environment's.
            words: What was played in the game's own notation, where it has one.
        """
        acts, digest, fronts = self._acts, hash_chain.START, list[bytes]()
        link, append = hash_chain.link, fronts.append
        writer = _RowWriter(rows, episode, seed)
        for number, row in enumerate(rows):
            agent, action, extras = row.agent, row.action, row.extras
            name, acted, is_number = acts[agent]
            digest = link(digest, name, row.seen, acted(action), row.reward, row.terminated, row.truncated)
            only_value = extras is None or (len(extras) == 1 and "value" in extras)
            if is_number and only_value and row.view is None and number >= len(words):
                append(writer.short_row(number, row, digest))
            else:
                word = words[number] if number < len(words) else None
                append(writer.full_row(row, digest, action if is_number else to_plain(action), word))
        # The time stands last: the record's digest takes what is before it.
        lines = b"".join(map(b'%b,"latency_ms":%b}\n'.__mod__, zip(fronts, writer.times, strict=True)))
        return lines, _END.join([*fronts, b""]), digest.hex()


class _RowWriter:
    """Writes rows of one episode as JSON, up to the time.

    What each row has is written for all of them at once, in a third of the time that a row takes by itself.

    Args:
        rows: The rows.
        episode: Its number.
        seed: The environment's.
    """

    def __init__(self, rows: Sequence[Row], episode: int, seed: int) -> None:
        self._episode, self._seed = episode, seed
        self._steps = _json_numbers([row.step for row in rows])
        self._rewards = _json_numbers([row.reward for row in rows])
        self.times = _json_numbers([int(row.latency_ms * 1000) / 1000 for row in rows])
        """Latency of each row."""
        self._begin = b'{"episode_index":%d,"step_index":' % episode
        self._agents: dict[AgentID, bytes] = {}
        self._ends: dict[tuple[bool, bool, str], bytes] = {}

    def short_row(self, number: int, row: Row, digest: bytes) -> bytes:
        """A row whose action is a number, with nothing beside it but its value."""
        who = self._agents.get(row.agent)
        if who is None:
            told = orjson.dumps({"seed": self._seed, "agent_id": row.agent})[1:-1]
            who = self._agents[row.agent] = b",%b," % told
        how = row.terminated, row.truncated, row.source
        end = self._ends.get(how)
        if end is None:
            told = dict(zip(("terminated", "truncated", "action_source"), how, strict=True))
            end = self._ends[how] = b",%b," % orjson.dumps(told)[1:-1]
        front = b'%b%b%b"action":%d,"reward":%b%b"state_sha":"%b"' % (
            *(self._begin, self._steps[number], who, row.action),
            *(self._rewards[number], end, digest[:8].hex().encode()),
        )
        if row.extras is None:
            return front
        return b"%b,%b" % (front, orjson.dumps(row.extras, option=orjson.OPT_SERIALIZE_NUMPY)[1:-1])

    def full_row(self, row: Row, digest: bytes, action: Any, word: str | None) -> bytes:
        """A row of any kind."""
        data: dict[str, Any] = {
            "episode_index": self._episode,
            "step_index": row.step,
            "seed": self._seed,
            "agent_id": row.agent,
            "action": action,
            "reward": row.reward,
            "terminated": row.terminated,
            "truncated": row.truncated,
            "action_source": row.source,
            "state_sha": digest[:8].hex(),
        }
        if row.extras is not None:
            only_value = len(row.extras) == 1 and "value" in row.extras
            data.update(row.extras if only_value else to_plain(row.extras))
        if word is not None:
            data[WORD] = word
        if row.view is not None:
            data["observation"] = row.view
        return orjson.dumps(data, option=orjson.OPT_SERIALIZE_NUMPY)[:-1]


def _json_numbers(numbers: list[Any]) -> list[bytes]:
    """Each number as JSON has it."""
    return orjson.dumps(numbers)[1:-1].split(b",") if numbers else []


def _digested(action_codec: SpaceCodec) -> Callable[[Any], bytes]:
    """What the digest takes of an action; of the few there are of a kind it is worked out once."""
    encode, blob, known = action_codec.encode, hash_chain.blob_of(action_codec), dict[int, bytes]()
    if action_codec.space.kind != "Discrete" or action_codec.space.n > _MOST_CACHED:
        return lambda action: blob(encode(action))

    own = np.dtype(action_codec.space.dtype).type

    def digested(action: Any) -> bytes:
        if type(action) is not own and type(action) is not int:
            return blob(encode(action))
        part = known.get(action)
        if part is None:
            part = known[action] = blob(encode(action))
        return part

    return digested
