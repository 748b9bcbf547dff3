"""What tests of pages ask for that are not about processes."""

from __future__ import annotations

from tests.support.no_processes import looks_here, plays_here

__all__ = ["looks_here", "plays_here"]
