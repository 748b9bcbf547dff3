"""Packages hand out their public names on first use, and load nothing before."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

PACKAGES = ("gym_gui", "gym_gui.services", "gym_gui.services.trainer", "gym_gui.analysis")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_found(package: str) -> None:
    module = import_module(package)
    missing = [name for name in module.__all__ if not hasattr(module, name)]
    assert not missing
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        _ = module.nothing


@pytest.mark.parametrize("package", PACKAGES)
def test_importing_a_package_loads_none_of_its_modules(package: str) -> None:
    look = f"import sys, {package}; print(*(m for m in sys.modules if m.startswith('{package}.')))"
    said = subprocess.run([sys.executable, "-c", look], check=True, capture_output=True, text=True)
    assert set(said.stdout.split()) <= {"gym_gui.lazy_imports", "gym_gui.version"}
