"""An environment whose package this machine has not."""

from __future__ import annotations

from typing import Final

import pytest

from gym_gui import envs

_ENVIRONMENTS: Final = {
    "atari": "ALE/Pong-v5",
    "bsuite": "bsuite/catch/0",
    "textarena": "textarena/TicTacToe-v0",
}


def missing_environment() -> tuple[str, str]:
    """An environment and its family, which is not installed here; skips the test where all are."""
    families = envs.families()
    for family, task in _ENVIRONMENTS.items():
        if not families[family].installed:
            return task, family
    pytest.skip(f"all of {', '.join(_ENVIRONMENTS)} are installed")
