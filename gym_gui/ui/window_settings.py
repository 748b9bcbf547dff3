"""Settings of the window, with their titles, texts and limits for the Settings page.

Every change is saved in ``settings.json`` in the data folder. Only values that differ from the default are
written, so that users who set no value get a better default of a later version.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

from PyQt6.QtCore import QObject, pyqtSignal

from gym_gui.core.errors import UsageError
from gym_gui.core.paths import SETTINGS
from mosaic_worker.plain_files import read_file, replace_file

_log = logging.getLogger(__name__)

FILE: Final = SETTINGS


@dataclass(frozen=True, slots=True)
class SettingDescription:
    """Title, text and limits of one setting, for the Settings page.

    Attributes:
        section: Heading above the setting.
        title: Name of the setting.
        text: Sentence that says what the setting does.
        choices: Pairs (value, text) of all possible values; empty if any value is allowed.
        low: Least allowed number.
        high: Largest allowed number.
        unit: Unit of the number, such as ``steps/s``.
        folder: Whether the value is the absolute path of a folder, or empty.
    """

    section: str
    title: str
    text: str
    choices: tuple[tuple[str, str], ...] = ()
    low: float = 0.0
    high: float = 0.0
    unit: str = ""
    folder: bool = False


def _declare(default: Any, about: SettingDescription) -> Any:
    return field(default=default, metadata={"about": about})


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of the window, with their defaults; :func:`about` describes each one."""

    theme: str = _declare(
        "system",
        SettingDescription(
            "Appearance",
            "Theme",
            "Light or dark; by default the system's color scheme.",
            (("system", "As the system"), ("light", "Light"), ("dark", "Dark")),
        ),
    )
    frame_scaling: str = _declare(
        "auto",
        SettingDescription(
            "Appearance",
            "Frames",
            "How frames are scaled to the size of the card. Automatic keeps big pixels sharp.",
            (("auto", "Automatic"), ("sharp", "Sharp"), ("smooth", "Smooth")),
        ),
    )
    menu_bar: bool = _declare(
        False,
        SettingDescription(
            "Appearance", "Menu bar", "Always show the menus. Otherwise the Alt key shows them."
        ),
    )
    key_repeat: bool = _declare(
        True,
        SettingDescription(
            "Play", "Held keys repeat", "In real-time play, a key that is held down acts at every step."
        ),
    )
    spectator_overlay: bool = _declare(
        True,
        SettingDescription(
            "Play", "Names on the frame", "Show each agent's name and last action below the frame."
        ),
    )
    everything_shown: bool = _declare(
        False,
        SettingDescription(
            "Play",
            "Show hidden information",
            "Show people information that a game hides from their seats, such as cards or targets. Otherwise "
            "people see what their own seat sees.",
        ),
    )
    runs_folder: str = _declare(
        "",
        SettingDescription(
            "Runs",
            "Folder for runs",
            "Folder of new runs, from the window and from mosaic run. Existing runs are not moved, and a "
            "current run stays in its folder. The environment variable MOSAIC_RUNS_DIR takes "
            "precedence.",
            folder=True,
        ),
    )
    compress_runs: bool = _declare(
        False,
        SettingDescription(
            "Runs",
            "Compress finished runs",
            "Compress the rows of steps and episodes of runs of this window to a twelfth of their size. "
            "All commands read compressed rows.",
        ),
    )
    frame_rate: int = _declare(
        30,
        SettingDescription(
            "Performance",
            "Frame rate",
            "Largest number of frames per second for each operator. A lower rate uses less processor time.",
            low=1,
            high=60,
            unit="frames/s",
        ),
    )
    sample_processes: bool = _declare(
        True,
        SettingDescription(
            "Performance",
            "Processor and memory",
            "Show the processor and memory use of all processes in the status line.",
        ),
    )


def about(name: str) -> SettingDescription:
    """Return the title, text and limits of a setting."""
    return _FIELDS[name].metadata["about"]


def names() -> tuple[str, ...]:
    """Return the names of all settings, in the order of the Settings page."""
    return tuple(_FIELDS)


def default(name: str) -> Any:
    """Return the default value of a setting."""
    return _FIELDS[name].default


_FIELDS: Final[dict[str, Field[Any]]] = {item.name: item for item in fields(Settings)}


def checked(name: str, value: object) -> Any:
    """Return a value converted to the setting's type.

    Raises:
        UsageError: The setting does not exist or does not allow the value.
    """
    if name not in _FIELDS:
        raise UsageError(f"there is no setting {name!r}", fix=f"Choose one of: {', '.join(_FIELDS)}")
    description, kind = about(name), type(default(name))
    if description.choices:
        allowed = [choice for choice, _ in description.choices]
        if value in allowed:
            return value
        raise UsageError(f"setting {name!r} cannot be {value!r}", fix=f"Choose one of: {', '.join(allowed)}")
    if description.folder and isinstance(value, str):
        if not value or Path(value).is_absolute():
            return value
        raise UsageError(f"setting {name!r} cannot be {value!r}", fix="Give an absolute path")
    if kind is bool and isinstance(value, bool):
        return value
    if kind in (int, float) and isinstance(value, (int, float)) and not isinstance(value, bool):
        if description.low <= value <= description.high:
            return kind(value)
        raise UsageError(
            f"setting {name!r} cannot be {value:g}",
            fix=f"Choose a number from {description.low:g} to {description.high:g}",
        )
    raise UsageError(f"setting {name!r} cannot be {value!r}", fix=f"Give a value of the type {kind.__name__}")


class SettingsStore(QObject):
    """Holds the settings, saves each change, and emits a signal for it.

    Args:
        folder: Folder of ``settings.json``.
        parent: Qt owner.
    """

    changed = pyqtSignal(str)
    """Emits the name of a changed setting."""

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.path = folder / FILE
        self._values = _read_settings(self.path)

    @property
    def values(self) -> Settings:
        """All current values, such as ``settings.values.frame_rate``."""
        return self._values

    def set(self, name: str, value: object) -> None:
        """Change a setting and save it.

        Raises:
            UsageError: The value is not allowed, or the file cannot be written; in the second case the new
                value is used until the window closes.
        """
        converted = checked(name, value)
        if getattr(self._values, name) == converted:
            return
        self._values = replace(self._values, **{name: converted})
        self.changed.emit(name)
        self._save()

    def reset(self, name: str) -> None:
        """Restore the default of a setting."""
        self.set(name, default(name))

    def is_default(self, name: str) -> bool:
        """Return whether a setting has its default value."""
        return getattr(self._values, name) == default(name)

    def _save(self) -> None:
        chosen = {name: getattr(self._values, name) for name in names() if not self.is_default(name)}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self.path, (json.dumps(chosen, indent=2) + "\n").encode(), sync=False)
        except OSError as error:
            raise UsageError(
                f"settings could not be saved in {self.path}: {error.strerror or error}",
                fix="The changes are lost when the window closes. Set MOSAIC_DATA_DIR to a writable folder",
            ) from error


def _read_settings(path: Path) -> Settings:
    try:
        data = json.loads(read_file(path, links=True))
    except FileNotFoundError:
        return Settings()
    except (OSError, ValueError) as error:
        _log.warning("settings in %s cannot be read (%s): the defaults are used", path, error)
        return Settings()
    chosen: dict[str, Any] = {}
    for name, value in data.items() if isinstance(data, Mapping) else ():
        try:
            chosen[name] = checked(name, value)
        except UsageError as error:
            _log.warning("%s is not used: %s", path, error)
    return Settings(**chosen)
