"""Games won, drawn and lost, by team."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PyQt6.QtCore import QRectF, QSize, Qt
from PyQt6.QtGui import QPainter
from PyQt6.QtWidgets import QWidget

from gym_gui.ui import theme as themes
from gym_gui.ui.plots.chart import Chart
from gym_gui.ui.theme import ROW, SECTION_PX, SMALL_PX, STEP, TEXT_PX, Theme

PITCH: Final = 58
BAR: Final = 20


@dataclass(frozen=True, slots=True)
class TeamOutcome:
    """How one team fared.

    Attributes:
        name: The team.
        members: In words, who plays in it.
        won: Games won.
        drawn: Games drawn.
        lost: Games lost.
    """

    name: str
    members: tuple[str, ...]
    won: int
    drawn: int
    lost: int

    @property
    def games(self) -> int:
        """All of them."""
        return self.won + self.drawn + self.lost

    def words(self) -> str:
        """The counts."""
        return f"won {self.won}, drawn {self.drawn}, lost {self.lost}"


class OutcomePlot(Chart):
    """One bar per team: won, drawn, lost from left to right, each with its word.

    Args:
        theme: Colours.
        parent: Qt owner.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        hint = "Wins and losses appear here where the environment names a winner."
        super().__init__(theme, hint, parent)
        self.setObjectName("outcomePlot")
        self.setAccessibleName("Outcomes by team")
        self._teams: tuple[TeamOutcome, ...] = ()
        self.renewed()

    def set_teams(self, teams: Sequence[TeamOutcome]) -> None:
        """Show these teams; those without games are left out."""
        self._teams = tuple(team for team in teams if team.games)
        self.renewed()

    def has_values(self) -> bool:
        """Whether any team has played."""
        return bool(self._teams)

    def describe(self) -> str:
        """Every team's counts."""
        return " ".join(f"{team.name}: {team.words()}." for team in self._teams)

    def sizeHint(self) -> QSize:
        """A team has a line of words and its bar."""
        return QSize(420, max(len(self._teams), 2) * PITCH)

    def minimumSizeHint(self) -> QSize:
        """All teams are visible."""
        return QSize(220, max(len(self._teams), 2) * PITCH)

    def draw(self, painter: QPainter) -> None:
        """Name and counts above, the bar below."""
        for i, team in enumerate(self._teams):
            top = i * PITCH
            counts = team.words()
            wide = self.advance(counts)
            align = Qt.AlignmentFlag
            name = f"{team.name}: {', '.join(team.members)}" if team.members else team.name
            room = QRectF(0, top, self.width() - wide - 2 * ROW, 22)
            self.write(painter, room, name, align.AlignLeft, token="text", pixels=TEXT_PX)
            self.write(
                painter, QRectF(self.width() - wide - STEP, top, wide + STEP, 22), counts, align.AlignRight
            )
            self._paint_bar(painter, team, top + 26)

    def _paint_bar(self, painter: QPainter, team: TeamOutcome, top: float) -> None:
        left = 0.0
        for word, count, token in (
            ("won", team.won, "ok"),
            ("drawn", team.drawn, "raised"),
            ("lost", team.lost, "error"),
        ):
            width = self.width() * count / team.games
            if not count:
                continue
            box = QRectF(left, top, max(width - 2, 1.0), BAR)
            colour = self.theme.colour(token)
            painter.setPen(self.theme.colour("muted") if token == "raised" else Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            inner = box.adjusted(0.5, 0.5, -0.5, -0.5) if token == "raised" else box
            painter.drawRoundedRect(inner, STEP, STEP)
            share = f"{word} {100 * count / team.games:.0f} %"
            if self.advance(share, SECTION_PX) + 2 * ROW <= box.width():
                painter.setFont(self.letters(SMALL_PX))
                inks = [self.theme.colour(name) for name in ("text", "panel")]
                painter.setPen(max(inks, key=lambda ink, ground=colour: themes.contrast(ground, ink)))
                painter.drawText(box.adjusted(ROW, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), share)
            left += width
