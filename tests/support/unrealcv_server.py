"""A map that speaks UnrealCV's protocol, for tests: the engine is a binary of GB.

``python unrealcv_server.py --port 0`` prints its port. A plain, a wall at x = 500 cm, an object ``Lamp``. As
the plugin does it lets one client in at a time, greets it, and answers ``NUMBER:COMMAND`` by
``NUMBER:ANSWER``, each behind a magic number and its length. Needs the standard library alone.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import socket
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from png import png  # pyright: ignore[reportImplicitRelativeImport]

_MAGIC = 0x9E2B83C1
_WALL_X = 500.0
_LAMP = (400.0, 300.0, 150.0)
_HOME = (0.0, 0.0, 150.0)


class Map:
    """Cameras, a wall and a lamp.

    Args:
        version: Of the plugin; ``""``: it knows no such command.
        image: Height and width of its pictures.
    """

    def __init__(self, version: str, image: tuple[int, int]) -> None:
        self.version, self.image = version, image
        self.locations = {0: _HOME, 1: _HOME}
        self.rotations = {0: (0.0, 0.0, 0.0), 1: (0.0, 0.0, 0.0)}

    def answer(self, command: str) -> str | bytes:
        """What the plugin says to a command."""
        if command == "vget /unrealcv/version" and self.version:
            return self.version
        if command == "vget /object/Lamp/location":
            return said(_LAMP)
        if re.fullmatch(r"vget /object/\w+/location", command):
            return "error Can not find object"
        found = re.fullmatch(r"(vget|vset) /camera/(\d+)/(\w+)(?: (.+))?", command)
        camera = int(found[2]) if found else -1
        if not found or camera not in self.locations:
            return f"error Can not find a handler for URI '{command}'"
        verb, what, rest = found[1], found[3], found[4] or ""
        if verb == "vget" and what == "location":
            return said(self.locations[camera])
        if verb == "vget" and what == "rotation":
            return said(self.rotations[camera])
        if verb == "vget" and what in ("lit", "object_mask") and rest == "png":
            red = max(0, min(255, int(self.locations[camera][0] / 2)))
            return png(*self.image, (red, 100, 50) if what == "lit" else (1, 2, 3))
        if verb == "vget" and what == "depth" and rest == "npy":
            return self._depth()
        return self._placed(camera, what, rest) if verb == "vset" else "error Argument Invalid"

    def _placed(self, camera: int, what: str, rest: str) -> str:
        try:
            x, y, z = map(float, rest.split())
        except ValueError:
            return "error Argument Invalid"
        if what == "rotation":
            self.rotations[camera] = (x, y, z)
        elif what == "location":
            self.locations[camera] = (x, y, z)
        elif what == "moveto" and camera == 0:
            self.locations[camera] = (min(x, _WALL_X), y, z)
        else:
            return "error MoveTo only supports the player camera with id 0"
        return "ok"

    def _depth(self) -> bytes:
        height, width = self.image
        head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({height}, {width}), }}"
        head = head.ljust(117) + "\n"
        values = struct.pack(f"<{height * width}f", *[5.0] * (height * width))
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + values


def said(values: tuple[float, ...]) -> str:
    """Numbers as the plugin prints them."""
    return " ".join(f"{value:.3f}" for value in values)


def exactly(connection: socket.socket, count: int) -> bytes:
    """So many bytes; fewer where the client hangs up."""
    data = b""
    while len(data) < count and (more := connection.recv(count - len(data))):
        data += more
    return data


def send(connection: socket.socket, payload: bytes) -> None:
    """One message."""
    connection.sendall(struct.pack("<II", _MAGIC, len(payload)) + payload)


def serve(world: Map, connection: socket.socket, nonsense: str) -> None:
    """Answer one client until it hangs up."""
    send(connection, b"connected to TestMap")
    while len(head := exactly(connection, 8)) == 8:
        number, _, command = exactly(connection, struct.unpack("<II", head)[1]).partition(b":")
        if nonsense and re.search(nonsense.partition(" ")[2] or ".", command.decode()):
            kind = nonsense.partition(" ")[0]
            if kind == "bytes":
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            elif kind == "number":
                send(connection, b"77:0 0 0")
            else:
                send(connection, number + b":\x89 no answer")
            continue
        told = world.answer(command.decode())
        send(connection, number + b":" + (told if isinstance(told, bytes) else told.encode()))


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--version", default="1.0.0")
    parser.add_argument("--image", type=int, nargs=2, default=(24, 32))
    parser.add_argument("--nonsense", default="", help="bytes, number or words, and a pattern of commands")
    given = parser.parse_args()
    world = Map(given.version, tuple(given.image))
    with socket.create_server(("127.0.0.1", given.port)) as listening:
        print(listening.getsockname()[1], flush=True)
        while True:
            connection, _ = listening.accept()
            with connection, contextlib.suppress(OSError):  # the client is gone
                serve(world, connection, given.nonsense)


if __name__ == "__main__":
    main()
