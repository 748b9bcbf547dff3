"""What tests of pages ask for that are not about processes."""

from __future__ import annotations

from tests.support.no_processes import analyzes_here, looks_here, plays_here, replays_here

__all__ = ["analyzes_here", "looks_here", "plays_here", "replays_here"]
