"""Tests of started programs leave none behind."""

from tests.support.fixtures import offspring

__all__ = ["offspring"]
