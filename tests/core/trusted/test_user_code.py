"""Code of a folder: found there, fingerprinted, loaded as it was fingerprinted, hiding nothing.

Names end in ``of_ours``: modules stay loaded, and each test has its own.
"""

from __future__ import annotations

import importlib.util
import py_compile
import sys
from pathlib import Path

import pytest

from gym_gui.core.trusted import user_code
from gym_gui.core.trusted.user_code import OwnModule, in_folder


def found(module: str, folder: Path) -> OwnModule:
    own = in_folder(module, folder)
    assert own is not None
    return own


def test_a_module_is_loaded_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "maze_of_ours.py").write_text("SIZE = 7\n")
    assert found("maze_of_ours", tmp_path).load().SIZE == 7
    assert in_folder("no_such_maze", tmp_path) is None
    assert str(tmp_path) not in sys.path


def test_packages_submodules_and_neighbors(tmp_path: Path) -> None:
    package = tmp_path / "mazes_of_ours"
    (package / "levels").mkdir(parents=True)
    (package / "__init__.py").write_text("from . import core\n")
    (package / "core.py").write_text("from mazes_of_ours.levels.first import SIZE\nimport beside_ours\n")
    (package / "levels" / "first.py").write_text("SIZE = 3\n")
    (tmp_path / "beside_ours.py").write_text("NAME = 'neighbor'\n")
    core = found("mazes_of_ours.core", tmp_path).load()
    assert (core.SIZE, core.beside_ours.NAME) == (3, "neighbor")


@pytest.mark.parametrize("name", ["random", "numpy", "orjson"])
def test_nothing_that_is_there_is_hidden(tmp_path: Path, name: str) -> None:
    real = importlib.import_module(name)
    (tmp_path / f"{name}.py").write_text("MINE = True\n")
    (tmp_path / f"uses_{name}.py").write_text(f"import {name} as found\n")
    assert found(f"uses_{name}", tmp_path).load().found is real
    # Where the environment itself is called so, it is loaded all the same, under another name.
    mine = found(name, tmp_path).load()
    assert mine.MINE
    assert sys.modules[name] is real


def test_two_folders_may_have_modules_of_one_name(tmp_path: Path) -> None:
    sizes: list[int] = []
    for size in (1, 2):
        folder = tmp_path / str(size)
        folder.mkdir()
        (folder / "twin_of_ours.py").write_text(f"SIZE = {size}\n")
        sizes.append(found("twin_of_ours", folder).load().SIZE)
    assert sizes == [1, 2]


def test_links_byte_code_and_hidden_folders_are_passed_over(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "folder", tmp_path / "elsewhere.py"
    folder.mkdir()
    elsewhere.write_text("SIZE = 0\n")
    (folder / "linked_of_ours.py").symlink_to(elsewhere)
    assert in_folder("linked_of_ours", folder) is None
    source = folder / "compiled_of_ours.py"
    source.write_text("SIZE = 1\n")
    before = found("compiled_of_ours", folder)
    evil = tmp_path / "evil.py"
    evil.write_text("SIZE = 666\n")
    cache = Path(importlib.util.cache_from_source(str(source)))
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH  # the interpreter would take it unseen
    py_compile.compile(str(evil), str(cache), invalidation_mode=mode)
    py_compile.compile(str(evil), str(folder / "bare_of_ours.pyc"))
    assert in_folder("bare_of_ours", folder) is None
    assert found("compiled_of_ours", folder).sha256 == before.sha256
    assert found("compiled_of_ours", folder).load().SIZE == 1


def test_a_file_that_changes_after_it_was_looked_at_is_not_loaded(tmp_path: Path) -> None:
    source = tmp_path / "swapped_of_ours.py"
    source.write_text("SIZE = 1\n")
    looked_at = found("swapped_of_ours", tmp_path)
    source.write_text("SIZE = 666\n")
    with pytest.raises(ImportError, match="was changed"):
        looked_at.load()
    assert found("swapped_of_ours", tmp_path).sha256 != looked_at.sha256


def test_too_much_code_is_no_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        (tmp_path / f"m{number}.py").write_text("")
    monkeypatch.setattr(user_code, "MAX_FILES", 3)
    with pytest.raises(user_code.UsageError, match="too much code"):
        in_folder("m0", tmp_path)
