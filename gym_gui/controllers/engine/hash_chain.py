"""Chained digest of an episode's rows, which shows the first step in which two runs differ.

Row k of an episode has ``d_k = SHA-256(d_{k-1} | agent | observation | action | reward |
flags)``, where ``d_{-1}`` is 32 zero bytes. ``state_sha`` is the first 16 hex digits of ``d_k``, and
``trajectory_sha256`` is all 64 digits of the last row's. The components:

* agent: UTF-8, then a zero byte;
* observation and action: as on the wire, one ``bytes`` per leaf, each preceded by its
  ``u32`` size if its space has more than one leaf or sizes vary. An observation of more
  than 128 bytes enters as its SHA-256, so that a long episode of images need not be kept;
* reward: little-endian ``float64``; flags: one byte, 1 terminated, 2 truncated.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from hashlib import sha256
from operator import itemgetter

from gym_gui.core.spaces import Codec, Parts

START = bytes(32)
KEEP = 128
"""Largest size in bytes of an observation that enters the digest without being hashed first."""

_SIZE = struct.Struct("<I")
_TAIL = struct.Struct("<dB")
_new = sha256().copy
"""Return a new SHA-256 object by a copy, which takes a third less time than ``sha256()``."""


def blob_of(codec: Codec) -> Callable[[Parts], bytes]:
    """Return the function that joins an encoded value of ``codec``'s space into one ``bytes``."""
    if len(codec.leaves) == 1 and codec.leaves[0][1].fixed:
        return _first
    return _joined


_first = itemgetter(0)


def _joined(parts: Parts) -> bytes:
    return b"".join([_SIZE.pack(len(p)) + p for p in parts])


def condensed(data: bytes) -> bytes:
    """Return ``data``, or its SHA-256 digest if it is longer than :data:`KEEP`."""
    return data if len(data) <= KEEP else sha256(data).digest()


def link(
    previous: bytes,
    agent: bytes,
    observation: bytes,
    action: bytes,
    reward: float,
    terminated: bool,
    truncated: bool,
) -> bytes:
    """Return the digest of a row, from the previous row's digest and the row's data.

    ``agent`` ends with its zero byte, and ``observation`` is a result of :func:`condensed`.
    """
    tail = _TAIL.pack(reward, terminated | truncated << 1)
    digest = _new()
    digest.update(previous + agent + observation + action + tail)
    return digest.digest()
