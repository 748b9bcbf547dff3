"""Which distribution a package comes from, without reading all that is installed."""

from __future__ import annotations

import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from gym_gui.envs.index import is_installed
from gym_gui.envs.installed_distributions import distributions_of


def test_it_is_what_the_standard_library_says() -> None:
    declared = packages_distributions()  # reads all that is installed: once is enough
    for package in ("numpy", "yaml", "gymnasium", "google", "minigrid", "pettingzoo"):
        assert sorted(distributions_of(package)) == sorted(declared.get(package, [])), package


def test_what_is_not_installed_comes_from_nowhere() -> None:
    assert distributions_of("no_such_package") == ()
    assert distributions_of("num") == ()


def test_a_package_is_told_by_its_files_where_nothing_is_declared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "bench_made-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bench-made\nVersion: 1.0\n")
    (info / "RECORD").write_text("made_one/__init__.py,,\nmade_two.py,,\nmade_three.cpython-311.so,,\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    for package in ("made_one", "made_two", "made_three"):
        assert distributions_of(package) == ("bench-made",)
    assert distributions_of("made") == ()


def test_a_folder_that_is_called_as_a_package_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "no_such_simulator").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert not is_installed("no_such_simulator")
    assert is_installed("no_such_simulator", namespace=True)
