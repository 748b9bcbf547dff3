"""Describes HighwayEnv: positions and speeds of cars in meters and seconds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_gui.core.experiment.prompt_inputs import Mode
from gym_gui.core.types import AgentID
from gym_gui.envs.describers.describer import ActionWord, Limit
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.describers.value_words import number

LANE = 4.0
"""Distance in meters between the centers of two lanes."""
_NOTHING = 0.05
"""Meters, or meters per second, below which a value is left out of the text."""
_MAPPED = ["presence", "on_road"]
_STRAIGHT = ("highway", "exit", "merge")
_MEANINGS: Mapping[str, str] = {
    "lane left": "change to the next lane on your left",
    "lane right": "change to the next lane on your right",
    "faster": "aim for the next higher speed",
    "slower": "aim for the next lower speed",
    "idle": "keep lane and speed",
}
_STATE = ("sideways position, in m", "heading, in rad", "sideways speed, in m/s", "yaw rate, in rad/s")
_SPEEDS = ("slower", "at your speed", "faster")
_LANES = ("left lane", "your lane", "right lane")
_ON_MAP = (
    "Places are in metres as on a map seen from above: to the right, and down. Headings are in degrees: 0 is "
    "to the right, 90 is down, -90 is up. What is too far to observe appears at the edge of your view."
)
_AHEAD = (
    "You drive along a straight road; lanes are 4 m apart. Of other cars you are told how far they are ahead "
    "of you and to your left or right, and how much faster or slower than you they go. What is too far to "
    "observe appears at the edge of your view."
)


class HighwayDescriber(SpaceDescriber):
    """Describes each kind of HighwayEnv's observations, in units instead of scales from -1 to 1."""

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        kind = self._kind(agent)
        name = type(kind).__name__
        if name in ("KinematicObservation", "ExitObservation"):
            return "\n".join(self._cars(kind, np.asarray(observation, np.float64)))
        if name == "KinematicsGoalObservation":
            return "\n".join(_places(kind, observation))
        if name == "TimeToCollisionObservation":
            frequency = float(self.environment.env.config["policy_frequency"])
            return "\n".join(_collisions(np.asarray(observation), 1 / frequency))
        if _is_map(kind):
            return "\n".join(_map(kind, np.asarray(observation)))
        if name == "AttributesObservation" and all(np.size(each) == 4 for each in observation.values()):
            return "\n".join(_attributes(observation))
        return super().text(agent, observation, mode)

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        kind = self._kind(agent)
        name = type(kind).__name__
        if name in ("KinematicObservation", "ExitObservation"):
            relative = " Other cars' speeds and places are told from yours." if not kind.absolute else ""
            return _AHEAD if self._straight and not kind.absolute else _ON_MAP + relative
        if name == "KinematicsGoalObservation":
            return _ON_MAP
        if name == "TimeToCollisionObservation":
            return (
                "You are told when you would hit a car if all went on as they do now, for three speeds of "
                "yours and three lanes; `close` is less than a car's length away. A lane in which you would "
                "hit at all times is not there."
            )
        if _is_map(kind):
            return (
                f"You see the ground around you as letters, a row for each {number(kind.grid_step[0])} m, "
                "what is ahead of you at the top: `A` is you, `C` another car, `.` the middle of a lane, and "
                "`#` anything else."
            )
        if name == "AttributesObservation":
            return "The reference state is what the state would be in the middle of the lane beside you."
        return super().reading(agent, mode)

    def can_say(self, agent: AgentID) -> bool:
        return _is_map(self._kind(agent)) or super().can_say(agent)

    def game(self, agent: AgentID) -> str:
        ends = [] if self._road == "lane_keeping" else ["A crash ends the drive."]
        return " ".join([super().game(agent), *ends])

    def limit(self, agent: AgentID) -> Limit:
        config = self.environment.env.config
        if not (seconds := config.get("duration")):
            return Limit(None)
        return Limit(math.ceil(seconds * config["policy_frequency"]), f"steps ({number(seconds)} s)")

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        return [ActionWord(each.word, _MEANINGS.get(each.word, "")) for each in super().actions(agent)]

    def _how_to_act(self, agent: AgentID) -> str:
        kind = self._of_agent(self.environment.env.action_type, "agents_action_types", agent)
        said = super()._how_to_act(agent)
        if type(kind).__name__ != "ContinuousAction":
            return said
        gas = [f"{i}. gas, negative to brake" for i in (1,) if kind.longitudinal]
        steer = [f"{kind.size}. steering, negative to the left"] if kind.lateral else []
        return "\n".join((f"{said.rstrip('.')}:", *gas, *steer))

    @property
    def _road(self) -> str:
        return self.environment.spec.module.rpartition(".")[2].removesuffix("_env")

    @property
    def _straight(self) -> bool:
        return self._road in _STRAIGHT

    def _kind(self, agent: AgentID) -> Any:
        """Return HighwayEnv's observation type of an agent."""
        return self._of_agent(self.environment.env.observation_type, "agents_observation_types", agent)

    def _of_agent(self, kind: Any, parts: str, agent: AgentID) -> Any:
        agents = self.environment.adapter.possible_agents
        return getattr(kind, parts)[agents.index(agent)] if hasattr(kind, parts) else kind

    def _cars(self, kind: Any, rows: NDArray[np.float64]) -> Iterator[str]:
        seen = [_car(kind, row) for row in rows]
        ahead = self._straight and not kind.absolute
        yield f"You: {self._own(seen[0]) if ahead else _on_map(seen[0])}"
        if ahead and type(kind).__name__ == "ExitObservation":
            left = -seen[0]["x"]
            yield f"The exit lane {f'begins in {number(left)} m' if left > 0 else 'has begun'}."
        others = [each for each in seen[1:] if each.get("presence", 1.0) > 0]
        for i, other in enumerate(others, 1):
            relative = "" if kind.absolute else "from you "
            yield f"Car {i}: {_beside(other, seen[0]) if ahead else relative + _on_map(other)}"
        if not others:
            yield "You see no other car."

    def _own(self, own: Mapping[str, float]) -> str:
        lane = own["y"] / LANE
        where = (
            f"in lane {round(lane) + 1} from the left"
            if abs(lane - round(lane)) < 0.2
            else f"between lanes {math.floor(lane) + 1} and {math.floor(lane) + 2} from the left"
        )
        middle = f"{_left_or_right(own['y'])} of the middle of lane 1"
        along = f"{number(own['x'])} m along the road"
        return ", ".join([where, middle, along, f"at {number(own['vx'])} m/s", *_aside(own["vy"])])


