"""Makes the environments that a player requests by name."""

from __future__ import annotations

import importlib
import inspect
from typing import Any, Callable, Dict, Mapping, Optional


class Entries:
    """Makes environments by name.

    Args:
        named: ``module:factory`` by name; only these are made. If it is ``None``, any ``module:factory`` is
            imported, which is meant for a server that its player has started.
    """

    def __init__(self, named: Optional[Mapping[str, str]] = None) -> None:
        self._named = named

    def make(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Make an environment.

        Args:
            name: ``module:factory``, or one of the names.
            arguments: Keyword arguments; ``render_mode`` and ``api`` are passed only to factories that take
                them.

        Raises:
            LookupError: The name is not served here.
            Exception: Any exception of the import or of the factory.
        """
        entry = name
        if self._named is not None:
            if name not in self._named:
                raise LookupError(
                    f"{name} is not served here; this server has {', '.join(sorted(self._named))}"
                )
            entry = self._named[name]
        factory = resolve(entry)
        return factory(**_fitting(factory, arguments))


def resolve(entry: str) -> Callable[..., Any]:
    """Import the module in ``module:factory`` and return the factory, whose name may contain dots.

    Raises:
        ValueError: ``entry`` has another form.
        ImportError: There is no such module.
        AttributeError: The module has no such attribute.
    """
    module, colon, path = entry.partition(":")
    if not (module and colon and path):
        raise ValueError(f"{entry!r} is no module:factory")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def _fitting(factory: Callable[..., Any], arguments: Mapping[str, Any]) -> Dict[str, Any]:
    """Return the arguments without those that MOSAIC adds to every call and the factory does not take."""
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        return dict(arguments)
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        # MOSAIC adds `api`, which a factory with **kwargs does not expect.
        return {key: value for key, value in arguments.items() if key != "api"}
    taken = {parameter.name for parameter in parameters}
    return {key: v for key, v in arguments.items() if key in taken or key not in ("render_mode", "api")}
