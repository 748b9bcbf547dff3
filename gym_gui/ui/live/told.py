"""Who hears what happens to an operator that plays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from gym_gui.core.live import HumanQuestion, LiveView

if TYPE_CHECKING:
    from gym_gui.analysis.transcript import Turn


class Told(Protocol):
    """Who hears what happens. Called from the event loop."""

    def on_changed(self) -> None:
        """Something that the state depends on may have changed."""
        ...

    def on_worked(self) -> None:
        """What was asked for last has been done."""
        ...

    def on_viewed(self, view: LiveView) -> None:
        """A look."""
        ...

    def on_framed(self, frame: Any) -> None:
        """A picture."""
        ...

    def on_stepped(self) -> None:
        """A step that was asked for has been taken."""
        ...

    def on_asked(self, question: HumanQuestion) -> None:
        """A person has to choose."""
        ...

    def on_lapsed(self, question_id: int) -> None:
        """Nobody waits for this answer any more."""
        ...

    def on_episode_over(self, row: dict[str, Any]) -> None:
        """An episode ended by itself."""
        ...

    def on_called(self, turn: Turn) -> None:
        """A model was asked."""
        ...

    def on_broke(self, sentence: str) -> None:
        """It cannot go on."""
        ...
