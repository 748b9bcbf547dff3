"""The hint of the Play page before an environment is chosen, with some first games."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import pyqtSignal
from PyQt6.QtWidgets import QWidget

from gym_gui.ui.widgets import EmptyHint

_GAMES = (
    ("CartPole", "CartPole-v1"),
    ("FrozenLake", "FrozenLake-v1"),
    ("Connect four", "classic/connect_four_v3"),
)


class FirstGames(EmptyHint):
    """Hint with a question and a few games; emits ``chosen`` with the environment's id.

    Args:
        parent: Qt parent.
    """

    chosen = pyqtSignal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", icon_name="keyboard", parent=parent)
        self.set_text(
            "What do you want to play?",
            "Choose an environment above, or begin with one of these. Every key is shown beside the game.",
        )
        for word, task in _GAMES:
            self.add_action(word, _emitter(self.chosen.emit, task))


def _emitter(emit: Callable[[str], None], task: str) -> Callable[[], None]:
    """Return a function that emits one game; unlike a lambda, it does not keep the widget alive."""
    return lambda: emit(task)
