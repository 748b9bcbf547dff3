"""Names of series as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gym_gui.ui.train.run_data import CPU, LENGTH, MEMORY, RETURN
from gym_gui.ui.widgets import PickerItem

_WORDS: Final = {
    RETURN: "Return",
    LENGTH: "Episode length",
    CPU: "Processor, % of one core",
    MEMORY: "Memory, MB",
    "charts/SPS": "Steps per second",
    "charts/learning_rate": "Learning rate",
    "charts/epsilon": "Exploration, epsilon",
}
_GROUPS: Final = {"charts": "Training", "losses": "Losses", "machine": "Machine"}
ALWAYS: Final = (RETURN, LENGTH, "charts/SPS", CPU, MEMORY)
"""Offered before the first value came."""


def chart_word(name: str) -> str:
    """``Policy loss`` for ``losses/policy_loss``."""
    if name in _WORDS:
        return _WORDS[name]
    words = name.rpartition("/")[2].replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def chart_items(names: Sequence[str]) -> list[PickerItem]:
    """Series to choose from, by group."""
    wanted = list(dict.fromkeys((*ALWAYS, *names)))
    wanted.sort(key=_place)
    return [PickerItem(name, chart_word(name), group=_group(name), keywords=name) for name in wanted]


def _group(name: str) -> str:
    prefix = name.partition("/")[0]
    if name in (RETURN, LENGTH):
        return "Episodes"
    return _GROUPS.get(prefix, prefix.replace("_", " ").capitalize() if "/" in name else "Training")


def _place(name: str) -> int:
    order = ("Episodes", "Training", "Losses")
    group = _group(name)
    return order.index(group) if group in order else len(order) + (group == "Machine")
