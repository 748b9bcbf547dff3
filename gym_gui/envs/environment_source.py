"""How an environment is made, as a person would write it in a program of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class EnvironmentSource:
    """Lines of Python that make an environment.

    Attributes:
        imports: Lines that come first.
        call: An expression whose value is the environment.
    """

    imports: tuple[str, ...]
    call: str


def called(function: str, *positional: Any, **named: Any) -> str:
    """A call, as it is written.

    Args:
        function: What is called.
        positional: Arguments without a name.
        named: Arguments with one, plain data.
    """
    return f"{function}({', '.join([*map(repr, positional), *_named(named)])})"


def _named(arguments: Mapping[str, Any]) -> list[str]:
    if all(name.isidentifier() for name in arguments):
        return [f"{name}={value!r}" for name, value in arguments.items()]
    return [f"**{dict(arguments)!r}"]
