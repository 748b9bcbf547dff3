"""``python -m mosaic_env_server.remote --env NAME=module:factory`` waits for players on other machines.

Served is what is named, and nothing else. Each connection gets a process of its own; a player must show the
token, which comes from an environment variable or a file, never from the command line. Without TLS, messages
and token travel in the open: use that on a private network only. Needs ``pip install mosaic-worker[grpc]``.
"""

from __future__ import annotations

import argparse
import sys
from typing import List, Optional

from mosaic_env_server.__main__ import arguments_of
from mosaic_worker.pb import environment_pb2 as pb
from mosaic_worker.remote import add_listening, listen, parse

SERVICE = "mosaic.v1.Environments"
_PORT = 7312


def _failed(reason: str) -> bytes:
    return pb.FromEnvironment(failed=reason).SerializeToString()


def main(argv: Optional[List[str]] = None) -> int:
    """Serve until SIGTERM or SIGINT; returns the exit status, 2 where the call was wrong."""
    parser = argparse.ArgumentParser(prog="python -m mosaic_env_server.remote")
    parser.add_argument(
        "--env",
        action="append",
        metavar="NAME=module:factory",
        required=True,
        help="what is served; repeat it",
    )
    add_listening(parser, _PORT)
    args = parse(parser, argv)
    try:
        arguments_of(args.env)
    except ValueError as exc:
        parser.error(str(exc))
    command = [sys.executable, "-m", "mosaic_env_server", "remote"]
    for text in args.env:
        command += ["--env", text]
    return listen(args, command, "the server of environments", _failed, SERVICE)


if __name__ == "__main__":
    sys.exit(main())
