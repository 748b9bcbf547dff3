"""Python source code that makes an environment, in the form that a person would write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class EnvironmentSource:
    """Source code that makes an environment without MOSAIC.

    Attributes:
        imports: Import lines.
        call: Expression whose value is the environment.
    """

    imports: tuple[str, ...]
    call: str


def called(function: str, *positional: Any, **named: Any) -> str:
    """Return the source code of a function call.

    Args:
        function: Name of the function.
        positional: Positional arguments.
        named: Keyword arguments, plain data.
    """
    return f"{function}({', '.join([*map(repr, positional), *_named(named)])})"


def _named(arguments: Mapping[str, Any]) -> list[str]:
    if all(name.isidentifier() for name in arguments):
        return [f"{name}={value!r}" for name, value in arguments.items()]
    return [f"**{dict(arguments)!r}"]
