"""A live operator for Qt: it owns an episode player and emits the player's events as signals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

from PyQt6.QtCore import QObject, pyqtSignal

from gym_gui.controllers.engine.session_events import (
    ConfigChanged,
    EpisodePlayed,
    EpisodeUnrecorded,
    FrameDrawn,
    PlayerBroken,
    PlayerEvent,
    QuestionWithdrawn,
    StateChanged,
    StepTaken,
    TurnTaken,
)
from gym_gui.controllers.live_play.episode_player import EpisodePlayer
from gym_gui.core.config import OperatorConfig
from gym_gui.core.live import HumanQuestion, LiveView
from gym_gui.host.session_opening import open_host_session

if TYPE_CHECKING:
    from gym_gui.controllers.engine.session_events import OnSessionEvent
    from gym_gui.controllers.engine.session_interface import Session, SessionSettings
    from gym_gui.controllers.live_play.live_run import LiveRun
    from gym_gui.controllers.live_play.session_link import OpenLiveSession
    from gym_gui.ui.context import AppContext


class LiveOperator(QObject):
    """Emits the events of an operator's episode player as Qt signals.

    Args:
        context: The window's services.
        config: Configuration of the operator.
        seeds: Seeds of the episodes, as for :class:`EpisodePlayer`.
        run: Run into which finished episodes are written; ``None`` to record nothing.
        open_session: Creates the session; by default in a host process.
        parent: Qt parent.

    Attributes:
        player: Plays the episodes; commands go to this object directly.
        former_ids: Ids that the operator had before its slots got other policies.
        named_for: Configuration from which the operator's current id was made.
    """

    state_changed = pyqtSignal(object)
    """Emits an ``OperatorState``, repeatedly while a policy or a person decides."""
    viewed = pyqtSignal(object)
    """Emits a :class:`LiveView` of the current step."""
    framed = pyqtSignal(object)
    """Emits a frame, shape ``(height, width, 3)``, ``uint8``."""
    asked = pyqtSignal(object)
    """Emits a :class:`HumanQuestion`, a request to a person for an action."""
    withdrawn = pyqtSignal(int)
    """Emits the id of a request to a person whose answer the session no longer needs."""
    episode_over = pyqtSignal(object)
    """Emits the record line of an episode that was played to its end."""
    called = pyqtSignal(object)
    """Emits a new or extended :class:`~gym_gui.analysis.transcripts.transcript.Turn`.

    The turn is also in the player's tally.
    """
    broke = pyqtSignal(str)
    """Emits a sentence that says why the operator cannot continue."""
    stepped = pyqtSignal()
    """Emitted after a requested step was taken."""
    config_changed = pyqtSignal(object)
    """Emits the operator's new :class:`OperatorConfig`."""

    def __init__(
        self,
        context: AppContext,
        config: OperatorConfig,
        *,
        seeds: Sequence[int] | None = None,
        run: LiveRun | None = None,
        open_session: OpenLiveSession | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(f"operator.{config.operator_id}")
        self._context = context
        self.former_ids: set[str] = set()
        self.named_for = config
        self.player = EpisodePlayer(
            config,
            self._on_event,
            open_session or self._open_host_session,
            context.spawn,
            everything_shown=lambda: context.settings.values.everything_shown,
            seeds=seeds,
            run=run,
        )

    def go_by(self, config: OperatorConfig) -> None:
        """Replace the configuration by one with another id; it applies from the next start on."""
        self.former_ids = (self.former_ids | {self.player.config.operator_id}) - {config.operator_id}
        self.named_for = config
        self.setObjectName(f"operator.{config.operator_id}")
        self.player.configure(config)

    async def _open_host_session(
        self, config: OperatorConfig, settings: SessionSettings, on_event: OnSessionEvent
    ) -> Session:
        spare = self._context.spare_host
        take = None if spare is None else spare.take
        return await open_host_session(config, settings, on_event, self._context.store, take)

    def _on_event(self, event: PlayerEvent) -> None:
        match event:
            case StateChanged(state):
                self.state_changed.emit(state)
            case LiveView():
                self.viewed.emit(event)
            case FrameDrawn(frame):
                self.framed.emit(frame)
            case HumanQuestion():
                self.asked.emit(event)
            case QuestionWithdrawn(question_id):
                self.withdrawn.emit(question_id)
            case EpisodePlayed(row):
                self.episode_over.emit(row)
            case TurnTaken(turn):
                self.called.emit(turn)
            case PlayerBroken(sentence):
                self.broke.emit(sentence)
            case StepTaken():
                self.stepped.emit()
            case ConfigChanged(config):
                self.config_changed.emit(config)
            case EpisodeUnrecorded(sentence):
                self._context.notify(sentence, "warning")
            case _:
                assert_never(event)
