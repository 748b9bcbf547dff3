"""The Play page's inspector: who plays, with which keys, on which clock, and what it is about."""

from __future__ import annotations

from PyQt6.QtWidgets import QWidget

from gym_gui.ui.environments.documentation import AboutSummary
from gym_gui.ui.input.keyboards_panel import Find, KeyboardsPanel
from gym_gui.ui.input.keys_panel import KeysPanel
from gym_gui.ui.play.clock_rows import ClockRows
from gym_gui.ui.play.score_sheet import ScoreSheet
from gym_gui.ui.play.time_rows import TimeRows
from gym_gui.ui.play.who_plays import WhoPlays
from gym_gui.ui.widgets import Inspector


class SidePanel:
    """Fills an inspector; holds its parts.

    Args:
        inspector: The page's column.
        find_keyboards: Looks for keyboards.
        environment: Says what the environment is made with.
    """

    def __init__(self, inspector: Inspector, find_keyboards: Find, environment: QWidget) -> None:
        self._inspector = inspector
        inspector.add_section("Who plays")
        self.who = WhoPlays()
        inspector.add(self.who)
        self.time = TimeRows()
        inspector.add(self.time)
        self.sheet = ScoreSheet(inspector.add_section("Game"))
        inspector.add(self.sheet)
        self.keyboards = KeyboardsPanel(find_keyboards)
        inspector.add(self.keyboards)
        inspector.add_section("Keys")
        self.keys = KeysPanel()
        inspector.add(self.keys)
        inspector.add_section("Pace")
        self.clock = ClockRows()
        inspector.add(self.clock)
        inspector.add_section("About")
        inspector.add(environment)
        self.about = AboutSummary()
        inspector.add(self.about)
        self.set_keyboards_shown(False)

    def set_keyboards_shown(self, shown: bool) -> None:
        """Keyboards are a question only where several people play."""
        self.keyboards.setVisible(shown)

    def set_shown(self, shown: bool, *, filled: bool = True) -> None:
        """Nothing is to be said before an environment is chosen.

        Args:
            shown: Whether the column is there.
            filled: Whether its contents are. While they are read it keeps its room: the picture beside it
                stays where it is.
        """
        self._inspector.content.setVisible(filled)
        self._inspector.setVisible(shown)
