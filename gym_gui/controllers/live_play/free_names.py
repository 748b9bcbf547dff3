"""Ids and names that tell operators side by side apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from gym_gui.core.config import OperatorConfig


def free_name(config: OperatorConfig, others: Iterable[OperatorConfig]) -> str:
    """Its name for people, with a number behind it where another one has it."""
    return _free(config.display_name, {other.display_name for other in others}, " ", str)


def with_free_name(config: OperatorConfig, others: Iterable[OperatorConfig]) -> OperatorConfig:
    """``random`` becomes ``random_2`` where there is one; the same for the name people read."""
    known = list(others)
    ids = {other.operator_id.casefold() for other in known}  # folders of a run may ignore case
    return replace(
        config,
        operator_id=_free(config.operator_id, ids, "_", str.casefold),
        display_name=free_name(config, known),
    )


def _free(wanted: str, taken: set[str], joint: str, same: Callable[[str], str]) -> str:
    """``wanted``, or with the lowest number behind it that makes it nobody else's."""
    if same(wanted) not in taken:
        return wanted
    stem = re.sub(rf"{re.escape(joint)}\d+$", "", wanted)
    number = 2
    while same(f"{stem}{joint}{number}") in taken:
        number += 1
    return f"{stem}{joint}{number}"
