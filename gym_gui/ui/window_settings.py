"""Settings of the window, with the texts and limits that the settings page is made from.

The settings are saved as ``settings.json`` in the data folder at every change. Only values that differ from
the default are written, so that a better default reaches everyone who did not choose a value.
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
class About:
    """Description of one setting for the settings page.

    Attributes:
        section: Heading above the setting.
        title: Name of the setting.
        text: What the setting does, in a sentence.
        choices: (value, words) of each possible value, if there are only a few.
        low: Least number.
        high: Largest number.
        unit: Unit of a number, for example ``steps/s``.
        folder: Whether the value is a folder: an absolute path, or empty.
    """

    section: str
    title: str
    text: str
    choices: tuple[tuple[str, str], ...] = ()
    low: float = 0.0
    high: float = 0.0
    unit: str = ""
    folder: bool = False


def _setting(default: Any, about: About) -> Any:
    return field(default=default, metadata={"about": about})


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, with their defaults; :func:`about` describes each one."""

    theme: str = _setting(
        "system",
        About(
            "Appearance",
            "Theme",
            "Light, dark, or as the system is at the moment.",
            (("system", "As the system"), ("light", "Light"), ("dark", "Dark")),
        ),
    )
    frame_scaling: str = _setting(
        "auto",
        About(
            "Appearance",
            "Frames",
            "How a frame is scaled to its card. Automatic keeps big pixels sharp.",
            (("auto", "Automatic"), ("sharp", "Sharp"), ("smooth", "Smooth")),
        ),
    )
    menu_bar: bool = _setting(
        False,
        About("Appearance", "Menu bar", "Always show the menus. Otherwise the Alt key shows them."),
    )
    key_repeat: bool = _setting(
        True,
        About("Play", "Held keys repeat", "A key that is held down acts at every step in real-time play."),
    )
    spectator_overlay: bool = _setting(
        True,
        About("Play", "Names on the frame", "Shows each agent's name and last action below the frame."),
    )
    everything_shown: bool = _setting(
        False,
        About(
            "Play",
            "Hidden things are shown",
            "People also see what a game hides from their seat (cards, targets, things out of view).",
        ),
    )
    runs_folder: str = _setting(
        "",
        About(
            "Runs",
            "Where runs are kept",
            "The folder of all new runs, in the window and by mosaic run. Other runs stay where they "
            "are, also a current one. MOSAIC_RUNS_DIR overrides it.",
            folder=True,
        ),
    )
    compress_runs: bool = _setting(
        False,
        About(
            "Runs",
            "Compress when they end",
            "Step and episode rows of runs that are played here take a twelfth of the room. All "
            "commands read them as before.",
        ),
    )
    frame_rate: int = _setting(
        30,
        About(
            "Performance",
            "Frame rate",
            "The most frames a second that are drawn for one operator. Fewer take less processor time.",
            low=1,
            high=60,
            unit="frames/s",
        ),
    )
    sample_processes: bool = _setting(
        True,
        About(
            "Performance",
            "Processor and memory",
            "Shows in the status line how much all processes of MOSAIC use.",
        ),
    )


def about(name: str) -> About:
    """Return the description of a setting."""
    return _FIELDS[name].metadata["about"]


def names() -> tuple[str, ...]:
    """Return the names of all settings, in the order of the page."""
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
        raise UsageError(f"there is no setting {name!r}", fix=f"There are: {', '.join(_FIELDS)}")
    says, kind = about(name), type(default(name))
    if says.choices:
        allowed = [choice for choice, _ in says.choices]
        if value in allowed:
            return value
        raise UsageError(f"setting {name!r} cannot be {value!r}", fix=f"Choose one of: {', '.join(allowed)}")
    if says.folder and isinstance(value, str):
        if not value or Path(value).is_absolute():
            return value
        raise UsageError(f"setting {name!r} cannot be {value!r}", fix="Give the whole path, from / on")
    if kind is bool and isinstance(value, bool):
        return value
    if kind in (int, float) and isinstance(value, (int, float)) and not isinstance(value, bool):
        if says.low <= value <= says.high:
            return kind(value)
        raise UsageError(
            f"setting {name!r} cannot be {value:g}",
            fix=f"Choose a number from {says.low:g} to {says.high:g}",
        )
    raise UsageError(f"setting {name!r} cannot be {value!r}", fix=f"It takes a {kind.__name__}")


class SettingsStore(QObject):
    """Holds the settings, saves each change, and emits a signal for it.

    Args:
        folder: Folder of ``settings.json``.
        parent: Qt owner.
    """

    changed = pyqtSignal(str)
    """Emitted with the name of a changed setting."""

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.path = folder / FILE
        self._values = _read_settings(self.path)

    @property
    def values(self) -> Settings:
        """All values: ``settings.values.frame_rate``."""
        return self._values

    def set(self, name: str, value: object) -> None:
        """Change a setting.

        Raises:
            UsageError: The value does not fit, or the file cannot be written; in the second case the new
                value holds until the window closes.
        """
        fitting = checked(name, value)
        if getattr(self._values, name) == fitting:
            return
        self._values = replace(self._values, **{name: fitting})
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
                fix="They hold until the window closes. Set MOSAIC_DATA_DIR to a folder of your own",
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
