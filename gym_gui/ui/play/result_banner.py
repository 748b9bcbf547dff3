"""The line below the stage with the result of an episode, and buttons to play again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QWidget

from gym_gui.ui import theme
from gym_gui.ui.numbers import local
from gym_gui.ui.widgets import ElidedLabel, IconLabel, LinkButton, PrimaryButton
from gym_gui.ui.widgets.layouts import empty, row_layout

FOOT: Final = 36
"""Height of the line below the stage, in pixels, also without a result."""


class ResultBanner(QFrame):
    """Line below the frame with the result and the buttons **Play again**, **Same seed** and **Show in
    Results**.

    Args:
        parent: Qt parent.
    """

    again = pyqtSignal()
    same_again = pyqtSignal()
    show_results = pyqtSignal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("result-banner")
        self.setProperty("role", "wash")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(FOOT)
        self._icons = QHBoxLayout()
        self._headline = ElidedLabel("", "strong", name="result-headline")
        self.detail = ElidedLabel("", "muted", name="result-detail")
        # The facts are cut before the headline, and in a narrow window both before the buttons.
        self.detail.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.results_button = LinkButton(
            "Show in Results",
            name="show-in-results",
            tooltip="Open the run folder of this episode in Results",
            on_click=self.show_results.emit,
        )
        self._same_button = LinkButton(
            "Same seed",
            name="play-same-seed",
            tooltip="Play an episode with the same seed",
            on_click=self.same_again.emit,
        )
        self._again_button = PrimaryButton(
            "Play again (Enter)", name="play-again", tooltip="Play the next seed", on_click=self.again.emit
        )
        row = row_layout(self, margin=(theme.GAP, 0, 3, 0), spacing=theme.GAP)
        row.addLayout(self._icons)
        row.addWidget(self._headline)
        row.addWidget(self.detail, 1)
        row.addWidget(self.results_button)
        row.addWidget(self._same_button)
        row.addWidget(self._again_button)

    def show_result(
        self, episode: Mapping[str, Any], people: Sequence[str], fallbacks: int, *, recorded: bool
    ) -> None:
        """Show how an episode ended.

        Args:
            episode: Line of the episode in ``episodes.jsonl``.
            people: Agents that people at this window played.
            fallbacks: Number of fallback actions for people who did not act in time.
            recorded: Whether the episode is in a run folder.
        """
        tone, headline = outcome_words(episode, people)
        empty(self._icons)
        icon = {"ok": "trophy", "error": "error"}.get(tone, "info")
        self._icons.addWidget(IconLabel(icon, tone))
        self._headline.setText(headline)
        self.detail.setText(result_facts(episode, fallbacks, recorded=recorded))
        self.results_button.setVisible(recorded)
        self.setAccessibleName(f"{headline} {self.detail.text()}")


def outcome_words(episode: Mapping[str, Any], people: Sequence[str]) -> tuple[str, str]:
    """Return theme token and sentence for the result of an episode.

    Args:
      episode: Line of the episode in ``episodes.jsonl``.
      people: Agents that people at this window played.
    """
    if episode["status"] == "failed":
        return "error", f"The episode failed: {episode.get('error') or 'no reason was given'}."
    outcome: Mapping[str, str] | None = episode.get("outcome")
    how = f": {episode['result']}" if episode.get("result") else ""
    teams: Mapping[str, Any] = episode.get("teams") or {}
    if outcome:
        mine = [t for t, about in teams.items() if any(a in people for a in about.get("agents", ()))]
        if len(mine) == 1:
            word = outcome.get(mine[0], "")
            said = {"win": "You won", "draw": "A draw", "loss": "You lost"}.get(word, "The game is over")
            return ("ok" if word == "win" else "accent"), ((how and said + how) or said + _score(teams)) + "."
        if how:
            return "accent", f"{episode['result']}."
        winners = [team for team, word in outcome.items() if word == "win"]
        said = f"{_team(winners[0])} won" if len(winners) == 1 else "A draw"
        return "accent", said + _score(teams) + "."
    if episode.get("success") is not None:
        return ("ok", "Solved.") if episode["success"] else ("accent", "Not solved this time.")
    cut = episode.get("truncated") and not episode.get("terminated")
    return "accent", f"The episode is over{': it was truncated' if cut else ''}."


def result_facts(episode: Mapping[str, Any], fallbacks: int, *, recorded: bool) -> str:
    """Return one line with an episode's return, steps, seed, fallback actions and whether it is recorded."""
    steps = int(episode["length"])
    facts = [f"Return {local(float(episode['total_reward'])):g}", f"{steps} step{'s' if steps != 1 else ''}"]
    facts.append(f"seed {episode['seed']}")
    if fallbacks:
        facts.append(f"fallback actions (no key in time): {fallbacks}")
    facts.append("recorded" if recorded else "not recorded")
    return " · ".join(facts)


def _score(teams: Mapping[str, Any]) -> str:
    scores = [about.get("score") for about in teams.values()]
    if len(scores) != 2 or any(score is None for score in scores):
        return ""
    return ", " + " : ".join(f"{local(score):g}" for score in scores)


def _team(name: str) -> str:
    return name.replace("_", " ").capitalize()
