"""AirSim with Gymnasium's interface: a drone controlled by velocities, a car by throttle and steering."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingImports=false, reportMissingTypeStubs=false

from __future__ import annotations

import math
import time
from typing import Any, List

from mosaic_env_server.shims import ned
from mosaic_env_server.shims.airsim_vehicle import AXES, Vehicle
from mosaic_env_server.shims.simulators import SimulatorError, numbers, positive


class Drone(Vehicle):
    """A multirotor.

    Args:
        speed: Speed of a full action along each axis, in meters per second.
        yaw_rate: Yaw rate of a full turn action, in degrees per second.
        axes: ``world`` for velocities along the axes of ``frame``; ``body`` for velocities along the
            drone's own axes, as with a remote control.
        takeoff_s: Longest time for the take-off, in seconds.
        settings: Arguments of :class:`Vehicle`.
    """

    client = "MultirotorClient"

    def __init__(
        self,
        speed: float = 5.0,
        yaw_rate: float = 45.0,
        axes: str = "world",
        takeoff_s: float = 20.0,
        **settings: Any,
    ) -> None:
        if axes not in ("world", "body"):
            raise ValueError(f"axes is world or body, not {axes!r}")
        self._axes, self._speed = axes, positive("speed", speed)
        self._yaw_rate, self._takeoff_s = positive("yaw_rate", yaw_rate), positive("takeoff_s", takeoff_s)
        super().__init__(**settings)
        self.action_space = numbers(-1, 1, 4)
        self._moving: Any = None

    def _moves(self) -> str:
        own = {"ned": "forward, right, down", "enu": "forward, left, up"}[self._frame]
        along = f"the world's axes ({AXES[self._frame]})" if self._axes == "world" else f"your axes ({own})"
        turn = "clockwise" if self._frame == "ned" else "anticlockwise"
        return (
            f"It is a drone; an action is four numbers between -1 and 1: velocity along {along}, 1 being "
            f"{self._speed:g} m/s, and the rate at which you turn {turn}, 1 being {self._yaw_rate:g} degrees "
            "a second."
        )

    def _pushes(self) -> List[List[Any]]:
        north, east = (1, 0) if self._frame == "enu" and self._axes == "world" else (0, 1)
        right = -1 if self._frame == "enu" and self._axes == "body" else 1
        up, clockwise = (1, -1) if self._frame == "enu" else (-1, 1)
        ahead, beside = ("north", "east") if self._axes == "world" else ("forward", "right")
        back, other = ("south", "west") if self._axes == "world" else ("back", "left")
        return [
            ["up", north, 1, ahead],
            ["down", north, -1, back],
            ["right", east, right, beside],
            ["left", east, -right, other],
            ["act", 2, up, "up"],
            ["alter", 2, -up, "down"],
            ["put", 3, clockwise, "turn right"],
            ["wait", 3, -clockwise, "turn left"],
        ]

    def _begin(self) -> None:
        assert self._link is not None
        self._moving = None
        if not self._ask("armDisarm", True, self._at[2]):
            raise SimulatorError(f"{self._link.who} does not arm {self._name}")
        rising = self._ask("takeoffAsync", self._takeoff_s, self._at[2])
        self._link.finish(rising, "takeoffAsync", self._takeoff_s)

    def _steer(self, action: Any) -> None:
        from cosysairsim import DrivetrainType, YawMode

        assert self._link is not None
        convert = ned.point if self._axes == "world" else ned.along
        call = "moveByVelocityAsync" if self._axes == "world" else "moveByVelocityBodyFrameAsync"
        velocity = [float(each) for each in convert(action[:3], self._frame) * self._speed]
        clockwise = float(action[3]) * self._yaw_rate * (1 if self._frame == "ned" else -1)
        self._link.check(self._moving, call)
        self._moving = self._ask(
            call,
            *velocity,
            self._step_s,
            DrivetrainType.MaxDegreeOfFreedom,
            YawMode(True, clockwise),
            self._at[2],
        )
        if self._lockstep:
            self._run()
        else:
            self._link.finish(self._moving, call, self._step_s)

    def _release(self) -> None:
        self._ask("hoverAsync", self._at[2])


class Car(Vehicle):
    """A car; its distance to the goal is horizontal.

    Args:
        settings: Arguments of :class:`Vehicle`.
    """

    client = "CarClient"

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.action_space = numbers(-1, 1, 2)

    def _pushes(self) -> List[List[Any]]:
        return [
            ["up", 0, 1, "throttle"],
            ["down", 0, -1, "brake"],
            ["left", 1, -1, "left"],
            ["right", 1, 1, "right"],
        ]

    def _moves(self) -> str:
        return (
            "It is a car; an action is two numbers between -1 and 1: the throttle, below 0 the brake, and "
            "the wheel, below 0 to the left."
        )

    def _distance(self) -> float:
        if self._goal is None:
            return 0.0
        return math.hypot(*(float(each) for each in (self._goal - self._position)[:2]))

    def _steer(self, action: Any) -> None:
        self._control(max(0.0, float(action[0])), float(action[1]), max(0.0, -float(action[0])))
        if self._lockstep:
            self._run()
        else:
            time.sleep(self._step_s)

    def _control(self, throttle: float, steering: float, brake: float) -> None:
        from cosysairsim import CarControls

        self._ask("setCarControls", CarControls(throttle, steering, brake), self._at[2])

    def _release(self) -> None:
        self._control(0.0, 0.0, 1.0)
