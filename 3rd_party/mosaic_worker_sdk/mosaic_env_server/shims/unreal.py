"""A map of Unreal Engine with Gymnasium's interface: a camera moves through the map by UnrealCV.

https://github.com/unrealcv/unrealcv. The engine, a game with the UnrealCV plugin, is a separate program that
the user has started; see ``docs/simulators.md``. Unreal's coordinates are centimeters and left-handed (x
forward, y to the right, z up, yaw clockwise). This module uses meters and right-handed coordinates (y to the
left, yaw counterclockwise).
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import io
import math
from contextlib import suppress
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np

from mosaic_env_server.shims.shapes import discrete
from mosaic_env_server.shims.simulators import (
    SimulatorError,
    SimulatorUnreachable,
    between,
    decoded,
    listed,
    numbers,
    pixels,
    point_of,
    positive,
    rounded,
    sideways,
    size_of,
)
from mosaic_env_server.shims.unreal_link import UnrealLink
from mosaic_worker.spaces import Space

MOVES = ("forward", "back", "left", "right", "turn left", "turn right", "noop")
_STEPS = {"forward": (1, 0), "back": (-1, 0), "left": (0, 1), "right": (0, -1)}
_TURNS = {"turn left": 1, "turn right": -1}
_CM = 100.0
_BLOCKED_CM = 1.0
"""Shortfall in centimeters above which a move counts as blocked."""
_SIZE = "Set the size of UnrealCV's pictures in its unrealcv.ini"


def metres(location: Any) -> Any:
    """Convert a location of Unreal to meters, right-handed."""
    x, y, z = location
    return np.array([x, -y, z], np.float64) / _CM + 0.0  # adding 0 turns -0.0 into 0.0


def centimetres(point: Any) -> Any:
    """Convert a point in right-handed meters to a location of Unreal."""
    x, y, z = point
    return np.array([x, -y, z], np.float64) * _CM


class Map:
    """A camera that moves through a map.

    Args:
        host: Host on which the engine runs.
        port: Port on which UnrealCV listens.
        camera: Number of the camera; 0 is the player's camera, the only one that collides with objects.
        image: Height and width of the camera's images.
        mask: Whether the observation contains the mask of objects.
        depth: Whether the observation contains the depth as UnrealCV sends it.
        start: Start of episodes: x, y, z in meters, yaw in degrees; ``None`` for the camera's own place.
        step_m: Length of a step in meters.
        turn_deg: Angle of a turn in degrees.
        goal: Name of an object, or a point in meters; ``None`` for no goal.
        radius: Distance on the ground, in meters, at which the goal counts as reached.
        timeout_s: Longest wait for an answer in seconds.
        collision_penalty: Penalty for a blocked step.
        render_mode: ``rgb_array``, or ``None`` for no rendering.

    Raises:
        ValueError: A setting is invalid.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 9000,
        camera: int = 0,
        image: Tuple[int, int] = (480, 640),
        mask: bool = False,
        depth: bool = False,
        start: Optional[Tuple[float, float, float, float]] = None,
        step_m: float = 1.0,
        turn_deg: float = 30.0,
        goal: Union[str, Tuple[float, float, float], None] = None,
        radius: float = 1.5,
        timeout_s: float = 10.0,
        collision_penalty: float = 0.1,
        render_mode: Optional[str] = None,
    ) -> None:
        size = size_of(image)
        if size is None:
            raise ValueError("image is a height and a width in pixels")
        self.render_mode, self._size = render_mode, size
        self._at, self._camera = (str(host), int(port)), int(camera)
        self._mask, self._depth = bool(mask), bool(depth)
        self._start = None if start is None else _start(start)
        self._step_m, self._turn_deg = positive("step_m", step_m), positive("turn_deg", turn_deg)
        self._radius, self._timeout_s = positive("radius", radius), positive("timeout_s", timeout_s)
        self._penalty = float(collision_penalty)
        self._target: Any = goal if goal is None or isinstance(goal, str) else point_of("goal", goal)
        self._goal: Any = None
        self._link: Optional[UnrealLink] = None
        self._why = ""
        self._place: Any = np.zeros(3)
        self._pitch, self._yaw = 0.0, 0.0
        self._hit, self._reached = False, False
        parts = {
            "heading": numbers(-1, 1, 2),
            "image": pixels(*size),
            "position": numbers(-np.inf, np.inf, 3),
        }
        if self._target is not None:
            parts["goal"] = numbers(-np.inf, np.inf, 3)
        if self._mask:
            parts["mask"] = pixels(*size)
        if self._depth:
            parts["depth"] = numbers(0, np.inf, *size)
        self.observation_space = Space("Dict", spaces=dict(sorted(parts.items())))
        self.action_space = discrete(len(MOVES))
        self.metadata: Mapping[str, Any] = {
            "render_modes": ["rgb_array"],
            "render_fps": 5,
            "one_at_a_time": True,
            "action_meanings": list(MOVES),
            "noop": MOVES.index("noop"),
        }

    # -- an episode

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[Mapping[str, Any]] = None
    ) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """Begin an episode: move the camera to its start. The map does not depend on the seed."""
        if self._link is not None and self._link.lost:
            self._leave("")
        was_open = self._link is not None
        try:
            if self._link is None:
                self._link = UnrealLink.of(*self._at, self._timeout_s)
            self._begin(self._link)
            return self._observe(), {}
        except SimulatorError as exc:
            error = self._lost(exc)
        if was_open and isinstance(error, SimulatorUnreachable):  # the engine may have been restarted since
            return self.reset(seed=seed, options=options)
        raise error

    def _begin(self, link: UnrealLink) -> None:
        camera = f"vget /camera/{self._camera}"
        if self._camera not in link.homes:
            link.homes[self._camera] = [
                link.numbers(f"{camera}/{what}", self._timeout_s) for what in ("location", "rotation")
            ]
        location, rotation = link.homes[self._camera]
        self._place, self._pitch, self._yaw = metres(location), rotation[0], 0.0 - rotation[1]
        if self._start is not None:
            self._place, self._pitch, self._yaw = np.array(self._start[:3]), 0.0, self._start[3]
        self._goal = self._target
        if isinstance(self._target, str):
            found = link.numbers(f"vget /object/{self._target}/location", self._timeout_s)
            self._goal = metres(found)
        self._hit, self._reached = False, False
        self._put(link)

    def step(self, action: Any) -> Tuple[Dict[str, Any], float, bool, bool, Dict[str, Any]]:
        """Do one step or turn.

        Raises:
            SimulatorError: The connection is lost; the next ``reset`` reconnects.
        """
        link = self._link
        if link is None:
            raise SimulatorError(self._why or "it has no episode: call reset first")
        word, before = MOVES[int(action)], self._distance()
        self._hit = False
        try:
            if link.holder is not self:  # another environment has moved the camera since
                self._put(link)
            if word in _STEPS:
                self._move(link, *_STEPS[word])
            elif word in _TURNS:
                self._yaw = between(self._yaw + _TURNS[word] * self._turn_deg)
                self._rotate(link)
            seen = self._observe()
        except SimulatorError as exc:
            raise self._lost(exc) from None
        reward = before - self._distance() - (self._penalty if self._hit else 0.0)
        self._reached = self._goal is not None and self._distance() <= self._radius
        return seen, reward, self._reached, False, {"hit": True} if self._hit else {}

    def _move(self, link: UnrealLink, ahead: int, left: int) -> None:
        yaw = math.radians(self._yaw)
        way = (
            ahead * math.cos(yaw) - left * math.sin(yaw),
            ahead * math.sin(yaw) + left * math.cos(yaw),
            0.0,
        )
        end = self._place + self._step_m * np.array(way)
        self._tell(link, "moveto" if self._camera == 0 else "location", centimetres(end))
        self._place = metres(link.numbers(f"vget /camera/{self._camera}/location", self._timeout_s))
        self._hit = bool(np.linalg.norm(self._place - end) * _CM > _BLOCKED_CM)

    def _put(self, link: UnrealLink) -> None:
        self._tell(link, "location", centimetres(self._place))
        self._rotate(link)
        link.holder = self

    def _rotate(self, link: UnrealLink) -> None:
        self._tell(link, "rotation", (self._pitch, -self._yaw, 0.0))

    def _tell(self, link: UnrealLink, what: str, values: Any) -> None:
        said = " ".join(f"{float(value) + 0.0:.3f}" for value in values)  # adding 0 turns -0.0 into 0.0
        link.send(f"vset /camera/{self._camera}/{what} {said}", self._timeout_s)

    def _observe(self) -> Dict[str, Any]:
        yaw = math.radians(self._yaw)
        seen = {
            "heading": np.array([math.cos(yaw), math.sin(yaw)], np.float32),
            "image": self._picture("lit"),
            "position": self._place.astype(np.float32),
        }
        if self._goal is not None:
            seen["goal"] = self._goal.astype(np.float32)
        if self._mask:
            seen["mask"] = self._picture("object_mask")
        if self._depth:
            seen["depth"] = self._distances()
        return dict(sorted(seen.items()))

    def _fetch(self, what: str) -> bytes:
        assert self._link is not None
        return self._link.fetch(f"vget /camera/{self._camera}/{what}", self._timeout_s)

    def _picture(self, what: str) -> Any:
        assert self._link is not None
        return decoded(
            self._fetch(f"{what} png"), f"camera {self._camera} of {self._link.who}", self._size, _SIZE
        )

    def _distances(self) -> Any:
        assert self._link is not None
        try:
            found: Any = np.load(io.BytesIO(self._fetch("depth npy")), allow_pickle=False)
            depth = np.nan_to_num(np.squeeze(found).astype(np.float32), nan=np.inf, posinf=np.inf)
        except ValueError as exc:
            raise SimulatorError(f"{self._link.who} sent a depth that cannot be read: {exc}") from None
        if depth.shape != self._size:
            raise SimulatorError(f"{self._link.who} sends depths of {depth.shape}, not {self._size}. {_SIZE}")
        return np.maximum(depth, 0)

    def _distance(self) -> float:
        """Return the distance to the goal on the ground in meters; 0 without a goal."""
        if self._goal is None:
            return 0.0
        return math.hypot(*(float(each) for each in (self._goal - self._place)[:2]))

    # -- in words

    def mosaic_success(self) -> Optional[bool]:
        """Return whether the goal was reached; ``None`` without a goal."""
        return None if self._target is None else self._reached

    def mosaic_briefing(self, agent: str) -> str:
        """Return a description of the task and the axes."""
        aim = "There is no goal: look around."
        if self._target is not None:
            name = f"the {self._target}" if isinstance(self._target, str) else "the goal"
            aim = f"Come within {self._radius:g} m of {name}; you are paid by the metre that you come nearer."
        return (
            f"You walk a map. A step is {self._step_m:g} m, a turn {self._turn_deg:g} degrees. {aim} A step "
            f"that is blocked costs {self._penalty:g}. Places are in metres, with x and y on the ground and "
            "z up; headings are degrees anticlockwise from the x axis."
        )

    def mosaic_text(self, agent: str) -> str:
        """Return the camera's position and the direction of the goal as text."""
        lines = [f"You are at {listed(self._place)}, heading {self._yaw % 360:.0f} degrees."]
        if self._goal is not None:
            lines.append(f"The goal is {self._distance():.2f} m away, {sideways(-self._turn())}.")
        if self._hit:
            lines.append("Something blocked your last step.")
        if self._reached:
            lines.append("You have reached the goal.")
        return "\n".join(lines)

    def mosaic_facts(self, agent: str) -> List[List[Any]]:
        """Return the observation as ground facts."""
        facts: List[List[Any]] = [["at", *rounded(self._place)], ["heading", round(self._yaw % 360)]]
        if self._goal is not None:
            facts.append(["goal", *rounded(self._goal)])
            facts.append(["distance", round(self._distance(), 2)])
            facts.append(["turn", round(self._turn())])
        if self._hit:
            facts.append(["blocked"])
        return facts

    def _turn(self) -> float:
        """Return the counterclockwise angle in degrees from the camera's heading to the goal."""
        x, y = (float(each) for each in (self._goal - self._place)[:2])
        return between(math.degrees(math.atan2(y, x)) - self._yaw)

    def render(self) -> Any:
        """Return the camera's image."""
        link = self._link
        if link is None:
            raise SimulatorError(self._why or "it has no episode: call reset first")
        try:
            if link.holder is not self:
                self._put(link)
            return self._picture("lit")
        except SimulatorError as exc:
            raise self._lost(exc) from None

    # -- the connection

    def _lost(self, error: SimulatorError) -> SimulatorError:
        """Close the connection after an error and return the error to raise."""
        if isinstance(error, SimulatorUnreachable) and self._link is not None:
            self._link.drop()
        self._leave("the connection was lost; begin another episode")
        return error

    def _leave(self, why: str) -> None:
        link, self._link = self._link, None
        self._why = why
        if link is not None:
            if link.holder is self:
                link.holder = None
            link.release()

    def close(self) -> None:
        """Move the camera back to where it was found and close the connection."""
        link = self._link
        if link is not None and link.holder is self and self._camera in link.homes:
            with suppress(SimulatorError):
                location, rotation = link.homes[self._camera]
                self._tell(link, "location", location)
                self._tell(link, "rotation", rotation)
        self._leave("it was closed")


def _start(value: Any) -> Tuple[float, float, float, float]:
    try:
        x, y, z, yaw = (float(each) for each in value)
    except (TypeError, ValueError):
        raise ValueError(f"start is x, y, z and a yaw in degrees, not {value!r}") from None
    return x, y, z, yaw
