"""What a player may have made, by its name."""

from __future__ import annotations

import importlib
import inspect
from typing import Any, Callable, Dict, Mapping, Optional


class Entries:
    """Finds what makes an environment.

    Args:
        named: Entry by name: then nothing else is made. Without it whatever ``module:factory`` names is
            imported: for a server whose player has started it.
    """

    def __init__(self, named: Optional[Mapping[str, str]] = None) -> None:
        self._named = named

    def make(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Make an environment.

        Args:
            name: ``module:factory``, or one of the names.
            arguments: Keyword arguments; ``render_mode`` and ``api`` only reach what takes them.

        Raises:
            LookupError: The name is not among those that are served here.
            Exception: Whatever importing or making it raises.
        """
        entry = name
        if self._named is not None:
            if name not in self._named:
                raise LookupError(f"{name} is not served here; served are {', '.join(sorted(self._named))}")
            entry = self._named[name]
        factory = resolve(entry)
        return factory(**_fitting(factory, arguments))


def resolve(entry: str) -> Callable[..., Any]:
    """Import ``module:factory``; the part behind the colon may have dots.

    Raises:
        ValueError: It is not written like that.
        ImportError: There is no such module.
        AttributeError: The module has nothing of that name.
    """
    module, colon, path = entry.partition(":")
    if not (module and colon and path):
        raise ValueError(f"{entry!r} is no module:factory")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def _fitting(factory: Callable[..., Any], arguments: Mapping[str, Any]) -> Dict[str, Any]:
    """Without what we add to every call and this factory does not take."""
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        return dict(arguments)
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        # `api` is an argument of ours: no factory's **kwargs expects it.
        return {key: value for key, value in arguments.items() if key != "api"}
    taken = {parameter.name for parameter in parameters}
    return {key: v for key, v in arguments.items() if key in taken or key not in ("render_mode", "api")}
