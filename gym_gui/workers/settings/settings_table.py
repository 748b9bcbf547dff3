"""Converts a manifest's ``[settings.NAME]`` tables to JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gym_gui.core.errors import UsageError
from gym_gui.core.secret_refs import VALUE_PATTERN
from gym_gui.workers.patterns import either
from gym_gui.workers.settings.settings_schema import Setting

_NO_LINE: Final = r"$(?!\n)"
_TYPES: Final[Mapping[str, Mapping[str, Any]]] = {
    "text": {"type": "string"},
    "choice": {},
    "whole": {"type": "integer"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
    "policy": {"type": "string", "x-kind": "policy"},
    "file": {"type": "string", "x-kind": "file"},
    "program": {"type": "string", "x-kind": "program"},
    "secret": {"type": "string", "x-kind": "secret", "pattern": f"^(?:{VALUE_PATTERN}){_NO_LINE}"},
    "list": {"type": "array"},
    "object": {"type": "object"},
    "episode": {"type": "object", "x-kind": "episode"},
    "server": {"type": "string", "x-kind": "server", "pattern": rf"^https?://[^\s/?#]+\S*{_NO_LINE}"},
    "model": {"type": "string", "x-kind": "model"},
    "prompts": {"type": "string", "x-kind": "prompts"},
}
TYPES: Final = tuple(_TYPES)
"""Types of settings that a manifest may declare."""
_ASKING: Final = ("server", "model", "prompts", "file")
_KEYS: Final = {
    "title": "title",
    "meaning": "description",
    "default": "default",
    "minimum": "minimum",
    "maximum": "maximum",
    "group": "x-group",
    "advanced": "x-advanced",
    "policies": "x-policies",
    "only_with": "x-only-with",
    "environments": "x-environments",
    "agents": "x-agents",
    "needs": "x-needs",
    "module": "x-module",
    "command": "x-command",
    "provider": "x-provider",
    "turns": "x-turns",
    "value": "const",
}
"""Key of JSON Schema for each key of a setting in a manifest."""


def settings_from_tables(tables: Mapping[str, Any]) -> tuple[Setting, ...]:
    """Return the settings that a manifest's tables declare; the keys must have been checked.

    Args:
        tables: Content of ``[settings]``: the table of each setting by name.

    Raises:
        UsageError: A choice has no options, limits contradict each other, or a key belongs to another type.
    """
    for name, table in tables.items():
        _check(f"settings.{name}", table, tables)
    return tuple(
        Setting(name, _schema(table), required=table.get("required", False)) for name, table in tables.items()
    )


def _schema(table: Mapping[str, Any]) -> dict[str, Any]:
    schema = {**_TYPES[table["type"]], **_renamed(table)}
    if "options" in table:
        schema["oneOf"] = [_renamed(option) for option in table["options"]]
    return schema


def _renamed(table: Mapping[str, Any]) -> dict[str, Any]:
    return {_KEYS[key]: value for key, value in table.items() if key in _KEYS}


def _check(where: str, table: Mapping[str, Any], tables: Mapping[str, Any]) -> None:
    kind, options = table["type"], table.get("options", ())
    if (kind == "choice") != bool(options):
        missing = f"has options, but is of type {kind}" if options else "is a choice without options"
        raise UsageError(
            f"{where} {missing}", fix='Give options = [{value = "…"}] to a choice, and only there'
        )
    if len({option["value"] for option in options}) < len(options):
        raise UsageError(f"{where} has an option twice", fix="Give every value once")
    if table.get("module") and kind not in _ASKING:
        raise UsageError(
            f"{where} has a module, but is of type {kind}", fix=f"Give module to {either(_ASKING)}"
        )
    if table.get("command") and (kind != "file" or table.get("module")):
        raise UsageError(
            f"{where} has a command, but is of type {kind} or has a module",
            fix="Give command to a file without a module",
        )
    low, high = table.get("minimum"), table.get("maximum")
    if low is not None and high is not None and low > high:
        raise UsageError(f"{where}: the minimum {low:g} is above the maximum {high:g}", fix="Swap both")
    if provider := table.get("provider"):
        if kind != "secret":
            raise UsageError(
                f"{where} has a provider, but is of type {kind}", fix="Give provider to a secret"
            )
        choices = sorted(name for name, other in tables.items() if other["type"] == "choice")
        if provider not in choices:
            raise UsageError(
                f"{where}.provider is {provider!r}, which is none of its choices",
                fix=f"Name one: {either(choices)}" if choices else "Remove the key provider",
            )
