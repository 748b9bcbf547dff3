"""``python -m mosaic_env_server --fd N`` serves environments to the program that has started it.

Without ``--fd`` it speaks JSON lines on stdin and stdout.
"""

from __future__ import annotations

import argparse
import os
import socket
from typing import List, Mapping, Optional

from mosaic_env_server.entries import Entries
from mosaic_env_server.frames import FrameMemory
from mosaic_env_server.server import EnvironmentServer, ServerLink
from mosaic_worker.launch import die_with_parent, end_process
from mosaic_worker.link import JsonLink, SocketLink
from mosaic_worker.pb import environment_pb2 as pb

_open_links: List[ServerLink] = []
"""Links of this process, referenced so that they stay open: to the player, a closed link means an ended
process.
"""


def arguments_of(named: Optional[List[str]]) -> Optional[Mapping[str, str]]:
    """Return arguments ``NAME=module:factory`` as a dict, or ``None`` if there are none.

    Raises:
        ValueError: An argument has another form.
    """
    if not named:
        return None
    pairs = [text.partition("=") for text in named]
    for name, equals, entry in pairs:
        if not (name and equals and ":" in entry):
            raise ValueError(f"{name + equals + entry!r} is no NAME=module:factory")
    return {name: entry for name, _, entry in pairs}


def _arguments(argv: Optional[List[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m mosaic_env_server")
    parser.add_argument("name", nargs="?", default="", help="shown by ps, otherwise unused")
    parser.add_argument("--fd", type=int, help="connected socket; without it JSON lines on stdin/stdout")
    parser.add_argument("--frames", type=int, help="descriptor of shared memory for images")
    parser.add_argument(
        "--parent", type=int, help="pid of the player; this process ends when the player ends"
    )
    parser.add_argument(
        "--env",
        action="append",
        metavar="NAME=module:factory",
        help="serve only environments with such a name; may be repeated",
    )
    return parser.parse_args(argv)


def main(argv: Optional[List[str]] = None) -> int:
    """Serve environments and return the exit status."""
    args = _arguments(argv)
    if args.parent:
        die_with_parent(args.parent)
    link: ServerLink
    if args.fd is not None:
        link = SocketLink(socket.socket(fileno=args.fd), pb.ToEnvironment)
    else:
        link = JsonLink(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"), pb.ToEnvironment)
    _open_links.append(link)
    os.dup2(2, 1)  # libraries print to stdout, which is reserved for the protocol
    memory = None if args.frames is None else FrameMemory(args.frames)
    return EnvironmentServer(link, Entries(arguments_of(args.env)), memory).run()


if __name__ == "__main__":
    end_process(main())
