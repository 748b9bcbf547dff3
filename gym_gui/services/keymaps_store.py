"""Stores the key maps that the user has changed; a key map assigns keyboard keys to actions.

A map belongs to an environment family and to the names of its actions. All MiniGrid tasks share one map.
CartPole and FrozenLake have different maps, although they belong to the same family.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from gym_gui.core.errors import UsageError
from gym_gui.core.formats import NewerFormatError, check_format
from gym_gui.envs.keymaps import KeyScheme
from gym_gui.services.store import Store
from mosaic_worker.plain_files import read_file, replace_file

_log = logging.getLogger(__name__)
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class KeymapName:
    """Key of a map: the environments and the player that the map is for.

    Attributes:
        family: Environment family.
        actions: Names of the actions in the order of their numbers; for a continuous action, names of its
            components.
        player: 0 for the first person at the keyboard, 1 for the second.
    """

    family: str
    actions: tuple[str, ...]
    player: int = 0

    @classmethod
    def of(cls, family: str, actions: Sequence[str], player: int = 0) -> KeymapName:
        """Return the key of a map whose action names are given as any sequence."""
        return cls(family, tuple(actions), player)


class KeymapsStore:
    """Reads and writes ``keymaps.json`` in the data folder.

    Args:
        store: Provides the data folder.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._maps: dict[KeymapName, dict[str, Any]] | None = None
        self._newer: NewerFormatError | None = None

    def apply(self, name: KeymapName, scheme: KeyScheme) -> KeyScheme:
        """Return ``scheme`` with the user's saved keys, or unchanged if none are saved."""
        saved = self._load().get(name)
        if saved is None:
            return scheme
        actions = set(scheme.bindings.values())
        bindings = {key: number for key, number in saved["bindings"].items() if number in actions}
        own = {(component, value): key for key, component, value in saved["axes"]}
        axes = tuple(replace(a, key=own.get((a.component, a.value), a.key)) for a in scheme.axes)
        return replace(scheme, bindings=bindings, axes=axes)

    def changed(self, name: KeymapName) -> bool:
        """Return whether the user has saved keys under a name."""
        return name in self._load()

    def save(self, name: KeymapName, scheme: KeyScheme) -> None:
        """Save the keys of a scheme.

        Raises:
            UsageError: The data folder cannot be written.
        """
        axes = [[axis.key, axis.component, axis.value] for axis in scheme.axes]
        self._load()[name] = {"bindings": dict(scheme.bindings), "axes": axes}
        self._write()

    def reset(self, name: KeymapName) -> None:
        """Delete the saved keys under a name. Raises like :meth:`save`."""
        if self._load().pop(name, None) is not None:
            self._write()

    @property
    def path(self) -> Path:
        """Path of the file, which may not exist yet."""
        return self._store.data / "keymaps.json"

    def _load(self) -> dict[KeymapName, dict[str, Any]]:
        if self._maps is None:
            self._maps = self._read_maps()
        return self._maps

    def _read_maps(self) -> dict[KeymapName, dict[str, Any]]:
        try:
            data: Any = json.loads(read_file(self.path, links=True))
            check_format(str(self.path), data["format"], _FORMAT)
            return dict(map(_entry, data["maps"]))
        except FileNotFoundError:
            return {}
        except NewerFormatError as error:
            _log.warning("%s; the default keys are used", error)
            self._newer = error
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            _log.warning("%s cannot be read and is renamed: %s; the default keys are used", self.path, error)
            # Keys that a person has typed are not overwritten only because the file cannot be read.
            with contextlib.suppress(OSError):
                self.path.replace(self.path.with_suffix(".unreadable.json"))
            return {}

    def _write(self) -> None:
        if self._newer is not None:
            raise self._newer
        maps = [
            {"family": name.family, "actions": list(name.actions), "player": name.player, **saved}
            for name, saved in self._load().items()
        ]
        try:
            self._store.data_dir()
            content = json.dumps({"format": _FORMAT, "maps": maps}, indent=1)
            replace_file(self.path, content.encode(), sync=False)
        except OSError as error:
            raise UsageError(
                f"the keys cannot be saved in {self.path}: {error.strerror or error}",
                fix="The keys apply until the window closes. Set MOSAIC_DATA_DIR to a writable folder",
            ) from error


def _entry(row: Mapping[str, Any]) -> tuple[KeymapName, dict[str, Any]]:
    bindings = {_text(key): int(number) for key, number in cast("dict[Any, Any]", row["bindings"]).items()}
    axes = [[_text(key), int(component), float(value)] for key, component, value in row["axes"]]
    name = KeymapName(_text(row["family"]), tuple(map(_text, row["actions"])), int(row["player"]))
    return name, {"bindings": bindings, "axes": axes}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not text")
    return value
