"""A battlefield that speaks StarCraft II's interface, for tests: the engine is a binary of GB.

``python sc2_server.py --port 0`` prints its port; as ``SC2_x64`` it is started with ``-listen HOST -port N``.
Messages of ``s2clientprotocol`` over a websocket, as the engine has them: create, join, observe, order, step,
leave, quit. Marines of two sides stand in two columns; who has no order shoots the nearest in reach.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import hashlib
import math
import random
import socket
import struct
import sys
from typing import Any

from s2clientprotocol import sc2api_pb2 as sc

_MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_REACH, _SPEED, _HEALTH, _MARINE = 6.0, 0.14, 45.0, 48
_DAMAGE = {1: 0.4, 4: 0.3}
"""Of a shot, by side."""


class Unit:
    """A marine."""

    def __init__(self, tag: int, side: int, x: float, y: float) -> None:
        self.tag, self.side, self.x, self.y, self.health = tag, side, x, y, _HEALTH
        self.goal: tuple[float, float] | None = None
        self.target = 0

    def apart(self, other: Unit) -> float:
        """How far it is."""
        return math.hypot(self.x - other.x, self.y - other.y)


class Game:
    """What the engine holds.

    Args:
        maps: Counts of both sides by map: ``3m`` has 3 against 3.
        build: Of the engine.
        version: The same in words.
    """

    def __init__(self, maps: dict[str, tuple[int, int]], build: int, version: str) -> None:
        self.maps, self.build, self.version = maps, build, version
        self.status, self.loop, self.units = sc.launched, 0, list[Unit]()
        self.random = random.Random(0)

    def answer(self, request: Any) -> Any:
        """The response to a request."""
        kind = request.WhichOneof("request")
        response = sc.Response(id=request.id)
        part = getattr(response, kind)
        part.SetInParent()
        handler = getattr(self, f"_{kind}", None)
        if handler is None or (kind in ("observation", "action", "step") and self.status != sc.in_game):
            response.ClearField(kind)
            response.error.append(f"{kind} is not possible now")
        else:
            handler(getattr(request, kind), part)
        response.status = self.status
        return response

    def _ping(self, asked: Any, told: Any) -> None:
        told.game_version, told.base_build, told.data_build = self.version, self.build, self.build
        told.data_version = ""

    def _create_game(self, asked: Any, told: Any) -> None:
        name = asked.local_map.map_path.rpartition("/")[2].removesuffix(".SC2Map")
        if name not in self.maps:
            told.error = sc.ResponseCreateGame.InvalidMapPath
            return
        self.random = random.Random(asked.random_seed)
        self.units = [
            Unit(100 * side + i, side, x, 14.0 + 1.5 * i + self.random.uniform(-0.2, 0.2))
            for side, x, count in zip((1, 4), (10.0, 20.0), self.maps[name], strict=True)
            for i in range(count)
        ]
        self.status, self.loop = sc.init_game, 0

    def _join_game(self, asked: Any, told: Any) -> None:
        told.player_id, self.status = 1, sc.in_game

    def _leave_game(self, asked: Any, told: Any) -> None:
        self.status, self.units = sc.launched, []

    def _quit(self, asked: Any, told: Any) -> None:
        self.status = sc.quit

    def _game_info(self, asked: Any, told: Any) -> None:
        area = told.start_raw.playable_area
        area.p0.x, area.p0.y, area.p1.x, area.p1.y = 1, 1, 31, 31

    def _data(self, asked: Any, told: Any) -> None:
        told.units.add(unit_id=_MARINE, name="Marine")

    def _observation(self, asked: Any, told: Any) -> None:
        seen = told.observation
        seen.game_loop, seen.player_common.player_id = self.loop, 1
        for unit in self.units:
            row = seen.raw_data.units.add(tag=unit.tag, alliance=unit.side, unit_type=_MARINE)
            row.pos.x, row.pos.y, row.health, row.health_max = unit.x, unit.y, unit.health, _HEALTH
        if self.status == sc.ended:
            won = any(unit.side == 1 for unit in self.units)
            told.player_result.add(player_id=1, result=sc.Victory if won else sc.Defeat)

    def _action(self, asked: Any, told: Any) -> None:
        for each in asked.actions:
            order = each.action_raw.unit_command
            for unit in self.units:
                if unit.tag in order.unit_tags:
                    unit.goal, unit.target = None, order.target_unit_tag
                    if order.HasField("target_world_space_pos"):
                        place = order.target_world_space_pos
                        unit.goal = (place.x, place.y)

    def _step(self, asked: Any, told: Any) -> None:
        for _ in range(asked.count):
            self.loop += 1
            for unit in self.units:
                self._act(unit)
            self.units = [unit for unit in self.units if unit.health > 0]

    def _act(self, unit: Unit) -> None:
        if unit.goal is not None:
            east, north = unit.goal[0] - unit.x, unit.goal[1] - unit.y
            length = math.hypot(east, north)
            part = min(1.0, _SPEED / length) if length else 0.0
            unit.x, unit.y = unit.x + part * east, unit.y + part * north
            return
        others = [each for each in self.units if each.side != unit.side]
        told = [each for each in others if each.tag == unit.target]
        near = told or sorted(others, key=unit.apart)[:1]
        if near and unit.apart(near[0]) <= _REACH:
            near[0].health -= _DAMAGE[unit.side] * self.random.uniform(0.9, 1.1)
        elif told:
            unit.goal = None
            unit.x += math.copysign(_SPEED, told[0].x - unit.x)


def serve(link: socket.socket, game: Game, nonsense: str) -> bool:
    """Speak with one client; whether it has said that the engine is to end."""
    head = b""
    while b"\r\n\r\n" not in head:
        more = link.recv(4096)
        if not more:
            return False
        head += more
    lines = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:] if ": " in line)
    if nonsense == "http":
        link.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        return False
    proof = hashlib.sha1(f"{lines['Sec-WebSocket-Key']}{_MAGIC}".encode()).digest()
    said = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    link.sendall(f"{said}Sec-WebSocket-Accept: {base64.b64encode(proof).decode()}\r\n\r\n".encode())
    while True:
        kind, data = _frame(link)
        if kind != 2:
            return False
        request = sc.Request.FromString(data)
        asked = request.WhichOneof("request")
        answer = b"\xff\xff\xff" if asked == nonsense else game.answer(request).SerializeToString()
        size = struct.pack("!BH", 126, len(answer)) if 126 <= len(answer) < 1 << 16 else b""
        size = size or (bytes([len(answer)]) if len(answer) < 126 else struct.pack("!BQ", 127, len(answer)))
        link.sendall(b"\x82" + size + answer)
        if asked == "quit":
            return True


def _frame(link: socket.socket) -> tuple[int, bytes]:
    first, second = _exactly(link, 2)
    length = second & 127
    if length >= 126:
        form = "!H" if length == 126 else "!Q"
        (length,) = struct.unpack(form, _exactly(link, struct.calcsize(form)))
    key = _exactly(link, 4)
    return first & 15, bytes(byte ^ key[i % 4] for i, byte in enumerate(_exactly(link, length)))


def _exactly(link: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = link.recv(count - len(data))
        if not more:
            raise ConnectionError
        data += more
    return data


def main() -> None:
    """Serve until quit."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", "-port", type=int, default=0)
    parser.add_argument("--listen", "-listen", default="127.0.0.1")
    parser.add_argument("--build", type=int, default=75689)
    parser.add_argument("--version", default="4.10.0")
    parser.add_argument("--nonsense", default="")
    options, _ = parser.parse_known_args()
    maps = {"3m": (3, 3), "5m_vs_6m": (5, 6), "8m": (7, 8)}
    game = Game(maps, options.build, options.version)
    with socket.create_server((options.listen, options.port)) as door:
        print(door.getsockname()[1], flush=True)
        while True:
            link, _ = door.accept()
            with link, contextlib.suppress(ConnectionError):
                if serve(link, game, options.nonsense):
                    sys.exit(0)


if __name__ == "__main__":
    main()
