"""What goes wrong with a place where shards are played, and may pass."""

from __future__ import annotations

from gym_gui.core.errors import MosaicError


class HostAwayError(MosaicError):
    """A host, or a scheduler, cannot be reached, or does not answer."""


class HostFailedError(MosaicError):
    """It was reached, and what it was told to do has failed."""
