"""Lazy imports: a package imports its modules when one of their names is first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def lazy_names(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """Return a ``__getattr__`` for a package that imports its modules lazily (PEP 562).

    Args:
        package: ``__name__`` of the package.
        modules: Public names of each module in the package, by module name.
    """
    home = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{home[name]}"), name)

    return find
