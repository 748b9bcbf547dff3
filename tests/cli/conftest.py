"""Tests of the command line run it as a person does, and leave no process behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import Mosaic
from tests.support.fixtures import offspring
from tests.support.processes import Offspring

__all__ = ["offspring"]


@pytest.fixture
def mosaic(tmp_path: Path, offspring: Offspring) -> Mosaic:
    """The command line in a folder of its own."""
    return Mosaic(tmp_path, offspring)
