"""Equal episode counts: those that have finished fewer episodes play the missing ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gym_gui.controllers.live_play.episode_player import EpisodePlayer


class Evening:
    """Has some players go on until all have finished as many episodes, of the same seeds.

    Args:
        players: Everybody, as they are at that moment.
        on_changed: Told when it begins, comes along, and ends.

    Attributes:
        target: Episodes that each is to have; 0 while it is not on.
        missing: How many were missing when it began.
    """

    def __init__(
        self, players: Callable[[], Sequence[EpisodePlayer]], on_changed: Callable[[], None]
    ) -> None:
        self._players, self._on_changed = players, on_changed
        self._behind: list[EpisodePlayer] = []
        self.target = self.missing = 0

    def lacking(self) -> int:
        """Episodes that some have finished and others have not, summed up; 0: all stand alike."""
        counts = [player.feed.played for player in self._players()]
        return sum(max(counts) - count for count in counts) if counts else 0

    @property
    def left(self) -> int:
        """Episodes that are still missing, while it is on."""
        return sum(max(self.target - player.feed.played, 0) for player in self._behind)

    def begin(self) -> None:
        """Play what is missing, each at its own pace; the others wait."""
        players, self.missing = self._players(), self.lacking()
        if not self.missing:
            return
        self.target = max(player.feed.played for player in players)
        self._behind = [player for player in players if player.feed.played < self.target]
        for player in self._behind:
            player.play_until(self.target)
        self._on_changed()

    def look(self) -> None:
        """Somebody has come along, or cannot: end it when nobody plays any more."""
        if self.target and not any(self._plays(player) for player in self._behind):
            self.end()
        elif self.target:
            self._on_changed()

    def _plays(self, player: EpisodePlayer) -> bool:
        return not (player.done or player.trouble or player.shortage) and player.is_running()

    def end(self) -> None:
        """Hold everybody where they are; when asked, they play on without end."""
        if not self.target:
            return
        behind, self._behind, self.target = self._behind, [], 0
        for player in behind:
            player.pause()
            player.play_until(None)
        self._on_changed()
