"""Every environment there is, grouped by family, in one searchable button."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from PyQt6.QtWidgets import QWidget

from gym_gui.ui.widgets import PickerButton, PickerItem


class EnvironmentPicker(PickerButton):
    """``⌕ CartPole-v1 ▾``: filled by :meth:`load`; emits ``chosen`` with the environment's id.

    Args:
        name: ``objectName``.
        parent: Qt parent.
    """

    def __init__(self, *, name: str = "environment-picker", parent: QWidget | None = None) -> None:
        super().__init__(
            placeholder="Choose an environment…",
            search_hint="Search environments",
            name=name,
            searchable=True,
            parent=parent,
        )
        self.setAccessibleName("Environment")
        self._loaded = False

    @property
    def loaded(self) -> bool:
        """Whether the list is there."""
        return self._loaded

    async def load(self) -> None:
        """Fill the list, off the GUI thread: reading registries takes a second when cold."""
        if not self._loaded:
            self.set_items(await asyncio.to_thread(catalogue))
            self._loaded = True


def catalogue() -> Sequence[PickerItem]:
    """All environments by family; of a family that is not installed, the line that installs it."""
    from gym_gui import envs

    items: list[PickerItem] = []
    absent: list[PickerItem] = []
    by_family: dict[str, list[envs.EnvSpec]] = {}
    for spec in envs.list_specs():
        by_family.setdefault(spec.family, []).append(spec)
    for name, family in envs.families().items():
        if family.installed:
            specs = by_family.get(name, [])
            short = Counter(spec.id.rpartition("/")[2] for spec in specs)
            for spec in specs:
                label = spec.id.rpartition("/")[2]
                label = label if short[label] == 1 else spec.id
                trouble = envs.trouble(spec)
                items.append(PickerItem(spec.id, label, _turns(spec.api), family.title, trouble, spec.id))
        elif family.extra:
            line = family.install
            words = " ".join(family.prefixes)
            absent.append(PickerItem(f"family:{name}", family.title, "", "Not installed", line, words))
    return [*items, *absent]


def _turns(api: str) -> str:
    return {"gymnasium": "", "aec": "turn by turn", "parallel": "all at once"}[api]
