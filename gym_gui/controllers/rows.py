"""Rows of an episode: filled while it runs, written as JSON lines when it is over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from gym_gui.controllers import chain
from gym_gui.core.plain import to_plain
from gym_gui.core.types import AgentID
from gym_gui.services.backends import SlotInfo

# Fields of a row while the episode runs. A list is the cheapest thing that can be filled
# in later: an agent's reward is known only when it acts again or ends.
STEP, AGENT, ACTION, SOURCE, SEEN, LATENCY, EXTRAS, REWARD, TERMINATED, TRUNCATED, VIEW = range(11)
Row = list[Any]

NEWLINE = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY


class SeatCodecs:
    """What all episodes of one seating need to know of their agents; made once for them.

    Attributes:
        seats: Which configured slot plays which agent.
        encode: Observation to wire form, by agent.
        seen: Wire form of an observation to what the digest takes, by agent.
    """

    def __init__(self, slots: Mapping[AgentID, SlotInfo], seats: Mapping[AgentID, AgentID]) -> None:
        self.seats = seats
        self.encode = {agent: slots[agent].sees.encode for agent in seats}
        self.seen = {agent: chain.blob_of(slots[agent].sees) for agent in seats}
        self._acts = {
            agent: (
                agent.encode() + b"\0",
                slots[agent].does.encode,
                chain.blob_of(slots[agent].does),
                slots[agent].does.space.kind == "Discrete",
            )
            for agent in seats
        }

    def lines(self, rows: Sequence[Row], episode: int, seed: int) -> tuple[bytes, str]:
        """Rows as JSON lines, and the digest of the whole episode."""
        acts, digest, lines = self._acts, chain.START, list[bytes]()
        link, dumps = chain.link, orjson.dumps
        for step, agent, action, source, seen, latency, extras, reward, ended, cut, view in rows:
            name, encode, blob, is_number = acts[agent]
            digest = link(digest, name, seen, blob(encode(action)), reward, ended, cut)
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
                "latency_ms": int(latency * 1000) / 1000,
            }
            if extras is not None:
                row.update(extras if extras.keys() == {"value"} else to_plain(extras))
            if view is not None:
                row["observation"] = view
            lines.append(dumps(row, option=NEWLINE))
        return b"".join(lines), digest.hex()
