"""The check for import cycles finds them wherever an import statement stands."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "checks" / "import_cycles.py"

Found = Callable[[Mapping[str, str]], tuple[int, str]]


@pytest.fixture
def found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Found:
    """Gives exit status and words of the script for a package ``pack`` of these files."""
    spec = importlib.util.spec_from_file_location("import_cycles", SCRIPT)
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)

    def checked(files: Mapping[str, str]) -> tuple[int, str]:
        for name, text in {"__init__.py": "", **files}.items():
            path = tmp_path / "pack" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return script.main([str(tmp_path / "pack")]), capsys.readouterr().out

    return checked


@pytest.mark.parametrize(
    "back",
    [
        "import pack.a",
        "import pack.a as other",
        "from pack import a",
        "from . import a",
        "from .a import thing",
        "def late():\n    from pack.a import thing",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pack.a import Thing",
        "try:\n    from pack.a import thing\nexcept ImportError:\n    pass",
    ],
)
def test_every_import_statement_counts(found: Found, back: str) -> None:
    status, told = found({"a.py": "from pack import b\n", "b.py": back})
    assert status == 1
    assert "pack.a -> pack.b" in told and "pack.b -> pack.a" in told and "a.py:1" in told


def test_a_name_of_a_package_is_imported_from_its_init(found: Found) -> None:
    files = {"__init__.py": "from pack import a\nNAME = 1\n", "a.py": "from pack import NAME\n"}
    status, told = found(files)
    assert status == 1 and "2 modules" in told and "pack.a -> pack " in told


def test_a_module_below_a_package_that_hands_it_out_is_no_cycle(found: Found) -> None:
    files = {
        "__init__.py": "from pack.below.a import thing\n",
        "below/__init__.py": "from .a import thing\n",
        "below/a.py": "from ..leaf import other\nfrom . import b\n",
        "below/b.py": "import os, pack.leaf\nfrom elsewhere import pack\n",
        "leaf.py": "from __future__ import annotations\n",
    }
    assert found(files)[0] == 0


def test_cycles_apart_from_each_other_are_told_apart(found: Found) -> None:
    files = {
        "a.py": "from pack import b, x\n",
        "b.py": "from pack import c\n",
        "c.py": "from pack import a\n",
        "x.py": "from pack import y\n",
        "y.py": "from pack import x, z\n",
        "z.py": "",
    }
    status, told = found(files)
    assert status == 1
    assert "3 modules import each other" in told and "2 modules import each other" in told
    assert "pack.a -> pack.x" not in told and "pack.z" not in told