def _is_map(kind: Any) -> bool:
    """Return whether a HighwayEnv observation is only a grid of cars and lanes."""
    return type(kind).__name__ == "OccupancyGridObservation" and list(kind.features) == [
        "presence",
        "on_road",
    ]


def _car(kind: Any, row: NDArray[np.float64]) -> dict[str, float]:
    """Return the features of one observed car in meters, seconds and radians."""
    ranges: Mapping[str, Sequence[float]] = (kind.features_range or {}) if kind.normalize else {}
    car: dict[str, float] = {}
    for name, value in zip(kind.features, row.tolist(), strict=True):
        low, high = ranges.get(name, (-1.0, 1.0))
        car[name] = round((value + 1) / 2 * (high - low) + low, 3) if name in ranges else value
    return car


def _beside(car: Mapping[str, float], own: Mapping[str, float]) -> str:
    side, faster = car["y"], car["vx"]
    aside = f"{_left_or_right(side)}" if abs(side) >= _NOTHING else ""
    return ", ".join(
        [
            f"{number(abs(car['x']))} m {'ahead' if car['x'] >= 0 else 'behind'}",
            aside if abs(side) >= 0.5 else f"in your lane{aside and f' ({aside})'}",
            "as fast as you"
            if abs(faster) < _NOTHING
            else f"{number(abs(faster))} m/s {'faster' if faster > 0 else 'slower'}",
            *_aside(car["vy"] + own["vy"]),
        ]
    )


def _left_or_right(metres: float) -> str:
    return f"{number(abs(metres))} m to the {'right' if metres > 0 else 'left'}"


