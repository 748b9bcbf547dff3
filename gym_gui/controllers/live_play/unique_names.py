"""Makes unique ids and display names for operators side by side."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from gym_gui.core.config import OperatorConfig

UNNAMED: Final = "operator"
"""Id of an operator that is still being configured; when it is added, it gets an id from its display name."""
_LONGEST: Final = 40
"""Largest number of characters of an id made from a name."""


def free_name(config: OperatorConfig, others: Iterable[OperatorConfig]) -> str:
    """Return the operator's display name, with a number appended if another operator has it already."""
    return _free(config.display_name, {other.display_name for other in others}, " ", str)


def with_free_name(config: OperatorConfig, others: Iterable[OperatorConfig]) -> OperatorConfig:
    """Return the operator with an unused id and name, such as ``random_2`` if ``random`` is used."""
    known = list(others)
    if config.operator_id == UNNAMED and not config.origin.file:
        config = replace(config, operator_id=id_of(config.display_name))
    ids = {other.operator_id.casefold() for other in known}  # folders of a run may ignore case
    return replace(
        config,
        operator_id=_free(config.operator_id, ids, "_", str.casefold),
        display_name=free_name(config, known),
    )


def following_id(before: OperatorConfig, after: OperatorConfig, taken: Iterable[str]) -> str:
    """Return the operator id under which a changed configuration is recorded.

    Ids made by the window follow the players. An id from a file is the user's own and stays.

    Args:
        before: The configuration before the change.
        after: The configuration after the change.
        taken: Ids of the other operators.
    """
    if before.origin.file or before.resolved_slots() == after.resolved_slots():
        return before.operator_id
    return _free(id_of(after.display_name), set(map(str.casefold, taken)), "_", str.casefold)


def id_of(name: str) -> str:
    """Return an operator id made from a display name."""
    return re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_").lower()[:_LONGEST].strip("_") or UNNAMED


def _free(wanted: str, taken: set[str], joint: str, same: Callable[[str], str]) -> str:
    """Return ``wanted``, with the lowest number appended that makes it unused."""
    if same(wanted) not in taken:
        return wanted
    stem = re.sub(rf"{re.escape(joint)}\d+$", "", wanted)
    number = 2
    while same(f"{stem}{joint}{number}") in taken:
        number += 1
    return f"{stem}{joint}{number}"
