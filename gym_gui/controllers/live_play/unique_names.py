"""Ids and names that tell operators side by side apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from gym_gui.core.config import OperatorConfig

UNNAMED: Final = "operator"
"""The id of a configuration that is being written; on the table it gets one by who plays."""
_LONGEST: Final = 40
"""Characters of an id that is made of a name."""


def free_name(config: OperatorConfig, others: Iterable[OperatorConfig]) -> str:
    """Its name for people, with a number behind it where another one has it."""
    return _free(config.display_name, {other.display_name for other in others}, " ", str)


def with_free_name(config: OperatorConfig, others: Iterable[OperatorConfig]) -> OperatorConfig:
    """``random`` becomes ``random_2`` where there is one; the same for the name people read."""
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
    """The id that an operator is recorded under after it has changed.

    Ids that the window gives follow who plays; one that a file gives is the person's own, and stays.

    Args:
        before: As it was.
        after: As it is now.
        taken: Ids of those beside it.
    """
    if before.origin.file or before.resolved_slots() == after.resolved_slots():
        return before.operator_id
    return _free(id_of(after.display_name), set(map(str.casefold, taken)), "_", str.casefold)


def id_of(name: str) -> str:
    """An id made of a name that people read."""
    return re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_").lower()[:_LONGEST].strip("_") or UNNAMED


def _free(wanted: str, taken: set[str], joint: str, same: Callable[[str], str]) -> str:
    """``wanted``, or with the lowest number behind it that makes it a name that is not taken."""
    if same(wanted) not in taken:
        return wanted
    stem = re.sub(rf"{re.escape(joint)}\d+$", "", wanted)
    number = 2
    while same(f"{stem}{joint}{number}") in taken:
        number += 1
    return f"{stem}{joint}{number}"
