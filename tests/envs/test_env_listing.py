"""Listing reads what the packages register and imports none of them."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import gymnasium
import pytest
from pettingzoo import aec_registry, parallel_registry

from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.envs import index, list_specs
from gym_gui.envs.families.pettingzoo import underscored

_LIST = """
import json, sys
from gym_gui.envs import list_specs, resolve
specs = list_specs()
for spec in specs:
    resolve(spec.id)
heavy = {"gymnasium", "pettingzoo", "minigrid", "mosaic_multigrid", "mpe2", "pyspiel", "shimmy", "pygame"}
heavy |= {"numba", "rlcard", "chess"}
print(json.dumps([len(specs), sorted(heavy & sys.modules.keys())]))
"""


def test_listing_and_resolving_import_no_environment_package() -> None:
    done = subprocess.run([sys.executable, "-c", _LIST], capture_output=True, text=True, check=True)
    count, imported = json.loads(done.stdout)
    assert count > 300
    assert imported == []


def test_ids_are_unique_and_come_from_the_registries() -> None:
    specs = list_specs()
    assert len({spec.id for spec in specs}) == len(specs)
    classic = {s for s in gymnasium.registry if s.startswith(("CartPole", "Taxi", "FrozenLake"))}
    assert classic <= {spec.id for spec in list_specs("classic_control")}
    assert {spec.id for spec in list_specs("pettingzoo")} == {
        underscored(i) for i in {*aec_registry, *parallel_registry}
    }


_AS_TOLD = """
import sys
if "imported" in sys.argv:
    import gymnasium, pettingzoo
from gym_gui.envs import list_specs
for spec in list_specs():
    print(spec.id, spec.apis, spec.entry_point, spec.max_episode_steps, list(spec.traits))
"""


def test_the_index_says_what_the_registries_say() -> None:
    command = [sys.executable, "-c", _AS_TOLD]
    read = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    here = subprocess.run([*command, "imported"], capture_output=True, text=True, check=True).stdout
    assert read == here and "CartPole-v1" in read and "classic/chess_v6 ('aec'" in read


@pytest.mark.parametrize(
    ("family", "least"),
    [("minigrid", 150), ("multigrid", 80), ("ini_multigrid", 13), ("mpe2", 9), ("openspiel", 90)],
)
def test_indexed_families_are_full(family: str, least: int) -> None:
    specs = list_specs(family)
    assert {spec.family for spec in specs} == {family}
    assert len(specs) >= least
    assert all(spec.install == f"mosaic envs install {family}" for spec in specs)


def test_a_hint_may_name_a_part() -> None:
    assert {spec.id.partition("-")[0] for spec in list_specs("babyai")} == {"BabyAI"}


def test_an_unknown_family() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'minigrid'"):
        list_specs("minigird")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that registers one environment while it is imported, and counts its imports."""
    home = tmp_path / "toy_world"
    home.mkdir()
    (home / "__init__.py").write_text(
        "import gymnasium, pathlib\n"
        "with (pathlib.Path(__file__).parent.parent / 'imports').open('a') as f: f.write('x')\n"
        "print('Welcome to toy world!')\n"
        "gymnasium.register('Toy-v0', entry_point='toy_world:Toy', max_episode_steps=7)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("MOSAIC_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def fresh() -> tuple[dict[str, object], ...]:
    index.entries.cache_clear()
    return index.entries("gymnasium", "toy_world")


def test_a_package_is_imported_once_and_not_here(package: Path) -> None:
    expected = ({"id": "Toy-v0", "entry_point": "toy_world:Toy", "max_episode_steps": 7, "kwargs": {}},)
    assert fresh() == expected
    assert fresh() == expected
    assert (package / "imports").read_text() == "x"
    assert "toy_world" not in sys.modules
    assert "Toy-v0" not in gymnasium.registry


def test_a_damaged_index_is_made_again(package: Path) -> None:
    expected = fresh()
    (file,) = (package / "cache" / "envs").iterdir()
    for damage in ("", "{", '{"id": 1}', "[1]", '[{"name": "x"}]'):
        file.write_text(damage)
        assert fresh() == expected, damage
        assert json.loads(file.read_text()) == list(expected), damage


def test_an_index_that_cannot_be_kept_is_used_all_the_same(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (package / "cache").write_text("a file is in the way")
    assert fresh()[0]["id"] == "Toy-v0"


def test_a_package_that_breaks_on_import_is_a_sentence(package: Path) -> None:
    (package / "toy_world" / "__init__.py").write_text("raise RuntimeError('no licence')\n")
    with pytest.raises(
        UsageError, match="toy_world is installed but cannot be imported: RuntimeError: no licence"
    ):
        fresh()


def test_a_package_that_is_not_there() -> None:
    assert not index.is_installed("no_such_package_anywhere")
    assert not index.is_installed("no_such.package")
    assert index.package_dir("no_such_package_anywhere") is None


def test_what_shimmy_registers_in_passing_is_no_environment() -> None:
    """Its import (OpenSpiel's families do it) registers adapters that cannot be made by their name."""
    importlib.import_module("shimmy")
    assert "GymV26Environment-v0" in gymnasium.registry
    assert not [spec.id for spec in list_specs() if spec.id.startswith("GymV2")]
