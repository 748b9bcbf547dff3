"""Fixtures of tests that start processes; a ``conftest.py`` imports what it needs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gym_gui.processes.tree import TAG
from tests.support.processes import Offspring, abandoned, strangers
from tests.support.waiting import eventually

_SHARED_MEMORY = Path("/dev/shm")


@pytest.fixture(autouse=True)
def offspring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Offspring]:
    """What this test starts, with folders of its own; fails the test when anything is left behind."""
    family = Offspring(f"test-{os.getpid()}-{tmp_path.name}-{os.urandom(4).hex()}")
    for name, value in family.variables.items():
        monkeypatch.setenv(name, value)
    # As if a program of ours had started the tests: what they start needs no reaper of its own.
    monkeypatch.setenv(TAG, "tests")
    # Short, because the paths of sockets must be.
    with tempfile.TemporaryDirectory(prefix="mt", dir="/tmp") as short:
        runtime = Path(short)
        monkeypatch.setenv("MOSAIC_RUNTIME_DIR", str(runtime))
        monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path / "data"))
        monkeypatch.setenv("MOSAIC_CONFIG_DIR", str(tmp_path / "config"))
        before = strangers(_SHARED_MEMORY)
        yield family
        family.assert_none()
        eventually(lambda: not strangers(runtime), f"sockets are gone: {strangers(runtime)}")
        # Others on the machine, such as a Ray that another test has started, have memory of their own.
        eventually(
            lambda: not abandoned(strangers(_SHARED_MEMORY) - before), "shared memory is gone", within=30.0
        )
