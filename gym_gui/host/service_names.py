"""Names that both ends of the host's service share."""

from __future__ import annotations

from gym_gui.host.pb import session_pb2 as pb
from gym_gui.version import __version__

PROTOCOL = 7
"""Version of the protocol, increased with every change of ``session.proto``."""


def greeting() -> pb.Greeting:
    """Return the protocol and the version of this end."""
    return pb.Greeting(protocol=PROTOCOL, version=__version__)


__all__ = ["greeting", "pb"]
