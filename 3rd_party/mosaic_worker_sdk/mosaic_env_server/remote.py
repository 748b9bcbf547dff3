"""``python -m mosaic_env_server.remote --env NAME=module:factory`` serves players on other machines.

The server serves only the environments that are named. Each connection gets its own process. A player must
send the token, which the server reads from an environment variable or a file, never from the command line.
Without TLS, messages and token are sent unencrypted; use this only in a private network. Needs ``pip install
mosaic-worker[grpc]``.
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
    """Serve until SIGTERM or SIGINT and return the exit status, 2 if the command is invalid."""
    parser = argparse.ArgumentParser(prog="python -m mosaic_env_server.remote")
    parser.add_argument(
        "--env",
        action="append",
        metavar="NAME=module:factory",
        required=True,
        help="an environment to serve; may be repeated",
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
    return listen(args, command, "the environment server", _failed, SERVICE)


if __name__ == "__main__":
    sys.exit(main())
