"""Tests of worker processes leave none behind."""

from tests.support.fixtures import offspring

__all__ = ["offspring"]