def _aside(speed: float) -> list[str]:
    """Return a car's sideways speed as a list with one text; an empty list if the speed is negligible."""
    way = "right" if speed > 0 else "left"
    return [f"moving {way} at {number(abs(speed))} m/s"] if abs(speed) >= _NOTHING else []


def _degrees(y: float, x: float) -> str:
    return f"{number(round(math.degrees(math.atan2(y, x))))}°"


def _on_map(car: Mapping[str, float]) -> str:
    parts = [_at(car["x"], car["y"])] if {"x", "y"} <= set(car) else []
    if {"vx", "vy"} <= set(car):
        speed = math.hypot(car["vx"], car["vy"])
        way = (
            ""
            if speed < 0.05
            else f" towards {number(round(math.degrees(math.atan2(car['vy'], car['vx']))))}°"
        )
        parts.append(f"{number(round(speed, 1))} m/s{way}")
    if {"cos_h", "sin_h"} <= set(car) and (car["cos_h"] or car["sin_h"]):
        parts.append(f"heading {_degrees(car['sin_h'], car['cos_h'])}")
    if {"lat_off", "ang_off"} <= set(car):
        off, turned = car["lat_off"], math.degrees(car["ang_off"])
        parts.append(
            f"{number(abs(round(off, 2)))} m {'right' if off > 0 else 'left'} of its lane's middle, turned "
            f"{number(round(turned))}° from it"
        )
    return ", ".join(parts)


def _at(x: float, y: float) -> str:
    right = f"{number(abs(x))} m {'right' if x >= 0 else 'left'}"
    return f"{right}, {number(abs(y))} m {'down' if y >= 0 else 'up'}"


def _places(kind: Any, seen: Mapping[str, Any]) -> Iterator[str]:
    for name, key in (("You", "achieved_goal"), ("Your place", "desired_goal")):
        values: list[float] = (np.asarray(seen[key], np.float64) * kind.scales).tolist()
        yield f"{name}: {_on_map(dict(zip(kind.features, values, strict=True)))}"


def _collisions(grid: NDArray[Any], step: float) -> Iterator[str]:
    for speed, lanes in zip(_SPEEDS, grid, strict=True):
        said = [f"{lane} {_when(row, step)}" for lane, row in zip(_LANES, lanes, strict=True)]
        yield f"{speed}: {', '.join(said)}"


def _when(row: NDArray[Any], step: float) -> str:
    if (row >= 1).all():
        return "not there"
    hits = _runs(np.flatnonzero(row >= 1).tolist(), step)
    near = [number(i * step) for i in np.flatnonzero((row > 0) & (row < 1)).tolist()]
    parts = [f"hit in {' and '.join(hits)} s"] if hits else []
    parts += [f"close in {' and '.join(near)} s"] if near else []
    return " and ".join(parts) or "free"


def _runs(times: Sequence[int], step: float) -> list[str]:
    """Return time steps as text in seconds; successive steps become one interval."""
    spans: list[list[int]] = []
    for time in times:
        if spans and time == spans[-1][-1] + 1:
            spans[-1] = [spans[-1][0], time]
        else:
            spans.append([time])
    return [" to ".join(number(end * step) for end in span) for span in spans]


def _map(kind: Any, grid: NDArray[Any]) -> Iterator[str]:
    presence, road = grid[0], grid[1]
    own = tuple(int(-low // step) for (low, _), step in zip(kind.grid_size, kind.grid_step, strict=True))
    for ahead in reversed(range(presence.shape[0])):
        cells: list[str] = []
        for right in range(presence.shape[1]):
            ground = "." if road[ahead, right] else "#"
            cells.append("A" if (ahead, right) == own else "C" if presence[ahead, right] else ground)
        yield "".join(cells)


def _attributes(seen: Mapping[str, Any]) -> Iterator[str]:
    for key, values in seen.items():
        told = zip(_STATE, np.ravel(values).tolist(), strict=True)
        per = " per second" if key == "derivative" else ""
        yield f"{key.replace('_', ' ')}: " + "; ".join(f"{name}{per} {number(value)}" for name, value in told)
