"""Where a service listens, and what both ends of a connection agree on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

TOKEN = "mosaic-token"
"""Metadata key of every call: the client's token."""
FIX = "mosaic-fix-bin"
"""Trailing metadata of a call that failed: the way out, as UTF-8."""
ADMITTED = "mosaic-admitted"
"""Initial metadata of a stream whose client may go on."""

OPTIONS: list[tuple[str, Any]] = [
    # Blocks of rows are large, and a Unix socket needs no proxy.
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    ("grpc.enable_http_proxy", 0),
    # Services follow each other on one socket: a connection is not to fail because an older one has.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    # gRPC takes this as the longest time of an attempt to connect: the server may have to wait for a core.
    ("grpc.min_reconnect_backoff_ms", 10_000),
]
"""Of both ends."""


@dataclass(frozen=True)
class UnixAddress:
    """A Unix socket, in a folder of mode 0700."""

    path: Path

    def __str__(self) -> str:
        return f"unix:{self.path}"


@dataclass(frozen=True)
class TlsAddress:
    """A port of a machine, with TLS.

    Attributes:
        target: ``host:port``; a host that the certificate names.
        certificate: What its certificate is checked against, as PEM.
    """

    target: str
    certificate: bytes

    def __str__(self) -> str:
        return self.target


Address: TypeAlias = UnixAddress | TlsAddress
