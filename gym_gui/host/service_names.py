"""Names and version that host and client of the session service share."""

from __future__ import annotations

from gym_gui.host.pb import session_pb2 as pb
from gym_gui.version import __version__

PROTOCOL = 7
"""Version of the protocol, increased with every change of ``session.proto``."""


def greeting() -> pb.Greeting:
    """Return a message with this program's protocol and version, which host and client compare."""
    return pb.Greeting(protocol=PROTOCOL, version=__version__)


__all__ = ["greeting", "pb"]
