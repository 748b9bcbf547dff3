"""The package hands out its public names lazily."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import gym_gui.services as services
from gym_gui.core.protocols import PolicyController


@pytest.mark.parametrize("name", services.__all__)
def test_every_public_name_is_there(name: str):
    assert getattr(services, name).__name__ == name


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = services.Nothing


def test_importing_the_package_loads_no_service():
    loaded = "[m for m in sys.modules if m.startswith('gym_gui.services.')]"
    code = f"import sys, gym_gui.services; print({loaded})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("module", ["gym_gui.services.actor"])
def test_the_protocol_of_policies_is_where_the_design_documents_put_it(module: str):
    assert importlib.import_module(module).PolicyController is PolicyController
