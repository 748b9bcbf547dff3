"""A button with a searchable list of all environments, grouped by family."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Final

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QWidget

from gym_gui import envs
from gym_gui.controllers.setup.installing import Installable, forget_lookups
from gym_gui.envs import EnvSpec, Family
from gym_gui.envs.known_names import known_names
from gym_gui.ui.context import AppContext
from gym_gui.ui.environments.environment_thumbnails import EnvironmentThumbnails
from gym_gui.ui.environments.install_dialog import open_install_dialog
from gym_gui.ui.widgets import PickerButton, PickerItem

_NOT_INSTALLED: Final = "Not installed"
_ABSENT: Final = "family:"
"""Prefix of values for families that are not installed, and for their environments (``family:box2d/ID``)."""


class EnvironmentPicker(PickerButton):
    """Button that chooses an environment from a list; ``chosen`` emits the environment's id.

    :meth:`load` fills the list. It includes families that are not installed; choosing one offers to install
    it.

    Args:
        context: Runs the installation; ``None`` to offer no installation.
        name: The button's ``objectName``.
        pictures: Whether each environment has a small picture. A background task draws the pictures;
            await :meth:`closed` to end the task.
        parent: Qt parent.
    """

    installed = pyqtSignal()
    """Emitted after an installation that the user started in this list."""

    def __init__(
        self,
        context: AppContext | None = None,
        *,
        name: str = "environment-picker",
        pictures: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        self._context = context
        self._thumbnails = EnvironmentThumbnails(context) if pictures and context is not None else None
        super().__init__(
            placeholder="Choose an environment…",
            search_hint="Search environments",
            name=name,
            searchable=True,
            elide=Qt.TextElideMode.ElideMiddle,  # ids with one title differ at the end
            pictures=self._thumbnails.picture_of if self._thumbnails is not None else None,
            awaited="Listing the environments…",
            parent=parent,
        )
        if self._thumbnails is not None:
            self._thumbnails.setParent(self)
            self._thumbnails.came.connect(self._on_thumbnail)
        self.setAccessibleName("Environment")
        self._loaded = False
        self._chosen_after_install = ""
        if context is not None:
            context.installed.connect(self._refill)

    async def closed(self) -> None:
        """End the task that draws the pictures."""
        if self._thumbnails is not None:
            await self._thumbnails.close()

    def _on_thumbnail(self) -> None:
        if self.popup is not None:
            self.popup.pictures_changed()

    @property
    def loaded(self) -> bool:
        """Whether the list is filled."""
        return self._loaded

    def set_items(self, items: Sequence[PickerItem]) -> None:
        """Set the items of the list; environments that are not installed can be chosen to install them."""
        offered = [
            replace(item, reason="", detail=f"{item.detail} · Install…".removeprefix(" · "))
            if self._context and _is_absent(item.value)
            else item
            for item in items
        ]
        super().set_items(offered)

    def _on_picked(self, value: object) -> None:
        if self._context is None or not _is_absent(value):
            super()._on_picked(value)
            return
        title = next(item.label for item in self.items if item.value == value)
        family, _, env_id = str(value).removeprefix(_ABSENT).partition("/")
        title = self._family_title(family) if env_id else title
        on_installed = partial(self._on_installed, env_id)
        open_install_dialog(self._context, Installable("envs", family), self, on_installed, title=title)

    def _family_title(self, family: str) -> str:
        lines = (item.label for item in self.items if item.value == f"{_ABSENT}{family}")
        return next(lines, family)

    def _on_installed(self, env_id: str) -> None:
        self._chosen_after_install = env_id
        self.renew()

    def renew(self) -> None:
        """Fill the list again after an installation, and emit ``installed``."""
        self._refill()
        self.installed.emit()

    def _refill(self) -> None:
        forget_lookups()
        _listed.cache_clear()
        if self._loaded and self._context is not None:
            self._loaded = False
            self._context.spawn(self.load(), "Listing the environments")

    async def load(self) -> None:
        """Fill the list in a thread, because the first read of the registries takes a second."""
        if not self._loaded:
            self.set_items(await asyncio.to_thread(catalog))
            self._loaded = True
            wanted, self._chosen_after_install = self._chosen_after_install, ""
            if any(
                item.value == wanted for item in self.items
            ):  # its family was installed because the user chose it
                super()._on_picked(wanted)


def _is_absent(value: object) -> bool:
    return str(value).startswith(_ABSENT)


def catalog() -> Sequence[PickerItem]:
    """Return items for all environments by family, and for families that are not installed.

    An environment that several families provide gets one item, which names the others. All pickers share one
    list until something is installed.
    """
    return _listed(frozenset(name for name, family in envs.families().items() if family.installed))


@lru_cache(maxsize=1)
def _listed(installed: frozenset[str]) -> Sequence[PickerItem]:
    items: list[PickerItem] = []
    absent: list[PickerItem] = []
    by_family: dict[str, list[envs.EnvSpec]] = {}
    for spec in envs.list_specs():
        by_family.setdefault(spec.family, []).append(spec)
    games: dict[str, list[envs.EnvSpec]] = {}
    titled: dict[str, set[str]] = {}
    for name, family in envs.families().items():
        if name in installed:
            for spec in by_family.get(name, []):
                if game := family.game(spec):
                    games.setdefault(game, []).append(spec)
                titled.setdefault(family.title_of(spec).casefold(), set()).add(name)
    for name, family in envs.families().items():
        if name in installed:
            shared = frozenset(title for title, of in titled.items() if len(of) > 1)
            items += _of_family(family, by_family.get(name, []), games, shared)
        elif family.install:
            line = family.install
            words = " ".join(family.prefixes)
            absent.append(PickerItem(f"{_ABSENT}{name}", family.title, "", _NOT_INSTALLED, line, words))
            absent += _known_of(family)
    return (*items, *absent)


def _known_of(family: Family) -> Iterator[PickerItem]:
    """Yield items for the environments of a family that is not installed, which only a search shows."""
    for env_id, title in known_names().get(family.name, {}).items():
        value = f"{_ABSENT}{family.name}/{env_id}"
        yield PickerItem(
            value, title, family.title, _NOT_INSTALLED, family.install, env_id, searched_only=True
        )


def _of_family(
    family: Family,
    specs: Sequence[EnvSpec],
    games: Mapping[str, Sequence[EnvSpec]],
    shared: frozenset[str],
) -> Iterator[PickerItem]:
    """Yield items for a family's environments, labeled by title; equal titles show the id or the family."""
    short = Counter(spec.id.rpartition("/")[2] for spec in specs)
    titles = {spec.id: family.title_of(spec) for spec in specs}
    same = Counter(titles.values())
    for spec in specs:
        name = spec.id.rpartition("/")[2]
        name = name if short[name] == 1 else spec.id
        title = titles[spec.id]
        alone = same[titles[spec.id]] == 1
        known = games.get(family.game(spec), ())
        others = [other.id for other in known if other.id != spec.id]
        first = not known or known[0].id == spec.id
        also = f"also {', '.join(others)}" if others and first else ""
        parts = (name if alone and name != titles[spec.id] else "", also or _turns(spec.api))
        yield PickerItem(
            spec.id,
            (f"{title} ({family.title})" if title.casefold() in shared else title) if alone else name,
            " · ".join(filter(None, parts)),
            family.title,
            envs.trouble(spec),
            f"{spec.id} {titles[spec.id]} {family.search_words(spec)}".strip(),
            None if first else known[0].id,
        )


def _turns(api: str) -> str:
    return {"gymnasium": "", "aec": "turn by turn", "parallel": "all at once"}[api]
