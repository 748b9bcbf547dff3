"""Converts arguments of an environment (``env_kwargs``) to settings for a form, and the remaining ones to
YAML text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from gym_gui.core.errors import UsageError
from gym_gui.core.validation import plain_mapping
from gym_gui.envs import EnvSpec, arguments
from gym_gui.services.experiments.experiment_yaml import parse_yaml
from gym_gui.workers.settings.settings_schema import Setting, settings_from_schema
from gym_gui.workers.settings.settings_text import text_of

_EXAMPLE: Final = "Write one argument per line, for example size: 8, or {} for none"
_MOST: Final = 3
"""Largest number of values that a button or caption shows."""


def settings_of(spec: EnvSpec) -> tuple[tuple[Setting, ...], tuple[str, ...]]:
    """Return the known arguments of an environment without importing the environment.

    Returns:
        Settings for a form, and the names of arguments without a known type or without a form field.
    """
    known: dict[str, Mapping[str, Any]] = {}
    others: list[str] = []
    for name, about in arguments(spec).items():
        if "type" in about or "enum" in about or "oneOf" in about:
            known[name] = _worded(about)
        else:
            others.append(name)
    return settings_from_schema({"properties": known}), tuple(others)


def _worded(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return an argument's description with the package's own default in its text, if it is short."""
    said = str(about.get("description", ""))
    usual = str(about.get("x-default", ""))
    if usual and len(usual) <= 30:
        said = f"{said.removesuffix('.')} (package default: {usual})".strip()
    return {**about, "description": said}


def read_further(text: str) -> dict[str, Any]:
    """Return the arguments that a text gives as YAML or JSON.

    Raises:
        MosaicError: The text is not valid, or is not a table of names and values.
    """
    found = parse_yaml(text, "further arguments")
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise UsageError("further arguments are not names with values", fix=_EXAMPLE)
    return dict(plain_mapping(cast("object", found), "further arguments"))


def write_further(values: Mapping[str, Any]) -> str:
    """Return arguments as YAML, one per line."""
    return "\n".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in values.items())


def in_one_line(values: Mapping[str, Any]) -> str:
    """Return values for a button or a caption, such as ``size 8, is_slippery off``; empty if none is set."""
    said: Sequence[str] = [f"{name} {text_of(value)}" for name, value in values.items()]
    more = f" and {len(said) - _MOST} more" if len(said) > _MOST else ""
    return ", ".join(said[:_MOST]) + more
