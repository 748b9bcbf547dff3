"""Tests of worker processes leave none behind."""

from tests.support.fixtures import offspring
from tests.support.joint import joint_policy

__all__ = ["joint_policy", "offspring"]
