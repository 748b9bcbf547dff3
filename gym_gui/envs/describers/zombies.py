"""Describes PettingZoo's knights, archers, zombies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gym_gui.core.experiment.prompt_inputs import Mode
from gym_gui.core.types import AgentID
from gym_gui.envs.describers.describer import ActionWord, Limit
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.pictures import Picture, framed

WIDTH, HEIGHT = 1280, 720
"""Size of the field in pixels, by which the package divides the observed positions."""
_KINDS = ("zombie", "archer", "knight", "sword", "arrow", "")
"""Kinds of objects in rows with marks, in the order of the marks."""
_WEAPONS = {"arrow": "Arrow in flight", "sword": "Mace of a knight"}
_ROW = 5
"""Count of numbers in a row: distance, position right and down, heading right and down."""
_TURN, _STEP = 10, 25


class SeenObject(NamedTuple):
    """Object on the field of knights, archers, zombies, relative to the agent.

    Attributes:
        kind: ``"zombie"``, ``"sword"``, ``"arrow"``, or the name of an agent.
        right: Pixels to the right.
        down: Pixels down.
        turned: Direction of the object, in degrees to the right of up.
    """

    kind: str
    right: float
    down: float
    turned: int


class ZombiesDescriber(SpaceDescriber):
    """Describes zombies by distance, direction and distance from the lower edge."""

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        rows = np.asarray(observation)
        if rows.ndim != 2 or rows.shape[1] not in (_ROW, _ROW + len(_KINDS)):
            return super().text(agent, observation, mode)
        own, *others = rows.tolist()
        x, y, heading = own[-4] * WIDTH, own[-3] * HEIGHT, (own[-2], own[-1])
        turned = _turned(*heading)
        things = sorted(self._things(agent, others), key=lambda each: math.hypot(each.right, each.down))
        zombies = [each for each in things if each.kind == "zombie"]
        mates = [each for each in things if each.kind not in ("zombie", *_WEAPONS)]
        weapons = [each for each in things if each.kind in _WEAPONS]
        lines = [
            f"You are {_rounded(x)} from the left and {_rounded(HEIGHT - y)} above the lower edge, looking "
            f"{_from_up(turned)}."
        ]
        lines.append(f"Zombies: {len(zombies) or 'none'}")
        lines += [
            f"- {_where(each, heading)}, {_rounded(HEIGHT - y - each.down)} above the lower edge"
            for each in zombies
        ]
        lines += [f"{each.kind}: {_where(each, heading)}, looking {_from_up(each.turned)}" for each in mates]
        lines += [
            f"{_WEAPONS[each.kind]}: {_where(each, heading)}, pointing {_from_up(each.turned)}"
            for each in weapons
        ]
        return "\n".join(lines)

    def sees_all(self, agent: AgentID) -> bool:
        """Return whether the observation is numbers, which cover all objects on the field."""
        return not self._observes_picture(agent)

    def seat_picture(self, agent: AgentID, observation: Any) -> Picture | None:
        picture = super().seat_picture(agent, observation)
        if picture is None or not self.sees_all(agent):
            return picture
        body: Any = self.environment.env.agent_map[agent].rect
        return framed(picture, (body.left, body.top, body.right, body.bottom))

    def legend(self, agent: AgentID) -> str:
        if self.sees_all(agent):
            return "In the picture a white frame is around you."
        return "In the picture you are in the middle."

    def _things(self, agent: AgentID, rows: Sequence[Sequence[float]]) -> Iterator[SeenObject]:
        """Yield all objects on the field except the agent itself."""
        marked = bool(rows) and len(rows[0]) > _ROW
        kinds = () if marked else self._order(len(rows))
        for i, row in enumerate(rows):
            if not any(row):
                continue
            kind = _KINDS[row.index(1.0)] if marked else kinds[i]
            if kind != agent and not (kind in ("archer", "knight") and not row[-_ROW]):
                yield SeenObject(kind, row[-4] * WIDTH, row[-3] * HEIGHT, _turned(row[-2], row[-1]))

    def _order(self, count: int) -> list[str]:
        """Return the kinds of the rows of an observation without marks, from the rows' order."""
        env: Any = self.environment.env
        everybody = self.environment.adapter.possible_agents
        agents = [name for kind in ("archer", "knight") for name in everybody if name.startswith(kind)]
        kinds = [*agents, *["sword"] * env.num_knights, *["arrow"] * env.max_arrows]
        return [*kinds, *["zombie"] * (count - len(kinds))]

    def game(self, agent: AgentID) -> str:
        others = [each for each in self.environment.adapter.possible_agents if each != agent]
        archer = agent.startswith("archer")
        weapon = (
            "You are an archer: attack shoots an arrow straight ahead, every few steps, if fewer than "
            f"{self.environment.env.max_arrows} are in flight."
            if archer
            else "You are a knight: attack swings a mace in an arc before you, which takes some steps."
        )
        return (
            f"The game is Knights, archers, zombies. You are {agent}, with {', '.join(others)}. {weapon} "
            f"Zombies walk from the upper edge of a field of {WIDTH} by {HEIGHT} pixels to the lower one, "
            f"swerving left and right. Each zombie that you hit pays you 1. {self._losing(archer)} "
            "The game is over when one reaches the lower edge or all of you are out."
        )

    def limit(self, agent: AgentID) -> Limit:
        return Limit(int(self.environment.env.max_cycles))

    def _losing(self, archer: bool) -> str:
        """Return a sentence about what takes an agent out of the game."""
        env: Any = self.environment.env
        edge = ", and so does walking over the edge" if env.line_death else ""
        if env.killable_archers if archer else env.killable_knights:
            return f"A zombie that touches you takes you out{edge}."
        return "Walking over the edge takes you out." if edge else "Nothing takes you out."

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        return (
            "Distances are in pixels, directions in degrees from the way you look: a zombie at 0 degrees is "
            f"straight ahead. A step is {_STEP} pixels, a turn {_TURN} degrees. The nearest comes first."
        )

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        meanings = {
            "forward": "go a step ahead",
            "backward": "go a step back",
            "turn left": f"turn {_TURN} degrees to the left",
            "turn right": f"turn {_TURN} degrees to the right",
            "attack": "shoot an arrow" if agent.startswith("archer") else "swing the mace",
            "noop": "do nothing",
        }
        return [ActionWord(word, meanings.get(word, "")) for word in self.environment.action_meanings(agent)]


def _rounded(value: float) -> int:
    return round(value)


def _turned(right: float, down: float) -> int:
    """Return a direction as degrees clockwise from up."""
    return round(math.degrees(math.atan2(right, -down)))


def _from_up(degrees: int) -> str:
    if degrees == 0:
        return "straight up"
    if abs(degrees) == 180:
        return "straight down"
    return f"{abs(degrees)} degrees {'right' if degrees > 0 else 'left'} of up"


def _where(thing: SeenObject, heading: tuple[float, float]) -> str:
    """Return an object's distance and direction as text: ``"210 away, 35 degrees to the right"``."""
    ahead = thing.right * heading[0] + thing.down * heading[1]
    aside = heading[0] * thing.down - heading[1] * thing.right
    degrees = round(math.degrees(math.atan2(aside, ahead)))
    side = (
        "straight ahead"
        if not degrees
        else f"{abs(degrees)} degrees to the {'right' if degrees > 0 else 'left'}"
    )
    return f"{_rounded(math.hypot(thing.right, thing.down))} away, {side}"
