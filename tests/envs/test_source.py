"""Documentation is read from source files; what is read is what importing would give."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from gym_gui.envs import list_specs
from gym_gui.envs.documents import source
from gym_gui.envs.environment_registry import family_of


@pytest.mark.parametrize(
    "point",
    [
        "gymnasium.envs.classic_control.cartpole:CartPoleEnv",
        "gymnasium.envs.toy_text.frozen_lake:FrozenLakeEnv",
        "minigrid.envs:EmptyEnv",  # imported into the package
        "minigrid.envs.babyai:GoToRedBall",
        "mosaic_multigrid.envs.soccer_game:SoccerGame4HIndAgObsEnv16x11N2",
    ],
)
def test_the_docstring_of_a_class(point: str) -> None:
    found = source.find(point)
    module, _, name = point.partition(":")
    cls = getattr(importlib.import_module(module), name)
    assert found is not None and found.node is not None
    assert found.text == inspect.getdoc(cls)
    assert found.module == cls.__module__


def test_the_docstring_of_the_module_of_a_function() -> None:
    for point in ("pettingzoo.classic.chess_v6:env", "mpe2.simple_tag_v3:parallel_env"):
        found = source.find(point)
        assert found is not None and found.node is None
        assert found.module_text == inspect.cleandoc(importlib.import_module(found.module).__doc__ or "")


def test_bases_are_followed_across_files() -> None:
    found = source.find("minigrid.envs:DoorKeyEnv")
    assert found is not None
    names = [each.node.name for each in source.classes(found) if each.node is not None]
    assert names[:2] == ["DoorKeyEnv", "MiniGridEnv"]


def test_there_is_documentation_where_a_package_of_it_is_missing() -> None:
    """Box2D is not imported, and need not be there."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; sys.modules['Box2D'] = None\n"
            "from gym_gui.envs.documents import source\n"
            "found = source.find('gymnasium.envs.box2d:LunarLander')\n"
            "print(found.text.split()[1], source.render_modes(found))\n"
            "assert not any(m.startswith('gymnasium') for m in sys.modules)",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split(maxsplit=1) == ["Description", "('human', 'rgb_array')\n"]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "little_world"
    home.mkdir()
    (home / "__init__.py").write_text(
        "from .inner import *\nfrom .inner import Maze as Labyrinth\nfrom .loop import Endless\n"
    )
    (home / "inner.py").write_text(
        'from little_world.base import Base\nclass Maze(Base):\n    """A maze."""\n'
        "class Bare(Base):\n    metadata = {'render_modes': MODES}\n"
    )
    (home / "base.py").write_text(
        'class Base:\n    """A base."""\n    metadata = {"render_modes": ["ansi"]}\n'
    )
    (home / "loop.py").write_text("from little_world import Endless\n")
    (home / "broken.py").write_text("class (:\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return home


def test_stars_and_other_names_are_followed(package: Path) -> None:
    for name in ("Maze", "Labyrinth"):
        found = source.find(f"little_world:{name}")
        assert found is not None and found.text == "A maze."
        assert source.render_modes(found) == ("ansi",)
    bare = source.find("little_world:Bare")
    assert bare is not None and [each.text for each in source.classes(bare)] == ["", "A base."]
    assert source.render_modes(bare) == ("ansi",), "what is no literal is left to the base"


@pytest.mark.parametrize(
    "point",
    ["little_world:Nothing", "little_world.broken:X", "no_such_package:X", "little_world:Endless", ":"],
)
def test_what_has_no_source_is_not_found(package: Path, point: str) -> None:
    assert source.find(point) is None


def test_a_changed_file_is_read_again(package: Path) -> None:
    assert source.find("little_world.base:New") is None
    (package / "base.py").write_text('class New:\n    """New."""\n')
    found = source.find("little_world.base:New")
    assert found is not None and found.text == "New."


def test_every_listed_environment_has_its_source() -> None:
    missing = [
        spec.id
        for spec in list_specs()
        if spec.family != "openspiel" and source.find(str(family_of(spec).documented_at(spec))) is None
    ]
    assert missing == []
