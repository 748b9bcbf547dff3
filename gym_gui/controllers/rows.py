"""Rows of an episode: filled while it runs, written as JSON lines when it is over."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import orjson

from gym_gui.controllers import chain
from gym_gui.core.plain import to_plain
from gym_gui.core.spaces import SpaceCodec
from gym_gui.core.types import AgentID
from gym_gui.services.backends import SlotInfo

# Fields of a row while the episode runs. A list is the cheapest thing that can be filled
# in later: an agent's reward is known only when it acts again or ends.
STEP, AGENT, ACTION, SOURCE, SEEN, LATENCY, EXTRAS, REWARD, TERMINATED, TRUNCATED, VIEW = range(11)
Row = list[Any]

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
        self.seats = seats
        self.encode = {agent: slots[agent].observation_codec.encode for agent in seats}
        self.seen = {agent: chain.blob_of(slots[agent].observation_codec) for agent in seats}
        self._acts = {
            agent: (
                agent.encode() + b"\0",
                _digested(slots[agent].action_codec),
                slots[agent].action_codec.space.kind == "Discrete",
            )
            for agent in seats
        }

    def lines(self, rows: Sequence[Row], episode: int, seed: int) -> tuple[bytes, bytes, str]:
        """Rows as JSON lines, the same without times, and the digest of the trajectory."""
        acts, digest, lines, untimed = self._acts, chain.START, list[bytes](), list[bytes]()
        link, dumps = chain.link, orjson.dumps
        for step, agent, action, source, seen, latency, extras, reward, ended, cut, view in rows:
            name, acted, is_number = acts[agent]
            digest = link(digest, name, seen, acted(action), reward, ended, cut)
            row: dict[str, Any] = {
                "episode_index": episode,
                "step_index": step,
                "seed": seed,
                "agent_id": agent,
                "action": action if is_number else to_plain(action),
                "reward": reward,
                "terminated": ended,
                "truncated": cut,
                "action_source": source,
                "state_sha": digest[:8].hex(),
            }
            if extras is not None:
                row.update(extras if extras.keys() == {"value"} else to_plain(extras))
            if view is not None:
                row["observation"] = view
            # The time stands last: the record's digest takes what is before it.
            row["latency_ms"] = int(latency * 1000) / 1000
            line = dumps(row, option=NEWLINE)
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
