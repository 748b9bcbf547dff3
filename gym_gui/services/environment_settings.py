"""What an environment can be made with (``env_kwargs``): settings for a form, and text for all the rest."""

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

_EXAMPLE: Final = "Write one to a line, for example size: 8, or {} for none"
_MOST: Final = 3
"""So many are named in one line."""


def settings_of(spec: EnvSpec) -> tuple[tuple[Setting, ...], tuple[str, ...]]:
    """What is known of an environment's arguments, without importing it.

    Returns:
        Settings for a form, and names of arguments whose type is not known or that no form has a field for.
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
    """With the default that only the package can make, in its own words."""
    said = str(about.get("description", ""))
    usual = str(about.get("x-default", ""))
    if usual and len(usual) <= 30:
        said = f"{said.removesuffix('.')} (the package's own: {usual})".strip()
    return {**about, "description": said}


def read_further(text: str) -> dict[str, Any]:
    """Arguments that are written out as YAML or JSON.

    Raises:
        MosaicError: It is neither, or no table of names and values; one sentence.
    """
    found = parse_yaml(text, "further arguments")
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise UsageError("further arguments are no names with values", fix=_EXAMPLE)
    return dict(plain_mapping(cast("object", found), "further arguments"))


def write_further(values: Mapping[str, Any]) -> str:
    """The same as YAML, a line to each."""
    return "\n".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in values.items())


def in_one_line(values: Mapping[str, Any]) -> str:
    """``size 8, is_slippery off``: for a button or a caption; empty where nothing is set."""
    said: Sequence[str] = [f"{name} {text_of(value)}" for name, value in values.items()]
    more = f" and {len(said) - _MOST} more" if len(said) > _MOST else ""
    return ", ".join(said[:_MOST]) + more
