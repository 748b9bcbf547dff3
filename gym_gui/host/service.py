"""Names both ends of the host's gRPC service share."""

from __future__ import annotations

from typing import Any

from gym_gui.host.pb import session_pb2 as pb

METHOD = "/mosaic.v1.Session/Control"
TOKEN = "mosaic-token"
"""Metadata key that carries the client's token."""

OPTIONS: list[tuple[str, Any]] = [
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
]
"""Blocks of rows are large, and a Unix socket needs no proxy."""

__all__ = ["METHOD", "OPTIONS", "TOKEN", "pb"]
