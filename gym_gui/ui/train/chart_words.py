"""Names of training metrics (series) as charts and pickers show them."""

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
    "league/rating": "Rating, Elo points",
    "league/score": "Score of the last 100 games",
    "league/members": "Members of the league",
}
_GROUPS: Final = {
    "teams": "Teams",
    "agents": "Agents",
    "league": "League",
    "charts": "Training",
    "losses": "Losses",
    "machine": "Machine",
}
_RETURNS: Final = {"teams": "Return of team {}", "agents": "Return of {}"}
"""Chart names for returns of single agents or teams; ``{}`` stands for the agent or team."""
ALWAYS: Final = (RETURN, LENGTH, "charts/SPS", CPU, MEMORY)
"""Series that the picker offers before a run has reported any value."""


def chart_word(name: str) -> str:
    """Return the displayed name of a series, such as ``Policy loss`` for ``losses/policy_loss``.

    ``agents/green_0`` becomes ``Return of green_0``.
    """
    if name in _WORDS:
        return _WORDS[name]
    prefix, _, whose = name.partition("/")
    if prefix in _RETURNS and whose:
        return _RETURNS[prefix].format(whose)
    words = name.rpartition("/")[2].replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def is_of_several(name: str) -> bool:
    """Return whether a series is the return of a single agent or team in a multi-agent training."""
    return name.partition("/")[0] in _RETURNS


def chart_items(names: Sequence[str]) -> list[PickerItem]:
    """Return picker items for the given series, sorted by group."""
    wanted = list(dict.fromkeys((*ALWAYS, *names)))
    wanted.sort(key=_place)
    return [PickerItem(name, chart_word(name), group=_group(name), keywords=name) for name in wanted]


def _group(name: str) -> str:
    prefix = name.partition("/")[0]
    if name in (RETURN, LENGTH):
        return "Episodes"
    return _GROUPS.get(prefix, prefix.replace("_", " ").capitalize() if "/" in name else "Training")


def _place(name: str) -> int:
    order = ("Episodes", "League", "Teams", "Agents", "Training", "Losses")
    group = _group(name)
    return order.index(group) if group in order else len(order) + (group == "Machine")
