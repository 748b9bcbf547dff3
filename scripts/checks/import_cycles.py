"""Import cycles between modules: none may be.

    python scripts/checks/import_cycles.py [FOLDER ...]

Reads the packages in FOLDER (gym_gui and those below 3rd_party, if none is named) without importing them.
Every import statement counts: at the top of a module, in a function, under TYPE_CHECKING. ``from package
import name`` imports the module ``package.name`` where there is one, and the package otherwise. Modules
that reach each other are printed with the lines that join them, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

Edges = dict[str, str]
"""What a module imports, with the place (file and line) of the first statement that does."""


def packages() -> list[Path]:
    """The folders of gym_gui and of every package below 3rd_party, tests left out."""
    found = sorted(
        path.parent for path in ROOT.glob("3rd_party/*/*/__init__.py") if path.parent.name != "tests"
    )
    return [ROOT / "gym_gui", *found]


def modules(package: Path) -> dict[str, Path]:
    """The modules of a package by their full name."""
    found: dict[str, Path] = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def asked_for(arguments: Sequence[str] | None, description: str) -> dict[str, Path]:
    """The modules of the packages that a command line names; of all packages, if it names none."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="folder of a package")
    known: dict[str, Path] = {}
    for folder in parser.parse_args(arguments).folders or packages():
        known.update(modules(folder.resolve()))
    return known


def imports(name: str, path: Path, known: Mapping[str, Path]) -> Edges:
    """The known modules that one module imports."""
    edges: Edges = {}
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_bytes(), path.name)):
        for target in _targets(node, package, known):
            if target in known:
                edges.setdefault(target, f"{path}:{node.lineno}")  # type: ignore[attr-defined]
    return edges


def _targets(node: ast.AST, package: str, known: Mapping[str, Path]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*above, *filter(None, [node.module])])
        for alias in node.names:
            submodule = f"{base}.{alias.name}"
            yield submodule if submodule in known else base


def cycles(graph: Mapping[str, Edges]) -> list[list[str]]:
    """Groups of modules that reach each other, a module that imports itself among them."""
    reached = {name: _reached(name, graph) for name in graph}
    found: dict[str, list[str]] = {}
    for name in sorted(graph):
        if name in reached[name]:
            first = min(other for other in reached[name] if name in reached[other])
            found.setdefault(first, []).append(name)
    return list(found.values())


def _reached(start: str, graph: Mapping[str, Edges]) -> set[str]:
    """All that a module imports, through others too."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()].keys() - found
        found |= new
        waiting += new
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the cycles; 0 where there is none."""
    known = asked_for(arguments, "Import cycles between modules.")
    graph = {name: imports(name, path, known) for name, path in known.items()}
    found = cycles(graph)
    for component in found:
        print(f"{len(component)} modules import each other:")
        for name in component:
            for target, place in sorted(graph[name].items()):
                if target in component:
                    print(f"  {name} -> {target}  ({place})")
    print(f"{len(known)} modules, {len(found) or 'no'} import cycle{'' if len(found) == 1 else 's'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
