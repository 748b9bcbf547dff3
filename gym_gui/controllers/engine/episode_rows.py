"""Rows of an episode: filled while it runs, written as JSON lines when it is over."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import orjson
from msgspec import Struct

from gym_gui.controllers.engine import chain
from gym_gui.core.plain import to_plain
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


NEWLINE = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY
_END = b"}\n"
_FEW = 1024
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
        self.seen[agent] = chain.blob_of(info.observation_codec)
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
        acts, digest, lines, untimed = self._acts, chain.START, list[bytes](), list[bytes]()
        link, dumps = chain.link, orjson.dumps
        for number, row in enumerate(rows):
            agent, action, extras = row.agent, row.action, row.extras
            reward, ended, cut = row.reward, row.terminated, row.truncated
            name, acted, is_number = acts[agent]
            digest = link(digest, name, row.seen, acted(action), reward, ended, cut)
            data: dict[str, Any] = {
                "episode_index": episode,
                "step_index": row.step,
                "seed": seed,
                "agent_id": agent,
                "action": action if is_number else to_plain(action),
                "reward": reward,
                "terminated": ended,
                "truncated": cut,
                "action_source": row.source,
                "state_sha": digest[:8].hex(),
            }
            if extras is not None:
                only_value = len(extras) == 1 and "value" in extras
                data.update(extras if only_value else to_plain(extras))
            if number < len(words):
                data[WORD] = words[number]
            if row.view is not None:
                data["observation"] = row.view
            # The time stands last: the record's digest takes what is before it.
            data["latency_ms"] = int(row.latency_ms * 1000) / 1000
            line = dumps(data, option=NEWLINE)
            lines.append(line)
            untimed.append(line[: line.rindex(b",")])
        return b"".join(lines), _END.join([*untimed, b""]), digest.hex()


def _digested(action_codec: SpaceCodec) -> Callable[[Any], bytes]:
    """What the digest takes of an action; of the few there are of a kind it is worked out once."""
    encode, blob, known = action_codec.encode, chain.blob_of(action_codec), dict[int, bytes]()
    if action_codec.space.kind != "Discrete" or action_codec.space.n > _FEW:
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
