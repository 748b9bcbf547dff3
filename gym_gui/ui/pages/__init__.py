"""Pages of the window; a page's module is imported on its first visit."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Final

from gym_gui.ui.page import Page


@dataclass(frozen=True, slots=True)
class PageEntry:
    """Entry of one page in the navigation rail.

    Attributes:
        name: Name of the page in :meth:`AppContext.go`.
        title: Title that the user reads.
        icon: Name of an icon in :mod:`gym_gui.ui.icons`.
        target: Page class as ``module:Class``, below this package.
        guide: Page of the guide that explains this page, below ``docs``.
        foot: Whether the entry is placed at the foot of the rail.
    """

    name: str
    title: str
    icon: str
    target: str
    guide: str
    foot: bool = False

    @property
    def module(self) -> str:
        """Full name of the Python module that contains the page."""
        return f"{__name__}.{self.target.partition(':')[0]}"

    @property
    def there(self) -> bool:
        """Whether the Python module of the page exists."""
        return find_spec(self.module) is not None

    def load(self) -> type[Page]:
        """Import the Python module of the page and return the page class."""
        return getattr(import_module(self.module), self.target.rpartition(":")[2])


PLACES: Final = (
    PageEntry("home", "Home", "home", "home:HomePage", "guide/first_steps.md"),
    PageEntry("play", "Play", "play", "play:PlayPage", "guide/play.md"),
    PageEntry("operators", "Operators", "operators", "operators:OperatorsPage", "guide/operators.md"),
    PageEntry("agents", "Agents", "agents", "agents:AgentsPage", "guide/agents.md"),
    PageEntry("train", "Train", "train", "train:TrainPage", "guide/train.md"),
    PageEntry("results", "Results", "results", "results:ResultsPage", "guide/results_and_replay.md"),
    PageEntry(
        "settings", "Settings", "settings", "settings:SettingsPage", "guide/settings_and_keys.md", foot=True
    ),
)


def places() -> tuple[PageEntry, ...]:
    """Return the pages whose modules exist."""
    return tuple(place for place in PLACES if place.there)
