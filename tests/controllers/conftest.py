"""Sessions of these tests start processes; none may be left."""

from __future__ import annotations

from tests.support.fixtures import offspring
from tests.support.joint import joint_policy

__all__ = ["joint_policy", "offspring"]
