"""A world that speaks AirSim's protocol (msgpack-RPC over TCP), for tests: the engine is a binary of GB.

``python airsim_server.py --port 0`` prints its port. One vehicle on a plain: a wall 10 m north of where it
starts, the ground below. It moves as it is told, at once; what AirSim has beyond that (physics, delays,
rendering) is not here. Needs ``msgpack`` alone.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack  # pyright: ignore[reportMissingImports, reportMissingModuleSource]

sys.path.insert(0, str(Path(__file__).parent))
from png import png  # pyright: ignore[reportImplicitRelativeImport]

_TICK_S = 0.01
_WALL_NORTH = 10.0
_RUNS_ON_S = 0.01
"""For so long after a step in lockstep the world says that it still runs."""


class Refused(Exception):
    """What a call of the engine throws."""


class World:
    """One vehicle.

    Args:
        version: Of the interface.
        image: Height and width of its pictures.
    """

    def __init__(self, version: int, image: tuple[int, int]) -> None:
        self.version, self.image = version, image
        self.lock = threading.RLock()
        self.paused, self.runs_until, self.now = False, 0.0, 0.0
        self.allowed = self.armed = False
        self._start()
        threading.Thread(target=self._run, daemon=True).start()

    def _start(self) -> None:
        self.position = [0.0, 0.0, 0.0]
        self.velocity = [0.0, 0.0, 0.0]
        self.yaw, self.rate = 0.0, 0.0
        self.car: dict[str, Any] | None = None
        self.speed = 0.0
        self.hit, self.hit_at = "Ground", 1  # it stands on it: AirSim says so, too
        self.tasks: list[tuple[float, Callable[[bool], None]]] = []

    def _run(self) -> None:
        last = time.monotonic()
        while True:
            time.sleep(0.002)
            now = time.monotonic()
            with self.lock:
                if not self.paused:
                    self.advance(now - last)
            last = now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        for _ in range(max(1, round(seconds / _TICK_S))):
            self._tick(seconds / max(1, round(seconds / _TICK_S)))
        done = [task for task in self.tasks if task[0] <= self.now + 1e-9]
        self.tasks = [task for task in self.tasks if task not in done]
        for _, reply in done:
            reply(True)

    def _tick(self, dt: float) -> None:
        self.now += dt
        if self.car is not None:
            self.speed = max(0.0, self.speed + (3 * self.car["throttle"] - 6 * self.car["brake"]) * dt)
            self.yaw += self.speed * 0.2 * self.car["steering"] * dt
            self.velocity = [self.speed * math.cos(self.yaw), self.speed * math.sin(self.yaw), 0.0]
        self.yaw += self.rate * dt
        new = [p + v * dt for p, v in zip(self.position, self.velocity, strict=True)]
        if new[0] >= _WALL_NORTH:
            new[0], self.hit, self.hit_at = _WALL_NORTH, "Wall", int(self.now * 1e9) + 2
        if new[2] > 0:
            new[2], self.hit, self.hit_at = 0.0, "Ground", int(self.now * 1e9) + 2
        self.position = new

    def begin(self, seconds: float, reply: Callable[[bool], None]) -> None:
        """Answer when simulated time has passed; what was begun before is cancelled."""
        for _, earlier in self.tasks:
            earlier(False)
        self.tasks = [(self.now + seconds, reply)]

    # -- the calls: name, number of arguments; those with a reply answer later

    def calls(self) -> dict[str, tuple[int, Callable[..., Any]]]:
        """What the shim may call."""
        return {
            "getServerVersion": (0, lambda: self.version),
            "getMinRequiredClientVersion": (0, lambda: min(self.version, 4)),
            "reset": (0, self.reset),
            "simPause": (1, self.pause),
            "simIsPaused": (0, lambda: self.paused and time.monotonic() > self.runs_until),
            "simContinueForTime": (1, self.continue_for),
            "enableApiControl": (2, self.allow),
            "isApiControlEnabled": (1, lambda vehicle: self.allowed and self.known(vehicle)),
            "armDisarm": (2, self.arm),
            "simGetGroundTruthKinematics": (1, self.kinematics),
            "simGetCollisionInfo": (1, self.collision),
            "simGetImages": (2, self.images),
            "setCarControls": (2, self.drive),
        }

    def later(self) -> dict[str, tuple[int, Callable[..., None]]]:
        """Calls that answer when they are done."""
        return {
            "takeoff": (2, self.take_off),
            "hover": (1, self.hover),
            "moveByVelocity": (7, self.move),
            "moveByVelocityBodyFrame": (7, self.move_body),
        }

    def known(self, vehicle: str) -> bool:
        """Whether there is such a vehicle."""
        if vehicle not in ("", "Drone1"):
            raise Refused(f"Vehicle API for '{vehicle}' is not available")
        return True

    def reset(self) -> None:
        """Back to the start; control has to be asked for again."""
        self._start()
        self.allowed = self.armed = False

    def pause(self, paused: bool) -> None:
        """Stop time, or let it run."""
        self.paused = paused

    def continue_for(self, seconds: float) -> None:
        """Let time pass and stop it."""
        self.advance(seconds)
        self.paused, self.runs_until = True, time.monotonic() + _RUNS_ON_S

    def allow(self, allowed: bool, vehicle: str) -> None:
        """Hand control over."""
        self.known(vehicle)
        self.allowed = allowed

    def arm(self, armed: bool, vehicle: str) -> bool:
        """Start the motors."""
        self.known(vehicle)
        self.armed = armed
        return True

    def kinematics(self, vehicle: str) -> Any:
        """Where it is."""
        self.known(vehicle)
        half, zero = self.yaw / 2, vector(0.0, 0.0, 0.0)
        return {
            "position": vector(*self.position),
            "orientation": quaternion(math.cos(half), 0.0, 0.0, math.sin(half)),
            "linear_velocity": vector(*self.velocity),
            "angular_velocity": vector(0.0, 0.0, self.rate),
            "linear_acceleration": zero,
            "angular_acceleration": zero,
        }

    def collision(self, vehicle: str) -> Any:
        """What it hit last."""
        self.known(vehicle)
        return {
            "has_collided": True,
            "normal": vector(-1.0, 0.0, 0.0),
            "impact_point": vector(*self.position),
            "position": vector(*self.position),
            "penetration_depth": 0.0,
            "time_stamp": self.hit_at,
            "object_name": self.hit,
            "object_id": 1,
        }

    def images(self, requests: list[Any], vehicle: str) -> Any:
        """Redder further north."""
        self.known(vehicle)
        if any(request["camera_name"] != "0" for request in requests):
            raise Refused("No camera of that name")
        height, width = self.image
        red = max(0, min(255, int(20 * self.position[0])))
        return [
            {
                "image_data_uint8": png(height, width, (red, 100, 50)),
                "image_data_float": [],
                "camera_position": vector(*self.position),
                "camera_orientation": quaternion(1.0, 0.0, 0.0, 0.0),
                "time_stamp": int(self.now * 1e9),
                "message": "",
                "pixels_as_float": False,
                "compress": True,
                "width": width,
                "height": height,
                "image_type": request["image_type"],
                "annotation_name": "",
            }
            for request in requests
        ]

    def drive(self, controls: dict[str, Any], vehicle: str) -> None:
        """Pedals and wheel."""
        self.known(vehicle)
        self._steered()
        self.car = controls

    def _steered(self) -> None:
        if not self.allowed:
            raise Refused("Exception: API call was not received, entering hover mode for safety")

    def take_off(self, reply: Callable[[bool], None], timeout_s: float, vehicle: str) -> None:
        """Two metres up."""
        self.known(vehicle)
        self._steered()
        self.position[2] = -2.0
        self.begin(0.1, reply)

    def hover(self, reply: Callable[[bool], None], vehicle: str) -> None:
        """Stand still."""
        self.velocity, self.rate = [0.0, 0.0, 0.0], 0.0
        reply(True)

    def move(self, reply: Callable[[bool], None], *call: Any) -> None:
        """Along the axes of the world."""
        self._steered()
        north, east, down, duration, _, yaw, vehicle = call
        self.known(vehicle)
        self.velocity, self.rate = [north, east, down], math.radians(yaw["yaw_or_rate"])
        self.begin(duration, reply)

    def move_body(self, reply: Callable[[bool], None], *call: Any) -> None:
        """Along its own axes."""
        ahead, right, *rest = call
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        self.move(reply, c * ahead - s * right, s * ahead + c * right, *rest)


def vector(x: float, y: float, z: float) -> dict[str, float]:
    """As AirSim sends one."""
    return {"x_val": x, "y_val": y, "z_val": z}


def quaternion(w: float, x: float, y: float, z: float) -> dict[str, float]:
    """As AirSim sends one."""
    return {"w_val": w, "x_val": x, "y_val": y, "z_val": z}


def serve(world: World, connection: socket.socket, nonsense: str) -> None:
    """Answer one client until it hangs up."""
    sending = threading.Lock()

    def answer(number: int, error: Any, result: Any) -> None:
        with sending, contextlib.suppress(OSError):  # who has hung up waits for nothing
            connection.sendall(msgpack.packb([1, number, error, result]))

    unpacker = msgpack.Unpacker()
    while data := connection.recv(65536):
        unpacker.feed(data)
        for _, number, name, arguments in unpacker:
            if nonsense == "bytes":
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                continue
            if nonsense == name:
                answer(number, None, {"weather": "fine"})
                continue
            now, later = world.calls().get(name), world.later().get(name)
            count = (now or later or (-1, None))[0]
            if count != len(arguments):
                answer(number, f"rpclib: server could not find function '{name}' with argument count "
                       f"{len(arguments)}.", None)  # fmt: skip
                continue
            try:
                with world.lock:
                    if now is not None:
                        answer(number, None, now[1](*arguments))
                    elif later is not None:
                        later[1](lambda done, number=number: answer(number, None, done), *arguments)
            except Refused as exc:
                answer(number, f"rpclib: function '{name}' (called with {count} arg(s)) threw an exception. "
                       f"The exception contained this information: {exc}.", None)  # fmt: skip


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--version", type=int, default=4)
    parser.add_argument("--image", type=int, nargs=2, default=(24, 32))
    parser.add_argument("--nonsense", default="", help="'bytes', or the call that is answered with nonsense")
    given = parser.parse_args()
    world = World(given.version, tuple(given.image))
    with socket.create_server(("127.0.0.1", given.port)) as listening:
        print(listening.getsockname()[1], flush=True)
        while True:
            connection, _ = listening.accept()
            threading.Thread(target=_quietly, args=(world, connection, given.nonsense), daemon=True).start()


def _quietly(world: World, connection: socket.socket, nonsense: str) -> None:
    try:
        serve(world, connection, nonsense)
    except OSError:
        pass  # the client is gone
    finally:
        connection.close()


if __name__ == "__main__":
    main()
