"""Every environment there is, grouped by family, in one searchable button."""

from __future__ import annotations

import asyncio
import importlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from PyQt6.QtWidgets import QWidget

from gym_gui.ui.context import AppContext
from gym_gui.ui.play.install_dialog import InstallDialog
from gym_gui.ui.widgets import PickerButton, PickerItem

_ABSENT: Final = "family:"
"""Begins the value of an item that stands for a family that is not installed."""


class EnvironmentPicker(PickerButton):
    """``⌕ CartPole-v1 ▾``: filled by :meth:`load`; emits ``chosen`` with the environment's id.

    A family that is not installed is in the list too; choosing it offers to install it.

    Args:
        context: Whose event loop installs; without one, nothing is offered to be installed.
        name: ``objectName``.
        parent: Qt parent.
    """

    def __init__(
        self,
        context: AppContext | None = None,
        *,
        name: str = "environment-picker",
        parent: QWidget | None = None,
    ) -> None:
        self._context = context
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

    def set_items(self, items: Sequence[PickerItem]) -> None:
        """Offer these; what is not installed can be chosen, to be installed."""
        offered = [
            replace(item, reason="", detail="Install…") if self._context and _is_absent(item.value) else item
            for item in items
        ]
        super().set_items(offered)

    def _on_picked(self, value: object) -> None:
        if self._context is None or not _is_absent(value):
            super()._on_picked(value)
            return
        title = next(item.label for item in self.items if item.value == value)
        dialog = InstallDialog(self._context, str(value).removeprefix(_ABSENT), title, parent=self.window())
        dialog.installed.connect(self._on_installed)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _on_installed(self, _family: str) -> None:
        importlib.invalidate_caches()
        self._loaded = False
        if self._context is not None:
            self._context.spawn(self.load(), "Listing the environments")

    async def load(self) -> None:
        """Fill the list, off the GUI thread: reading registries takes a second when cold."""
        if not self._loaded:
            self.set_items(await asyncio.to_thread(catalogue))
            self._loaded = True


def _is_absent(value: object) -> bool:
    return str(value).startswith(_ABSENT)


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
            absent.append(PickerItem(f"{_ABSENT}{name}", family.title, "", "Not installed", line, words))
    return [*items, *absent]


def _turns(api: str) -> str:
    return {"gymnasium": "", "aec": "turn by turn", "parallel": "all at once"}[api]
