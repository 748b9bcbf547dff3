"""Base class of AirSim vehicles (drones and cars) with Gymnasium's interface.

The simulator is https://github.com/Cosys-Lab/Cosys-AirSim, the maintained successor of Microsoft's AirSim.
The engine is a separate program that the user has started; see ``docs/simulators.md``.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingImports=false, reportMissingTypeStubs=false

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple

import numpy as np

from mosaic_env_server.shims import ned
from mosaic_env_server.shims.airsim_link import AirSimLink
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
from mosaic_worker.spaces import Space

AXES = {"ned": "x north, y east, z down", "enu": "x east, y north, z up"}
_SIZE = "Set Width and Height of CaptureSettings for ImageType 0 in AirSim's settings.json"
_TAKEN = (
    "another environment has taken over {who}: an engine plays one episode at a time. "
    "Start another one, on another port, or play episodes one after the other"
)
_POLL_S = 0.002
_flown: Dict[Tuple[str, int], Vehicle] = {}
"""Vehicle that uses each engine in this process: only one can, because a reset restores all vehicles of an
engine.
"""


class Vehicle:
    """A vehicle of AirSim; a subclass defines how it is steered.

    Args:
        host: Host on which the engine runs.
        port: ``ApiServerPort`` of the engine.
        vehicle: The vehicle's name in ``settings.json``; ``""`` for the only vehicle.
        camera: Name of the camera for images.
        image: Height and width of images in the observation; ``None`` for no images.
        step_s: Simulated seconds of a step.
        goal: Goal in ``frame``, relative to the vehicle's starting point; ``None`` for no goal.
        radius: Distance in meters at which the goal counts as reached.
        timeout_s: Longest wait for an answer, in seconds.
        frame: Axes of the world: ``ned`` as in AirSim, or ``enu``.
        lockstep: Whether the simulation pauses between steps.
        collision_penalty: Penalty for a collision.
        render_mode: ``rgb_array``, or no rendering.

    Raises:
        ValueError: A setting is invalid.
    """

    client: ClassVar[str]

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 41451,
        vehicle: str = "",
        camera: str = "0",
        image: Optional[Tuple[int, int]] = None,
        step_s: float = 0.1,
        goal: Optional[Tuple[float, float, float]] = None,
        radius: float = 2.0,
        timeout_s: float = 10.0,
        frame: str = "ned",
        lockstep: bool = True,
        collision_penalty: float = 10.0,
        render_mode: Optional[str] = None,
    ) -> None:
        if frame not in ned.FRAMES:
            raise ValueError(f"frame is {' or '.join(ned.FRAMES)}, not {frame!r}")
        self.render_mode, self._frame, self._lockstep = render_mode, frame, bool(lockstep)
        self._at = (str(host), int(port), str(vehicle))
        self._camera, self._image = str(camera), size_of(image)
        self._step_s, self._radius = positive("step_s", step_s), positive("radius", radius)
        self._timeout_s = positive("timeout_s", timeout_s)
        self._penalty = float(collision_penalty)
        self._goal = None if goal is None else ned.point(point_of("goal", goal), frame)
        self._link: Optional[AirSimLink] = None
        self._why = ""
        self._position, self._velocity = np.zeros(3), np.zeros(3)
        self._turned: Tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)
        self._hit, self._reached, self._seen_at = "", False, 0
        parts = {
            "orientation": numbers(-1, 1, 4),
            "position": numbers(-np.inf, np.inf, 3),
            "velocity": numbers(-np.inf, np.inf, 3),
        }
        if self._goal is not None:
            parts["goal"] = numbers(-np.inf, np.inf, 3)
        if self._image is not None:
            parts["image"] = pixels(*self._image)
        self.observation_space = Space("Dict", spaces=dict(sorted(parts.items())))
        self.action_space: Space
        self.metadata: Mapping[str, Any] = {
            "render_modes": ["rgb_array"],
            "render_fps": max(1, round(1 / self._step_s)),
            "one_at_a_time": True,
            "pushes": self._pushes(),
        }

    def _pushes(self) -> List[List[Any]]:
        """Return the controls for a human player: role, component, value, word."""
        raise NotImplementedError

    def _moves(self) -> str:
        """Return a description of the actions as text."""
        raise NotImplementedError

    # -- an episode

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[Mapping[str, Any]] = None
    ) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """Begin an episode: reset the engine's whole world to its initial state, which does not depend on the
        seed.
        """
        was_open = self._link is not None
        try:
            return self._opened(), {}
        except SimulatorError as exc:
            error = self._lost(exc)
        if was_open and isinstance(error, SimulatorUnreachable):  # the engine may have been restarted since
            return self.reset(seed=seed, options=options)
        raise error

    def _opened(self) -> Dict[str, Any]:
        """Connect if necessary, reset the engine and return the first observation."""
        holder = _flown.get(self._at[:2])
        if holder is not None and holder is not self:
            holder._lose(_TAKEN.format(who=holder._who))
        if self._link is None:
            self._link = AirSimLink(self.client, self._at[0], self._at[1], self._timeout_s)
        _flown[self._at[:2]] = self
        self._ask("simPause", False)
        self._ask("reset")
        self._ask("enableApiControl", True, self._at[2])
        if not self._ask("isApiControlEnabled", self._at[2]):
            raise SimulatorError(f"{self._who} does not hand over control of {self._name}")
        self._begin()
        if self._lockstep:
            self._ask("simPause", True)
        self._hit, self._reached = "", False
        self._seen_at = int(self._collision().time_stamp)
        return self._observe()

    def step(self, action: Any) -> Tuple[Dict[str, Any], float, bool, bool, Dict[str, Any]]:
        """Apply an action for ``step_s`` simulated seconds.

        Raises:
            SimulatorError: The connection is lost; the next ``reset`` reconnects.
        """
        if self._link is None:
            raise SimulatorError(self._why or "it has no episode: call reset first")
        before = self._distance()
        try:
            self._steer(np.clip(np.asarray(action, np.float64), -1.0, 1.0))
            seen = self._observe()
            collision = self._collision()
            if collision.has_collided and int(collision.time_stamp) > self._seen_at:
                self._hit = str(collision.object_name) or "something"
        except SimulatorError as exc:
            raise self._lost(exc) from None
        reward = before - self._distance()
        self._reached = not self._hit and self._goal is not None and self._distance() <= self._radius
        if self._hit:
            reward -= self._penalty
        info = {"hit": self._hit} if self._hit else {}
        return seen, reward, bool(self._hit) or self._reached, False, info

    def _begin(self) -> None:
        """Prepare the vehicle for control."""

    def _steer(self, action: Any) -> None:
        raise NotImplementedError

    def _ask(self, name: str, *arguments: Any, **how: Any) -> Any:
        assert self._link is not None
        return self._link.ask(name, *arguments, **how)

    def _collision(self) -> Any:
        fields = ("has_collided", "object_name", "time_stamp")
        return self._ask("simGetCollisionInfo", self._at[2], fields=fields)

    def _run(self) -> None:
        """Run the simulation for ``step_s`` seconds, then pause it (with ``lockstep``)."""
        assert self._link is not None
        self._ask("simContinueForTime", self._step_s, extra_s=self._step_s)
        until = time.monotonic() + self._step_s + self._timeout_s
        while not self._ask("simIsPause"):
            if time.monotonic() > until:
                raise SimulatorError(
                    f"{self._link.who} still runs {self._timeout_s:g} s after a step of {self._step_s:g} s. "
                    "Raise timeout_s, or ClockSpeed in AirSim's settings.json"
                )
            time.sleep(_POLL_S)

    def _observe(self) -> Dict[str, Any]:
        fields = ("position", "linear_velocity", "orientation")
        state = self._ask("simGetGroundTruthKinematics", self._at[2], fields=fields)
        try:
            self._position, self._velocity = _vector(state.position), _vector(state.linear_velocity)
            turned = vars(state.orientation)
            self._turned = tuple(float(turned[f"{part}_val"]) for part in "wxyz")
            values = [*self._position, *self._velocity, *self._turned]
            if not np.isfinite(values).all():
                raise ValueError("not finite")
        except (LookupError, TypeError, ValueError):
            raise SimulatorError(f"{self._who} sent no state of {self._name}: is that its name?") from None
        seen = {
            "orientation": np.clip(ned.orientation(self._turned, self._frame), -1, 1).astype(np.float32),
            "position": self._shown(self._position).astype(np.float32),
            "velocity": self._shown(self._velocity).astype(np.float32),
        }
        if self._goal is not None:
            seen["goal"] = self._shown(self._goal).astype(np.float32)
        if self._image is not None:
            seen["image"] = self._picture(self._image)
        return dict(sorted(seen.items()))

    def _picture(self, wanted: Optional[Tuple[int, int]]) -> Any:
        from cosysairsim import ImageRequest, ImageType

        # PNG defines the order of channels; uncompressed images have an order that depends on the release.
        request = ImageRequest(self._camera, ImageType.Scene, False, True)
        answers = self._ask("simGetImages", [request], self._at[2])
        data = getattr(answers[0], "image_data_uint8", None) if answers else None
        return decoded(data, f"camera {self._camera!r} of {self._who}", wanted, _SIZE)

    def _shown(self, point: Any) -> Any:
        return ned.point(point, self._frame)

    def _distance(self) -> float:
        """Return the distance to the goal in meters, 0 without a goal."""
        return 0.0 if self._goal is None else float(np.linalg.norm(self._goal - self._position))

    # -- in words

    def mosaic_success(self) -> Optional[bool]:
        """Return whether the goal was reached; ``None`` without a goal."""
        return None if self._goal is None else self._reached

    def mosaic_briefing(self, agent: str) -> str:
        """Return a description of the task, the actions and the axes."""
        aim = "There is no goal: look around."
        if self._goal is not None:
            aim = (
                f"Come within {self._radius:g} m of the goal at {listed(self._shown(self._goal))}; you are "
                "paid by the metre that you come nearer."
            )
        return (
            f"You steer a vehicle in a simulated world. {self._moves()} One step takes {self._step_s:g} s. "
            f"{aim} A collision ends the episode and costs {self._penalty:g}. Places are in metres from "
            f"where you started: {AXES[self._frame]}. Headings are degrees clockwise from north."
        )

    def mosaic_text(self, agent: str) -> str:
        """Return the position, the speed and the direction of the goal as text."""
        at = self._shown(self._position)
        lines = [
            f"You are at {listed(at)}, {np.linalg.norm(self._velocity):.2f} m/s fast, velocity "
            f"{listed(self._shown(self._velocity))}, heading {ned.heading(self._turned):.0f} degrees."
        ]
        if self._goal is not None:
            above = float(self._position[2] - self._goal[2])
            where = (
                "level with you"
                if abs(above) < 0.05
                else f"{abs(above):.2f} m {'above' if above > 0 else 'below'} you"
            )
            lines.append(
                f"The goal is {self._distance():.2f} m away, at a bearing of "
                f"{ned.bearing(self._position, self._goal):.0f} degrees, {sideways(self._turn())}, "
                f"{where}."
            )
        if self._hit:
            lines.append(f"You have hit {self._hit}.")
        if self._reached:
            lines.append("You have reached the goal.")
        return "\n".join(lines)

    def mosaic_facts(self, agent: str) -> List[List[Any]]:
        """Return the observation as ground facts."""
        facts: List[List[Any]] = [
            ["at", *rounded(self._shown(self._position))],
            ["velocity", *rounded(self._shown(self._velocity))],
            ["speed", round(float(np.linalg.norm(self._velocity)), 2)],
            ["heading", round(ned.heading(self._turned))],
        ]
        if self._goal is not None:
            facts.append(["goal", *rounded(self._shown(self._goal))])
            facts.append(["distance", round(self._distance(), 2)])
            facts.append(["bearing", round(ned.bearing(self._position, self._goal))])
            facts.append(["turn", round(self._turn())])
        if self._hit:
            facts.append(["hit", self._hit])
        return facts

    def _turn(self) -> float:
        """Return the clockwise angle in degrees from the vehicle's heading to the goal."""
        assert self._goal is not None
        return between(ned.bearing(self._position, self._goal) - ned.heading(self._turned))

    def render(self) -> Any:
        """Return the camera's image."""
        if self._link is None:
            raise SimulatorError(self._why or "it has no episode: call reset first")
        try:
            return self._picture(None)
        except SimulatorError as exc:
            raise self._lost(exc) from None

    # -- the connection

    @property
    def _who(self) -> str:
        return "AirSim" if self._link is None else self._link.who

    @property
    def _name(self) -> str:
        return f"vehicle {self._at[2]!r}" if self._at[2] else "the vehicle"

    def _lost(self, error: SimulatorError) -> SimulatorError:
        """Close the connection after an error and return the error to raise."""
        if isinstance(error, SimulatorUnreachable):
            self._lose("the connection was lost; begin another episode")
        else:
            self.close()
        return error

    def _lose(self, why: str) -> None:
        if self._link is not None:
            self._link.close()
            self._link, self._why = None, why
        if _flown.get(self._at[:2]) is self:
            del _flown[self._at[:2]]

    def close(self) -> None:
        """Release control of the vehicle, let the simulation run again and close the connection."""
        if self._link is not None:
            with suppress(SimulatorError):
                self._release()
                self._ask("enableApiControl", False, self._at[2])
                self._ask("simPause", False)
        self._lose("it was closed")

    def _release(self) -> None:
        """Stop controlling the vehicle."""


def _vector(value: Any) -> Any:
    return np.array([float(vars(value)[f"{axis}_val"]) for axis in "xyz"])
