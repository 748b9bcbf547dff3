"""Defines the faults, and reads from a slot's settings which fault happens when."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mosaic_worker.worker import Batch, LoadError

DEEDS: Mapping[str, str] = {
    "exit": "end with exit status `status`",
    "signal": "send `signal` to itself, for example SIGSEGV",
    "raise": "raise RuntimeError",
    "refuse": "refuse to load, with a sentence (`when = load`)",
    "hang": "stop answering while the heartbeat goes on",
    "freeze": "stop itself with SIGSTOP, heartbeat included",
    "late": "wait `seconds` before going on",
    "memory": "allocate `mb` MB and keep them",
    "grandchildren": "start `count` processes that leave the process group and lose their parent",
    "log_flood": "log `count` lines",
    "stderr_flood": "print `count` lines to stderr",
    "stdout_flood": "print `count` lines to stdout",
    "long_lines": "log `count` lines of `mb` MB each",
    "call_flood": "record `count` paid calls of 1 kB each",
}
"""Faults of the process, before it answers."""

ANSWERS: Mapping[str, str] = {
    "illegal": "choose a masked action, or one outside the action space where no mask is given",
    "nan": "put NaN into a Box action",
    "invalid": "say that its own reply cannot be played, with `raw` text",
    "batch_dependent": "choose by the size of the batch",
    "unseeded": "choose by the operating system's random numbers",
    "shared_state": "choose by how many decisions it has made in all episodes",
}
"""Faults of an answer that is sent correctly."""

MESSAGES: Mapping[str, str] = {
    "no_reply": "never answer",
    "parts": "answer each decision in a message of its own",
    "reversed": "as parts, last first",
    "hold": "let this answer be overtaken: send it `seconds` later",
    "two_in_one": "send two messages with one write",
    "split": "send the message in two writes, `seconds` apart",
    "duplicate": "answer twice",
    "unknown_id": "also answer a decision that was not asked for",
    "unknown_slot": "also answer for a slot that does not exist",
    "wrong_shape": "send an action of one byte too many",
    "wrong_dtype": "send an action of twice its width",
    "missing_leaf": "leave the action out",
    "garbage": "send 64 bytes of noise",
    "bad_message": "send a well-framed message of noise",
    "empty_message": "send a well-framed message that says nothing",
    "huge_header": "announce 4 GiB (JSON lines: a line of 17 MiB without an end)",
    "half_message": "send half a message, then `then`: nothing, exit or kill",
}
"""Faults in sending an answer."""

HABITS: Mapping[str, str] = {
    "no_heartbeat": "never say Alive",
    "deaf": "ignore Shutdown and SIGTERM",
    "outlive": "go on when the host is gone",
    "gullible": "load slots that it cannot play",
}
"""Faults that last from loading on."""

FAULTS = {**DEEDS, **ANSWERS, **MESSAGES, **HABITS}
PLACES = ("load", "decision", "end", "close")


@dataclass(frozen=True)
class Plan:
    """Plan of a slot's fault, from its settings.

    Attributes:
        fault: One of :data:`FAULTS`; empty for none.
        when: One of :data:`PLACES`; only for :data:`DEEDS`.
        at: Number of the first decision with the fault, counted from 0 per slot and process.
        times: Number of decisions with the fault; 0 for all that follow.
        episode: Episode whose decisions alone are counted; ``None`` for all episodes.
        once: Path of a file that the fault creates; if it exists, there is no fault. This is for a process
            that is started again and must then work.
        seconds: A duration.
        status: An exit status.
        signal: A signal's name.
        mb: Megabytes.
        count: Number of lines, processes or calls.
        then: Action after half a message: ``nothing``, ``exit`` or ``kill``.
        raw: A raw reply.
    """

    fault: str = ""
    when: str = "decision"
    at: int = 0
    times: int = 1
    episode: int | None = None
    once: str = ""
    seconds: float = 1.0
    status: int = 3
    signal: str = "SIGKILL"
    mb: int = 64
    count: int = 1
    then: str = "nothing"
    raw: str = ""

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> Plan:
        """Read the plan from a slot's settings.

        Raises:
            LoadError: The fault or its place is unknown.
        """
        plan = cls(**{k: v for k, v in settings.items() if k in cls.__dataclass_fields__})
        for what, name, known in (("fault", plan.fault, FAULTS), ("when", plan.when, PLACES)):
            if name and name not in known:
                near = difflib.get_close_matches(name, known, n=1) or [", ".join(known)]
                raise LoadError(f"unknown {what} {name!r}; there is {near[0]}")
        return plan

    def claim(self) -> bool:
        """Return whether the fault may happen under ``once``, and create its file."""
        if not self.once:
            return True
        try:
            os.close(os.open(self.once, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True


class Trigger:
    """Counts the decisions of a slot and finds those with the fault."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._seen = plan, 0
        self._last: dict[int, bool] = {}

    def due(self, batch: Batch) -> Sequence[int]:
        """Return the indices in ``batch`` of the decisions with the fault.

        After an exception the runtime requests the decisions of a batch again, one by one; these are not
        counted twice.
        """
        if not all(i in self._last for i in batch.ids):
            self._last = dict(zip(batch.ids, map(self._counted, batch.episodes), strict=True))
            if any(self._last.values()) and not self._plan.claim():
                self._last = dict.fromkeys(batch.ids, False)
        return [k for k, i in enumerate(batch.ids) if self._last[i]]

    def _counted(self, episode: int) -> bool:
        plan = self._plan
        if plan.episode is not None and episode != plan.episode:
            return False
        beyond = self._seen - plan.at
        self._seen += 1
        return beyond >= 0 and (not plan.times or beyond < plan.times)
