"""Key maps that a person has changed, kept in the data folder.

A map belongs to a family and to what its actions are called: all MiniGrid tasks share one,
CartPole and FrozenLake, which are of one family, do not.
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
    """Which environments and which player a map is for.

    Attributes:
        family: Environment family.
        actions: The action's words, in the order of their numbers; the components of a
            continuous action.
        player: 0 for the first person at the keyboard, 1 for the second.
    """

    family: str
    actions: tuple[str, ...]
    player: int = 0

    @classmethod
    def of(cls, family: str, actions: Sequence[str], player: int = 0) -> KeymapName:
        """From any sequence of words."""
        return cls(family, tuple(actions), player)


class KeymapsStore:
    """Reads and writes ``keymaps.json`` in the data folder.

    Args:
        store: Where the data folder is.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._maps: dict[KeymapName, dict[str, Any]] | None = None
        self._newer: NewerFormatError | None = None

    def apply(self, name: KeymapName, scheme: KeyScheme) -> KeyScheme:
        """The person's own keys in place of ``scheme``'s, where there are any that fit."""
        saved = self._load().get(name)
        if saved is None:
            return scheme
        actions = set(scheme.bindings.values())
        bindings = {key: number for key, number in saved["bindings"].items() if number in actions}
        own = {(component, value): key for key, component, value in saved["axes"]}
        axes = tuple(replace(a, key=own.get((a.component, a.value), a.key)) for a in scheme.axes)
        return replace(scheme, bindings=bindings, axes=axes)

    def changed(self, name: KeymapName) -> bool:
        """Whether the person has keys of their own there."""
        return name in self._load()

    def save(self, name: KeymapName, scheme: KeyScheme) -> None:
        """Keep a scheme's keys.

        Raises:
            UsageError: The data folder cannot be written.
        """
        axes = [[axis.key, axis.component, axis.value] for axis in scheme.axes]
        self._load()[name] = {"bindings": dict(scheme.bindings), "axes": axes}
        self._write()

    def reset(self, name: KeymapName) -> None:
        """Forget the person's own keys; raises as :meth:`save`."""
        if self._load().pop(name, None) is not None:
            self._write()

    @property
    def path(self) -> Path:
        """The file; it need not be there."""
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
            _log.warning("%s; keys are as by default", error)
            self._newer = error
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            _log.warning("%s cannot be read and is left aside: %s; keys are as by default", self.path, error)
            # What a person typed is not overwritten only because we cannot read it.
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
                fix="They hold until the window closes. Set MOSAIC_DATA_DIR to a folder that can be written",
            ) from error


def _entry(row: Mapping[str, Any]) -> tuple[KeymapName, dict[str, Any]]:
    bindings = {_text(key): int(number) for key, number in cast("dict[Any, Any]", row["bindings"]).items()}
    axes = [[_text(key), int(component), float(value)] for key, component, value in row["axes"]]
    name = KeymapName(_text(row["family"]), tuple(map(_text, row["actions"])), int(row["player"]))
    return name, {"bindings": bindings, "axes": axes}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is no text")
    return value
