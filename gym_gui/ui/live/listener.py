"""What a session says, passed on to the operator whose session it is."""

from __future__ import annotations

import logging
from typing import Any, Protocol

from gym_gui.core.live import HumanQuestion, LiveView

_log = logging.getLogger(__name__)


class Audience(Protocol):
    """Who wants to know."""

    def hears(self, listener: LiveListener) -> bool:
        """Whether that session is still theirs."""
        ...

    def log_name(self) -> str:
        """What the log calls them."""
        ...

    def on_started(self, index: int) -> None:
        """An episode begins."""
        ...

    def on_finished(self, index: int, steps: bytes, line: bytes) -> None:
        """An episode is over."""
        ...

    def on_call(self, line: bytes) -> None:
        """A paid call was made."""
        ...

    def on_view(self, view: LiveView) -> None:
        """A look at the episode."""
        ...

    def on_frame(self, frame: Any) -> None:
        """A picture of it."""
        ...

    def on_question(self, question: HumanQuestion) -> None:
        """A person is asked."""
        ...

    def on_withdrawn(self, question_id: int) -> None:
        """Nobody waits for that answer any more."""
        ...

    def on_ended(self, listener: LiveListener, reason: str) -> None:
        """The session ended by itself."""
        ...


class LiveListener:
    """Passes on what one session says, for as long as it is the operator's session.

    A session that has been let go may still have messages on their way; they concern nobody.
    """

    def __init__(self, audience: Audience) -> None:
        self._audience = audience

    def on_started(self, index: int) -> None:
        if self._audience.hears(self):
            self._audience.on_started(index)

    def on_steps(self, total: int) -> None:
        """Views count steps."""

    def on_retried(self, index: int, reason: str) -> None:
        """What is watched is not begun again."""

    def on_finished(self, index: int, steps: bytes, episode: bytes) -> None:
        if self._audience.hears(self):
            self._audience.on_finished(index, steps, episode)

    def on_call(self, line: bytes) -> None:
        if self._audience.hears(self):
            self._audience.on_call(line)

    def is_behind(self) -> bool:
        return False

    def on_log(self, level: int, logger: str, text: str) -> None:
        _log.log(level, "%s: %s: %s", self._audience.log_name(), logger, text)

    def on_view(self, view: LiveView) -> None:
        if self._audience.hears(self):
            self._audience.on_view(view)

    def on_frame(self, frame: Any, number: int) -> None:
        if self._audience.hears(self):
            self._audience.on_frame(frame)

    def on_question(self, question: HumanQuestion) -> None:
        if self._audience.hears(self):
            self._audience.on_question(question)

    def on_withdrawn(self, question_id: int) -> None:
        if self._audience.hears(self):
            self._audience.on_withdrawn(question_id)

    def on_ended(self, reason: str) -> None:
        if self._audience.hears(self):
            self._audience.on_ended(self, reason)
