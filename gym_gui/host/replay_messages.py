"""Converts the request for a replay to a message and back."""

from __future__ import annotations

import json

from gym_gui.controllers.replays.replay_session import ReplayOrder
from gym_gui.core.trusted.trust import Origin
from gym_gui.host.service_names import pb
from gym_gui.host.view_messages import text_by_name, texts


def replay_message(order: ReplayOrder) -> pb.ReplayRequest:
    """Return the request for a replay as a message."""
    return pb.ReplayRequest(
        operator=json.dumps(order.operator).encode(),
        index=order.index,
        seed=order.seed,
        seats=texts(order.seats),
        max_steps=order.max_steps,
        lines=order.lines,
        origin=order.origin.file,
        folder=order.origin.folder,
        seen_from=order.seen_from,
    )


def replay_order_of(message: pb.ReplayRequest) -> ReplayOrder:
    """Return the request for a replay from a message."""
    return ReplayOrder(
        json.loads(message.operator),
        message.index,
        message.seed,
        text_by_name(message.seats),
        message.max_steps if message.HasField("max_steps") else None,
        message.lines,
        Origin(message.origin, message.folder),
        message.seen_from,
    )
