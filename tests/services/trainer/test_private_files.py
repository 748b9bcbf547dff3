"""What the daemon keeps is for its person alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from gym_gui.services.trainer.training_registry import RunRegistry


@pytest.mark.parametrize("earlier", [False, True])
def test_the_registry_is_read_by_nobody_else(tmp_path: Path, earlier: bool) -> None:
    before = os.umask(0o022)
    try:
        if earlier:
            RunRegistry(tmp_path).close()
            for path in tmp_path.iterdir():
                path.chmod(0o644)
        registry = RunRegistry(tmp_path)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
        registry.close()
    finally:
        os.umask(before)
    assert modes and set(modes.values()) == {0o600}, modes
