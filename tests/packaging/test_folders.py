"""The check of folders finds what is too full, goes in a circle, or has a name that means two things."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"

Found = Callable[[Mapping[str, str]], tuple[int, str]]


@pytest.fixture
def found(tmp_path: Path) -> Found:
    """Gives exit status and words of the script for a package ``pack`` of these files."""

    def checked(files: Mapping[str, str]) -> tuple[int, str]:
        for name, text in {"__init__.py": "", **files}.items():
            path = tmp_path / "pack" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            (path.parent / "__init__.py").touch()
            path.write_text(text, encoding="utf-8")
        command = [sys.executable, str(SCRIPTS / "checks" / "folders.py"), str(tmp_path / "pack")]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert not ended.stderr
        return ended.returncode, ended.stdout

    return checked


def test_a_folder_has_at_most_thirty_modules(found: Found) -> None:
    assert found({f"module_{i}.py": "" for i in range(30)})[0] == 0
    status, told = found({"module_30.py": ""})
    assert status == 1
    assert "pack has 31 modules" in told


def test_folders_side_by_side_go_one_way(found: Found) -> None:
    files = {
        "red/a.py": "from pack.blue import b\n",
        "blue/b.py": "",
        "blue/c.py": "def late():\n    from pack.green.d import thing\n",
        "green/d.py": "",
    }
    assert found(files)[0] == 0
    status, told = found({"green/d.py": "import pack.red.other\n", "red/other.py": ""})
    assert status == 1
    assert "pack.blue, pack.green, pack.red import each other" in told
    assert "d.py:1" in told


def test_a_folder_may_import_the_one_it_lies_in_and_the_other_way_round(found: Found) -> None:
    files = {"red/a.py": "from pack import top\n", "top.py": "", "door.py": "from pack.red import a\n"}
    assert found(files)[0] == 0


def test_a_name_is_of_one_module(found: Found) -> None:
    status, told = found({"red/state.py": "", "blue/state.py": ""})
    assert status == 1
    assert "state is the name of 2 modules: pack.blue.state, pack.red.state" in told
