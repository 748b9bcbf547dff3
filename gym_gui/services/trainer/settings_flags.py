"""Converts settings of a training to command-line options and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gym_gui.core.errors import UsageError


def texts_of_flags(flags: Sequence[str], names: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the text of each setting from options such as ``--total-steps 100 --hidden 64 64``.

    Args:
        flags: The options.
        names: JSON Schemas of the known settings, by name.

    Raises:
        UsageError: A word belongs to no option, or an option lacks its value.
    """
    found: dict[str, str] = {}
    name, parts = "", list[str]()
    for word in flags:
        if not word.startswith("--"):
            if not name:
                raise UsageError(f"{word!r} is not an option", fix="Write settings as --name VALUE")
            parts.append(word)
            continue
        _keep(found, name, parts, names)
        flag, equals, value = word[2:].partition("=")
        name, parts = flag.replace("-", "_"), [value] if equals else []
        if name not in names and names.get(name.removeprefix("no_"), {}).get("type") == "boolean":
            name, parts = name[3:], ["false"]
    _keep(found, name, parts, names)
    return found


def _keep(
    found: dict[str, str], name: str, parts: Sequence[str], names: Mapping[str, Mapping[str, Any]]
) -> None:
    if not name:
        return
    if not parts:
        if names.get(name, {}).get("type") not in ("boolean", None):
            raise UsageError(f"--{name.replace('_', '-')} needs a value")
        parts = ["true"]
    found[name] = " ".join(parts)


def flags_of(settings: Mapping[str, Any]) -> list[str]:
    """Return settings as command-line options.

    Raises:
        UsageError: A value does not fit into an option.
    """
    flags: list[str] = []
    for name, value in settings.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            flags.append(f"--{flag}" if value else f"--no-{flag}")
        elif value is None:
            flags += [f"--{flag}", "None"]
        elif isinstance(value, (list, tuple)):
            flags += [f"--{flag}", *map(str, value)]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        elif isinstance(value, (int, float, str)):
            # One word, so that a value that begins with a dash is not taken for an option.
            flags.append(f"--{flag}={value}")
        else:
            raise UsageError(f"setting {name!r} of a training must be a number, a text, a list or a flag")
    return flags
