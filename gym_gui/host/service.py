"""Names both ends of the host's service share."""

from __future__ import annotations

from gym_gui.host.pb import session_pb2 as pb

LISTENING = b"listening"
"""First line of the pipe that takes the indices of episodes that begin."""

__all__ = ["LISTENING", "pb"]
