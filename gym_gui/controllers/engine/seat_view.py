"""Limits the display of a game with hidden information to the view of the person's own seat."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
from msgspec.structs import replace

from gym_gui.controllers.engine.episode import Episode
from gym_gui.core.errors import ObservationError
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.core.live import Pointing
from gym_gui.core.types import AgentID
from gym_gui.envs.pictures import Picture

_BETWEEN = 8
"""Pixels between the pictures of two seats that are asked at once."""


class SeatView:
    """Limits what people see of a game with hidden information to the observations of their own seats.

    Args:
        people: Returns the slots that people play now.
        everything: Whether people have asked to see the whole game.
    """

    def __init__(self, people: Callable[[], Collection[AgentID]], everything: bool = False) -> None:
        self._people, self._everything = people, everything
        self._episode: Episode | None = None
        self._seen: dict[AgentID, Any] = {}
        self._latest: tuple[AgentID, ...] = ()
        self._whole = False
        self._parts: dict[AgentID, tuple[float, float, float, float]] = {}

    def kept_from(self, episode: Episode) -> tuple[AgentID, ...]:
        """Return the seats of people from which the game hides something."""
        people = self._people()
        return tuple(
            agent
            for agent, slot in episode.seats.items()
            if slot in people and episode.environment.hides_from(agent)
        )

    def hides_estimates_of(self, slot: AgentID) -> bool:
        """Return whether to hide a slot's estimates, which would be advice to a person who plays."""
        people = self._people()
        return bool(people) and slot not in people and not self._everything

    def looking(self, episode: Episode) -> tuple[AgentID, ...]:
        """Return the seats whose view is shown: the seats of people asked now, else of people asked last.

        The result is empty if the whole game is shown. The episode then records the seats of people who see
        the whole game, also of people who begin to play later.
        """
        hidden = self.kept_from(episode)
        seats = () if self._everything else hidden
        if episode is not self._episode:
            self._episode, self._seen, self._latest, self._whole = episode, {}, (), False
        asked = tuple(agent for agent in seats if agent in episode.asked)
        self._seen.update((agent, episode.asked[agent].observation) for agent in asked)
        self._latest = asked or tuple(agent for agent in self._latest if agent in seats) or seats[:1]
        self._whole = self._whole or not self._latest
        if self._whole:
            episode.saw_everything.update(hidden)
        return self._latest

    def picture(self, episode: Episode, seat_view: Collection[AgentID]) -> Picture | None:
        """Return pictures of some seats' views side by side; ``None`` if no seat has a picture yet."""
        drawn = {
            agent: picture
            for agent in seat_view
            if agent in self._seen
            and (picture := episode.environment.seat_picture(agent, self._seen[agent])) is not None
        }
        self._parts = _parts(drawn)
        return _side_by_side(list(drawn.values())) if drawn else None

    def pointing(self, episode: Episode, agent: AgentID) -> Pointing | None:
        """Return the clickable choices in a seat's latest picture; ``None`` if there are none."""
        found = episode.environment.pointing(agent, "egocentric") if agent in self._parts else None
        return None if found is None else replace(found, part=self._parts[agent])

    def text(self, episode: Episode, seat_view: Collection[AgentID]) -> str:
        """Return the observations of some seats as text, separated by empty lines."""
        return "\n\n".join(filter(None, (self._text_for(episode, agent) for agent in seat_view)))

    def _text_for(self, episode: Episode, agent: AgentID) -> str:
        environment = episode.environment
        if agent not in self._seen or not environment.describer(agent).can_say(agent):
            return ""
        try:
            said = environment.show(agent, self._seen[agent], PromptInputs(text=True)).text
        except ObservationError:
            return ""
        return "\n\n".join(filter(None, (said, environment.describer(agent).reading(agent))))


def _parts(drawn: Mapping[AgentID, Picture]) -> dict[AgentID, tuple[float, float, float, float]]:
    """Return the rectangle of each picture within all pictures side by side, by agent.

    A rectangle is (left, top, width, height), as fractions of the combined picture.
    """
    height = max((len(picture) for picture in drawn.values()), default=0)
    width = sum(picture.shape[1] + _BETWEEN for picture in drawn.values()) - _BETWEEN
    parts: dict[AgentID, tuple[float, float, float, float]] = {}
    left = 0
    for agent, picture in drawn.items():
        parts[agent] = left / width, 0.0, picture.shape[1] / width, len(picture) / height
        left += picture.shape[1] + _BETWEEN
    return parts


def _side_by_side(pictures: list[Picture]) -> Picture:
    height = max(len(picture) for picture in pictures)
    parts: list[Picture] = []
    for picture in pictures:
        below = ((0, height - len(picture)), (0, _BETWEEN if picture is not pictures[-1] else 0), (0, 0))
        parts.append(np.pad(picture, below))
    return np.ascontiguousarray(np.concatenate(parts, axis=1))
