"""Names that a package hands out on first use, so that importing it loads none of its modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def late_names(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """A package's ``__getattr__`` (PEP 562).

    Args:
        package: Its ``__name__``.
        modules: Public names by the module within it that has them.
    """
    home = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> object:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{home[name]}"), name)

    return find
