"""Parameters that stand for one another: every run of the tests tries some, the full run the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def some_of(values: Iterable[Any], *often: Any) -> list[Any]:
    """Values for ``parametrize``; those that are not named ``often`` are left to the full run."""
    return [value if value in often else pytest.param(value, marks=pytest.mark.full) for value in values]
