"""Makes the probe environments importable by name (``sb3_probes:Constant-v0``), here and in children."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))

import sb3_probes

# They are there for these tests alone: others list what is registered.
_SPECS = {name: gymnasium.registry.pop(name) for name in sb3_probes.NAMES}


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """The probe environments, by name; torch on one thread, as the worker has it."""
    torch.set_num_threads(1)
    gymnasium.registry.update(_SPECS)
    yield
    for name in _SPECS:
        gymnasium.registry.pop(name, None)
