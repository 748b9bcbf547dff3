"""pyproject.toml, requirements/ and the source tree say the same."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "requirements"
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS: dict[str, list[str]] = PYPROJECT["project"]["optional-dependencies"]
MANIFESTS = sorted((ROOT / "3rd_party").glob("*_worker/worker.toml"))


def _lines(name: str) -> set[str]:
    text = (REQUIREMENTS / name).read_text(encoding="utf-8")
    return {line for line in text.splitlines() if line and not line.startswith("#")}


def _package(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found, requirement
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def test_base_is_the_engine_and_the_window() -> None:
    asked = {*PYPROJECT["project"]["dependencies"], *EXTRAS["gui"]}
    assert _lines("base.txt") == {line for line in asked if _package(line) != "mosaic-worker"}


def test_the_engine_needs_neither_qt_nor_torch() -> None:
    names = {_package(line) for line in PYPROJECT["project"]["dependencies"]}
    assert not names & {"pyqt6", "qasync", "pyqtgraph", "torch", "tensorboard", "pettingzoo", "minigrid"}


@pytest.mark.parametrize(
    "family",
    [
        *("classic", "toy-text", "box2d", "mujoco", "atari", "mpe2", "minigrid", "multigrid"),
        *(
            "ini-multigrid",
            "crafter",
            "textworld",
            "highway",
            "lbforaging",
            "rware",
            "dm-control",
            "vizdoom",
            "vmas",
        ),
    ],
)
def test_a_family_file_holds_its_extra(family: str) -> None:
    assert set(EXTRAS[family]) <= _lines(f"{family.replace('-', '_')}.txt")


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: path.parent.name)
def test_what_a_worker_asks_for_is_in_its_extra_and_file(manifest: Path) -> None:
    told = tomllib.loads(manifest.read_text(encoding="utf-8"))
    requires = told.get("requires", {})
    asked = [*requires.get("pip", []), *requires.get("no_deps", [])]
    name = requires.get("extra") or manifest.parent.name.removesuffix("_worker")
    extra = _unfolded(name)
    base = PYPROJECT["project"]["dependencies"]
    if {"python", "family"} & told["launch"].keys():
        assert not extra, "it has an environment of its own: the extra would bring its packages into ours"
    else:
        assert {_package(line) for line in asked} <= {_package(line) for line in [*extra, *base]}
    own = f"{manifest.parent.name}.txt"
    file = own if (REQUIREMENTS / own).exists() else f"{name}_worker.txt"
    assert {_package(line) for line in asked} <= {_package(line) for line in _lines(file)}


def _unfolded(name: str) -> list[str]:
    """What an extra asks for, those that it names taken apart."""
    found: list[str] = []
    for line in EXTRAS[name]:
        inner = re.fullmatch(r"mosaic-gym-gui\[(.+)\]", line)
        found += [each for part in inner[1].split(",") for each in _unfolded(part)] if inner else [line]
    return found


def test_each_file_that_the_design_documents_name_is_there() -> None:
    workers = ["cleanrl", "xuance", "ray", "jason", "spade_bdi", "llm", "vlm", "mujoco_mpc", "airsim"]
    wanted = {"base.txt", "pettingzoo.txt", "vizdoom.txt", *(f"{name}_worker.txt" for name in workers)}
    assert wanted <= {path.name for path in REQUIREMENTS.glob("*.txt")}


@pytest.mark.parametrize("file", sorted(REQUIREMENTS.glob("*.txt")), ids=lambda path: path.name)
def test_each_line_is_a_requirement(file: Path) -> None:
    assert all(Requirement(line).name for line in _lines(file.name))


def test_constraints_pin_each_thing_that_is_asked_for() -> None:
    pins = {_package(line) for line in _lines("constraints.txt")}
    asked = [*PYPROJECT["project"]["dependencies"], *(line for extra in EXTRAS.values() for line in extra)]
    assert {_package(line) for line in asked} - pins <= {"mosaic-gym-gui", "mosaic-worker"}


def test_constraints_are_exact_and_hold_the_reasoned_pins() -> None:
    lines = _lines("constraints.txt")
    assert all(re.fullmatch(r"[a-z0-9._-]+==[^+\s]+( ; .+)?", line) for line in lines)
    assert {"torch==2.13.0", "mujoco==3.3.7", "gymnasium==1.4.0"} <= lines
    assert not any(re.match(r"(nvidia|cuda|triton|pygame=)", line) for line in lines)


def test_all_but_the_window_is_checked_strictly() -> None:
    strict = set(PYPROJECT["tool"]["pyright"]["strict"])
    folders = {f"gym_gui/{path.parent.name}" for path in (ROOT / "gym_gui").glob("*/*.py")}
    assert folders - strict <= {"gym_gui/ui"}


def test_every_layer_is_in_the_import_contract() -> None:
    layers = next(c["layers"] for c in PYPROJECT["tool"]["importlinter"]["contracts"] if c["id"] == "layers")
    named = set(re.findall(r"gym_gui\.\w+", " ".join(layers)))
    modules = {path.parent.name for path in (ROOT / "gym_gui").glob("*/*.py")}
    modules |= {path.stem for path in (ROOT / "gym_gui").glob("*.py")} - {"__init__"}
    assert {f"gym_gui.{name}" for name in modules} <= named


@pytest.mark.parametrize(
    "manifest",
    [path for path in MANIFESTS if "\nentry = " in path.read_text()],  # one in another language has none
    ids=lambda path: path.parent.name,
)
def test_a_worker_package_knows_the_sdk_alone(manifest: Path) -> None:
    package = manifest.parent / manifest.parent.name
    imported = {name for file in package.rglob("*.py") for name in _imports(file)}
    assert "mosaic_worker" in imported
    assert not imported & {"gym_gui", "PyQt6"}


def _imports(file: Path) -> set[str]:
    """Top-level names that a module imports, inside functions too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found
