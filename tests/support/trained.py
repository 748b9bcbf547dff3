"""Whether trained policies can be played here: set-up goes on where there is no PyTorch for this Python.

A module of tests that names PyTorch is skipped as a whole (conftest.py); this is for single tests of others.
"""

from __future__ import annotations

from importlib.util import find_spec

import pytest

PLAYABLE = find_spec("torch") is not None

needs_a_trained_policy = pytest.mark.skipif(not PLAYABLE, reason="it needs torch, which is not installed")
