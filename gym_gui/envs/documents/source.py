"""Reads the documentation of an environment from its package's source, without importing the package.

Importing an environment's module may take seconds, may start pygame, and fails if a package that it needs is
missing. Reading the file avoids all this.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from gym_gui.envs.index import package_dir

_DEPTH = 8


@dataclass(frozen=True)
class SourceLocation:
    """Module and class in whose source a name is defined.

    Attributes:
        module: Dotted name of the module.
        tree: Syntax tree of the module.
        node: Syntax tree of the class; ``None`` if the name is not a class.
    """

    module: str
    tree: ast.Module
    node: ast.ClassDef | None

    @property
    def module_text(self) -> str:
        """Docstring of the module; ``""`` without one."""
        return ast.get_docstring(self.tree) or ""

    @property
    def text(self) -> str:
        """Docstring of the class; ``""`` without one."""
        return (ast.get_docstring(self.node) or "") if self.node is not None else ""


def find(entry_point: str) -> SourceLocation | None:
    """Return the definition of ``"module:name"``, following imports; ``None`` if there is no source."""
    module, _, name = entry_point.partition(":")
    return _find(module, name.partition(".")[0], _DEPTH)


def classes(found: SourceLocation) -> Iterator[SourceLocation]:
    """Yield a class and its base classes, nearest first, as far as their source is found.

    If ``found`` is not a class (PettingZoo's ``env`` is a function), the first are the classes of the module
    named ``raw_env`` or ``parallel_env``, or all classes of the module if none has such a name.
    """
    waiting = [found] if found.node is not None else _environments_in(found)
    seen: set[int] = set()
    while waiting:
        each = waiting.pop(0)
        if each.node is None or id(each.node) in seen:
            continue
        seen.add(id(each.node))
        yield each
        for base in each.node.bases:
            if isinstance(base, ast.Name):
                known = _find(each.module, base.id, _DEPTH)
                waiting += [known] if known is not None else []


def render_modes(found: SourceLocation) -> tuple[str, ...] | None:
    """Return ``metadata["render_modes"]`` from the source of a class or its bases; ``None`` if missing."""
    for each in classes(found):
        for statement in each.node.body if each.node is not None else ():
            value = _assigned(statement, "metadata")
            if not isinstance(value, ast.Dict):
                continue
            for key, modes in zip(value.keys, value.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "render_modes":
                    stated = _strings(modes)
                    if stated is not None:
                        return stated
    return None


def of_object(thing: Any) -> str:
    """Return the docstring of a class or function object; ``""`` without one."""
    return inspect.getdoc(thing) or ""


def _environments_in(found: SourceLocation) -> list[SourceLocation]:
    defined = [node for node in found.tree.body if isinstance(node, ast.ClassDef)]
    named = [node for node in defined if node.name in ("raw_env", "parallel_env")]
    return [SourceLocation(found.module, found.tree, node) for node in (named or defined)]


def _find(module: str, name: str, depth: int) -> SourceLocation | None:
    parsed = _parsed(module)
    if parsed is None or depth == 0:
        return None
    tree, is_package = parsed
    starred: list[str] = []
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef) and statement.name == name:
            return SourceLocation(module, tree, statement)
        if isinstance(statement, ast.FunctionDef) and statement.name == name:
            return SourceLocation(module, tree, None)
        if _assigned(statement, name) is not None:
            return SourceLocation(module, tree, None)
        if isinstance(statement, ast.ImportFrom):
            origin = _origin(statement, module, is_package)
            for alias in statement.names:
                if (alias.asname or alias.name) == name:
                    return _find(origin, alias.name, depth - 1)
            starred += [origin] if any(alias.name == "*" for alias in statement.names) else []
    return next((found for origin in starred if (found := _find(origin, name, depth - 1))), None)


def _origin(statement: ast.ImportFrom, module: str, is_package: bool) -> str:
    """Return the absolute name of the module from which a statement imports."""
    if not statement.level:
        return statement.module or ""
    parts = module.split(".")
    parts = parts[: len(parts) - statement.level + (1 if is_package else 0)]
    return ".".join([*parts, *((statement.module or "").split(".") if statement.module else [])])


def _assigned(statement: ast.stmt, name: str) -> ast.expr | None:
    """Return the value that a statement ``name = …`` assigns, or ``None`` for any other statement."""
    if isinstance(statement, ast.AnnAssign):
        targets: list[ast.expr] = [statement.target]
    elif isinstance(statement, ast.Assign):
        targets = statement.targets
    else:
        return None
    return statement.value if any(isinstance(t, ast.Name) and t.id == name for t in targets) else None


def _strings(node: ast.expr) -> tuple[str, ...] | None:
    try:
        value: Any = ast.literal_eval(node)
    except ValueError:
        return None
    return tuple(map(str, value)) if isinstance(value, (list, tuple)) else None  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _parsed(module: str) -> tuple[ast.Module, bool] | None:
    path = _file(module)
    if path is None:
        return None
    tree = _parse(path, path.stat().st_mtime_ns)
    return None if tree is None else (tree, path.name == "__init__.py")


def _file(module: str) -> Path | None:
    loaded: str | None = getattr(sys.modules.get(module), "__file__", None)
    if loaded is not None and loaded.endswith(".py"):
        return Path(loaded)
    top, *rest = module.split(".")
    place = package_dir(top) if top else None
    if place is None:
        return None
    if not rest:
        candidates = (place / "__init__.py", place / f"{top}.py")
    else:
        path = place.joinpath(*rest)
        candidates = (path.with_name(path.name + ".py"), path / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


# A tree takes a hundred times the memory of its file, so the cache holds only the files of one environment.
@lru_cache(maxsize=4)
def _parse(path: Path, changed: int) -> ast.Module | None:
    try:
        return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None
