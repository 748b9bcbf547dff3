"""Addresses of services, and constants that both ends of a connection share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

TOKEN = "mosaic-token"
"""Metadata key of every call, for the client's token."""
FIX = "mosaic-fix-bin"
"""Key in the trailing metadata of a failed call; its value is the error's ``fix`` in UTF-8."""
ADMITTED = "mosaic-admitted"
"""Key in the initial metadata of a stream that the server has accepted."""

OPTIONS: list[tuple[str, Any]] = [
    # Blocks of rows are large. A Unix socket needs no proxy.
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    ("grpc.enable_http_proxy", 0),
    # Services use one socket after another. A connection must not fail because an older one has failed.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    # gRPC uses this as the longest time of a connection attempt. The server may have to wait for a core.
    ("grpc.min_reconnect_backoff_ms", 10_000),
]
"""Channel options of gRPC for both client and server."""


@dataclass(frozen=True)
class UnixAddress:
    """Address of a Unix socket, in a folder of mode 0700."""

    path: Path

    def __str__(self) -> str:
        return f"unix:{self.path}"


@dataclass(frozen=True)
class TlsAddress:
    """Address of a TCP port with TLS.

    target: ``host:port``; the certificate must name the host.
    certificate: PEM certificate that the service's certificate is checked against.
    """

    target: str
    certificate: bytes

    def __str__(self) -> str:
        return self.target


Address: TypeAlias = UnixAddress | TlsAddress
