"""Sessions of this process, as for the pages' tests."""

from __future__ import annotations

from tests.support.no_processes import looks_here, plays_here

__all__ = ["looks_here", "plays_here"]
