"""How a package comes into this very Python: by pip, or by a uv that is there."""

from __future__ import annotations

import importlib.util
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gym_gui.core import interpreters
from gym_gui.core.interpreters import into_this_python


def test_uv_is_named_where_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``run.sh`` puts it beside the checkout, where no search path has it."""
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pip" else find(name))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(interpreters, "PACKAGE", tmp_path / "checkout" / "gym_gui")
    uv = tmp_path / "checkout" / ".tools" / "uv" / "bin" / "uv"
    if not (Path(sys.executable).parent / "uv").exists():
        assert "uv" not in into_this_python().replace(sys.executable, ""), "there is none"
        uv.parent.mkdir(parents=True)
        uv.write_text("#!/bin/sh\n")
        uv.chmod(0o755)
        assert into_this_python().startswith(f"{uv} pip install --python ")


def test_the_command_can_be_run() -> None:
    first = shlex.split(into_this_python())[0]
    assert shutil.which(first), first
    assert subprocess.run([first, "--version"], capture_output=True, check=False).returncode == 0
