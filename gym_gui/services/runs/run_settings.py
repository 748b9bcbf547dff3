"""Collects the settings of a recorded experiment by name, with their values as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gym_gui.core.record_fields import items, mapping

_LONGEST: Final = 60
_MOST_VALUES: Final = 8
_NOT_SETTINGS: Final = {
    *("id", "operator_id", "name", "display_name", "task", "env_name", "worker_id", "type", "group"),
    *("run_id", "out", "processes", "concurrency", "step_delay_ms", "auto_run", "record"),
}
"""Keys that name players, environments and folders or set the speed. They do not count as settings."""


def settings_of(experiment: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the settings of a recorded experiment by name, each with its values as text.

    The settings come from ``execution``, environments and slots. A nested one is named ``render.width``.
    """
    found: dict[str, dict[str, None]] = {}
    _gather(mapping(experiment.get("execution")) or {}, "", found)
    for operator in items(experiment.get("operators")) or []:
        config = dict(mapping(operator) or {})
        slots = mapping(config.pop("workers", None)) or {}
        _gather(config, "", found)
        for slot in slots.values():
            given = dict(mapping(slot) or {})
            _gather(mapping(given.pop("settings", None)) or {}, "", found)
            _gather(given, "", found)
    return {name: tuple(values)[:_MOST_VALUES] for name, values in found.items()}


def _gather(given: Mapping[str, Any], inside: str, found: dict[str, dict[str, None]]) -> None:
    for key, value in given.items():
        if key in _NOT_SETTINGS or value is None:
            continue
        name = f"{inside}{key}"
        if (deeper := mapping(value)) is not None:
            _gather(deeper, f"{name}.", found)
        else:
            found.setdefault(name, {})[_text(value)] = None


def _text(value: object) -> str:
    listed = items(value)
    if listed is not None:
        shown = ", ".join(_text(each) for each in listed[:6])
        text = f"{shown}, … ({len(listed):,})" if len(listed) > 6 else shown
    else:
        text = str(value).lower() if isinstance(value, bool) else str(value)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"…{text[1 - _LONGEST :]}"
