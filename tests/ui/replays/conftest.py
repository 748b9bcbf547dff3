"""A run of two kinds of environment, played once for all tests here."""

from __future__ import annotations

from tests.support.no_processes import replays_here
from tests.support.played_run import played_run, run

__all__ = ["played_run", "replays_here", "run"]
