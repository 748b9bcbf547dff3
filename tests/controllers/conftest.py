"""Sessions of these tests start processes; none may be left."""

from __future__ import annotations

from tests.support.fixtures import offspring

__all__ = ["offspring"]
