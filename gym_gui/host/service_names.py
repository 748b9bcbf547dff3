"""Names both ends of the host's service share."""

from __future__ import annotations

from gym_gui.host.pb import session_pb2 as pb
from gym_gui.version import __version__

PROTOCOL = 6
"""Raised with every change of ``session.proto``."""


def greeting() -> pb.Greeting:
    """What this end says of itself."""
    return pb.Greeting(protocol=PROTOCOL, version=__version__)


__all__ = ["greeting", "pb"]
