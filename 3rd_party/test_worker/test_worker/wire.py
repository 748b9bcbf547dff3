"""A link that sends the runtime's messages with faults."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from mosaic_worker.link import SocketLink, WorkerLink
from mosaic_worker.pb import worker_pb2 as pb
from test_worker.plan import Plan
from test_worker.process_faults import block_forever, exit_at_once

NOISE = bytes((i * 151 + 7) % 256 for i in range(62)) + b"\n\xff"
"""Bytes that begin, on a socket, like a message of 3 GB; as text they are a line that is not UTF-8."""
UNKNOWN = 4_000_000_000


class FaultyLink(WorkerLink):
    """Link between the SDK's runtime and the host that spoils messages.

    Args:
        inner: The real link.
        welcome: Fault of the handshake; empty for none.
    """

    def __init__(self, inner: WorkerLink, welcome: str = "") -> None:
        self._inner, self._welcome = inner, welcome
        self._armed: list[tuple[Plan, frozenset[int]]] = []
        self._mute = False
        self._habits: set[str] = set()

    def arm(self, plan: Plan, ids: Sequence[int]) -> None:
        """Spoil the message that answers one of ``ids``."""
        self._armed.append((plan, frozenset(ids)))

    def adopt(self, habit: str) -> None:
        """Start a lasting fault, see :data:`test_worker.plan.HABITS`."""
        self._habits.add(habit)
        if habit == "deaf":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def receive(self) -> pb.ToWorker | None:
        while True:
            message = self._inner.receive()
            if message is None and "outlive" in self._habits:
                block_forever()
            if message is None or "deaf" not in self._habits or message.WhichOneof("body") != "shutdown":
                return message

    def send(self, message: pb.FromWorker) -> None:
        body = message.WhichOneof("body")
        if self._mute or (body == "alive" and "no_heartbeat" in self._habits):
            return
        if body == "welcome" and self._welcome:
            self._greet(message)
        elif body == "replies" and (plan := self._plan_for(message.replies)) is not None:
            _FAULTS[plan.fault](self, plan, message)
        else:
            self._inner.send(message)

    def encode(self, message: pb.FromWorker) -> bytes:
        return self._inner.encode(message)

    def write(self, data: bytes) -> None:
        self._inner.write(data)

    def close(self) -> None:
        self._inner.close()

    def _plan_for(self, replies: pb.Replies) -> Plan | None:
        for k, (plan, ids) in enumerate(self._armed):
            if not ids.isdisjoint(replies.ids):
                del self._armed[k]
                return plan
        return None

    def _greet(self, message: pb.FromWorker) -> None:
        if self._welcome in ("old_version", "future_version"):
            message.welcome.protocol = 0 if self._welcome == "old_version" else 99
            self._inner.send(message)
        else:
            _FAULTS[self._welcome](self, Plan(self._welcome), message)

    # --- faults of an answer -----------------------------------------------------

    def no_reply(self, _plan: Plan, _message: pb.FromWorker) -> None:
        """Send nothing."""

    def parts(self, plan: Plan, message: pb.FromWorker) -> None:
        """Send one message per decision."""
        singles = _singles(message.replies)
        for single in reversed(singles) if plan.fault == "reversed" else singles:
            self._inner.send(single)

    def hold(self, plan: Plan, message: pb.FromWorker) -> None:
        """Send the message later from another thread, while the worker continues."""
        timer = threading.Timer(plan.seconds, self._inner.send, [message])
        timer.daemon = True
        timer.start()

    def two_in_one(self, _plan: Plan, message: pb.FromWorker) -> None:
        """Send two messages in one write; a log message is the second if there is only one decision."""
        messages = _singles(message.replies)
        messages.append(pb.FromWorker(log=pb.Log(level=20, logger="test_worker", text="in one write")))
        self.write(b"".join(map(self.encode, messages)))

    def split(self, plan: Plan, message: pb.FromWorker) -> None:
        """Write a message in two pieces; heartbeats stop, since nothing may come between the pieces."""
        data = self.encode(message)
        self._mute = True
        self.write(data[: len(data) // 2])
        time.sleep(plan.seconds)
        self.write(data[len(data) // 2 :])
        self._mute = False

    def duplicate(self, _plan: Plan, message: pb.FromWorker) -> None:
        """Send the same message twice."""
        self._inner.send(message)
        self._inner.send(message)

    def unknown(self, plan: Plan, message: pb.FromWorker) -> None:
        """Send an answer that was not requested, then the real one."""
        stray = pb.FromWorker()
        stray.CopyFrom(message)
        if plan.fault == "unknown_slot":
            stray.replies.slot = UNKNOWN
        else:
            ids = range(UNKNOWN, UNKNOWN + len(stray.replies.ids))
            stray.replies.ids[:] = ids
        self._inner.send(stray)
        self._inner.send(message)

    def misshapen(self, plan: Plan, message: pb.FromWorker) -> None:
        """Send action bytes that do not fit the action space."""
        action = message.replies.action
        if plan.fault == "missing_leaf":
            del action[:]
        for column in action:
            column.data = column.data + (b"\0" if plan.fault == "wrong_shape" else column.data)
        self._inner.send(message)

    def noise(self, plan: Plan, message: pb.FromWorker) -> None:
        """Send bytes that are no message, or an empty message."""
        framed = isinstance(self._inner, SocketLink)
        body = NOISE if plan.fault != "empty_message" else b"" if framed else b"{}"
        if plan.fault == "garbage":
            self.write(body)
        elif framed:
            self.write(len(body).to_bytes(4, "little") + body)
        else:
            self.write(body.replace(b"\n", b"") + b"\n")

    def huge_header(self, _plan: Plan, _message: pb.FromWorker) -> None:
        """Announce a message that is larger than any host should accept."""
        self._mute = True
        self.write(b"\xff\xff\xff\xff" if isinstance(self._inner, SocketLink) else b"x" * (17 << 20))

    def half_message(self, plan: Plan, message: pb.FromWorker) -> None:
        """Send half of a message, then nothing, or end the process."""
        data = self.encode(message)
        self._mute = True
        self.write(data[: len(data) // 2])
        exit_at_once(plan.then)


def _singles(replies: pb.Replies) -> list[pb.FromWorker]:
    """Return one message for each answered decision."""
    count, singles = len(replies.ids), list[pb.FromWorker]()
    for k, i in enumerate(replies.ids):
        single = pb.Replies(slot=replies.slot, ids=[i])
        for column in replies.action:
            sizes = column.sizes or [len(column.data) // count] * count
            at = sum(sizes[:k])
            single.action.add(data=column.data[at : at + sizes[k]], sizes=column.sizes[k : k + 1])
        singles.append(pb.FromWorker(replies=single))
    return singles


_FAULTS: Mapping[str, Callable[[FaultyLink, Plan, pb.FromWorker], None]] = {
    "no_reply": FaultyLink.no_reply,
    "parts": FaultyLink.parts,
    "reversed": FaultyLink.parts,
    "hold": FaultyLink.hold,
    "two_in_one": FaultyLink.two_in_one,
    "split": FaultyLink.split,
    "duplicate": FaultyLink.duplicate,
    "unknown_id": FaultyLink.unknown,
    "unknown_slot": FaultyLink.unknown,
    "wrong_shape": FaultyLink.misshapen,
    "wrong_dtype": FaultyLink.misshapen,
    "missing_leaf": FaultyLink.misshapen,
    "garbage": FaultyLink.noise,
    "bad_message": FaultyLink.noise,
    "empty_message": FaultyLink.noise,
    "huge_header": FaultyLink.huge_header,
    "half_message": FaultyLink.half_message,
}
