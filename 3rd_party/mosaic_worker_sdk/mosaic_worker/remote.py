"""``python -m mosaic_worker.remote WORKER_ID --entry pkg.module:Class`` serves hosts on other machines.

The server exchanges the same messages as the other carriers, in a bidirectional gRPC stream (``pip install
mosaic-worker[grpc]``). Each connection gets its own worker process, so that connections cannot disturb each
other and the memory of a process is freed when its connection ends. A host must send the token, which the
server reads from an environment variable or a file, never from the command line. Without TLS, messages and
token are sent unencrypted; use this only in a private network.
"""

from __future__ import annotations

import argparse
import hmac
import logging
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from concurrent import futures
from contextlib import suppress
from pathlib import Path
from typing import Any, Callable, Generator, Iterator, List, Optional, Sequence

import grpc

from mosaic_worker.link import ADMITTED, MAX_FRAME
from mosaic_worker.pb import worker_pb2 as pb

SERVICE, METHOD = "mosaic.v1.Worker", "Talk"
TOKEN_VARIABLE = "MOSAIC_WORKER_TOKEN"
PLACES = 32
"""Largest number of connections at the same time."""
_PORT = 7311
_GRACE_S = 2.0
_SIZE = struct.Struct("<I")
_log = logging.getLogger(__name__)


class WorkerServer:
    """Passes messages between hosts and worker processes without decoding them.

    Args:
        command: Command line of the worker; ``--parent`` and ``--fd`` are added.
        token: Token that a host must send.
        farewell: Makes the last message to the host from the reason why a process failed.

    Raises:
        ValueError: The token is shorter than 16 characters.
    """

    def __init__(
        self, command: Sequence[str], token: str, farewell: Optional[Callable[[str], bytes]] = None
    ) -> None:
        if len(token) < 16:
            raise ValueError(f"the token has {len(token)} characters; use at least 16 random ones")
        self._command, self._token = list(command), token
        self._farewell = farewell or _failed
        self._places = threading.Semaphore(PLACES)

    def handle_connection(self, requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
        """Handle a connection; this is the handler of the gRPC method :data:`METHOD`."""
        shown = dict(context.invocation_metadata()).get("authorization", "")
        if not hmac.compare_digest(shown.encode(), f"Bearer {self._token}".encode()):
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "wrong token")
        if not self._places.acquire(blocking=False):
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, f"all {PLACES} connections are in use")
        try:
            context.send_initial_metadata(((ADMITTED, "yes"),))
            yield from self._serve(requests, context)
        finally:
            self._places.release()

    def _serve(self, requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                process = self._spawn(theirs)
            context.add_callback(lambda: _shut(ours, socket.SHUT_RDWR))
            threading.Thread(target=_feed, args=(requests, ours), daemon=True).start()
            problem, status = "", 0
            try:
                problem = yield from _frames(ours)
            finally:
                _shut(ours, socket.SHUT_RDWR)
                status = _end(process)
        if problem or status:
            how = f"killed by signal {-status}" if status < 0 else f"ended with exit status {status}"
            yield self._farewell(problem or how)

    def _spawn(self, sock: socket.socket) -> subprocess.Popen[bytes]:
        fd = sock.fileno()
        command = [*self._command, "--parent", str(os.getpid()), "--fd", str(fd)]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=(fd,), start_new_session=True)


def _feed(requests: Iterator[bytes], sock: socket.socket) -> None:
    """Send the host's messages to the worker; when they end, close the worker's input."""
    with suppress(grpc.RpcError, OSError):
        for message in requests:
            sock.sendall(_SIZE.pack(len(message)) + message)
    _shut(sock, socket.SHUT_WR)


def _shut(sock: socket.socket, how: int) -> None:
    with suppress(OSError):  # the socket may be closed already
        sock.shutdown(how)


def _frames(sock: socket.socket) -> Generator[bytes, None, str]:
    """Yield the worker's messages; return what was wrong with its output, or an empty string."""
    with sock.makefile("rb") as reader:
        while True:
            try:
                head = reader.read(4)
                if len(head) < 4:
                    return ""
                (size,) = _SIZE.unpack(head)
                if size > MAX_FRAME:
                    return f"it announced a message of {size} bytes"
                body = reader.read(size)
            except OSError:
                return ""
            if len(body) < size:
                return "it stopped in the middle of a message"
            yield body


def _end(process: subprocess.Popen[bytes]) -> int:
    """Wait for the process to end, then send SIGTERM, then SIGKILL; kill the rest of its session too.

    Returns:
        Exit status of the process.
    """
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is not None:
            process.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
            break
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def _failed(reason: str) -> bytes:
    return pb.FromWorker(failed=pb.Failed(reason=reason)).SerializeToString()


def serve(
    server: WorkerServer,
    address: str,
    certificate: Optional[bytes] = None,
    key: Optional[bytes] = None,
    service: str = SERVICE,
) -> Any:
    """Start to listen for hosts.

    Args:
        server: Handles the connections.
        address: ``host:port``; port 0 takes a free port.
        certificate: PEM certificate chain, for TLS.
        key: PEM private key of the certificate.
        service: Name of the service.

    Returns:
        The started ``grpc.Server`` and its port.

    Raises:
        OSError: The server cannot listen on the address.
    """
    options = [("grpc.max_receive_message_length", MAX_FRAME), ("grpc.max_send_message_length", MAX_FRAME)]
    options += [("grpc.so_reuseport", 0), ("grpc.http2.min_ping_interval_without_data_ms", 5000)]
    # Without serializers, messages are bytes in both directions, which the type stubs cannot express.
    handler = grpc.stream_stream_rpc_method_handler(server.handle_connection)  # pyright: ignore[reportUnknownVariableType]
    listener = grpc.server(futures.ThreadPoolExecutor(PLACES + 4), options=options)
    listener.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {METHOD: handler}),))
    try:
        if certificate is not None and key is not None:
            port = listener.add_secure_port(address, grpc.ssl_server_credentials([(key, certificate)]))
        else:
            port = listener.add_insecure_port(address)
    except RuntimeError as exc:
        raise OSError(f"cannot listen on {address}: {exc}") from exc
    if port == 0:
        raise OSError(f"cannot listen on {address}")
    listener.start()
    return listener, port


def add_listening(parser: argparse.ArgumentParser, port: int) -> None:
    """Add the options of a listening program: its address, token and TLS files."""
    parser.add_argument("--listen", default=f"localhost:{port}", metavar="HOST:PORT")
    parser.add_argument(
        "--token-file", type=Path, help=f"file with the token; by default the variable {TOKEN_VARIABLE}"
    )
    parser.add_argument("--tls-cert", type=Path, help="file with the PEM certificate chain")
    parser.add_argument("--tls-key", type=Path, help="file with the PEM private key")


def parse(parser: argparse.ArgumentParser, argv: Optional[List[str]]) -> argparse.Namespace:
    """Parse a command line with the options of :func:`add_listening`; exit the program on a wrong one."""
    args = parser.parse_args(argv)
    if (args.tls_cert is None) != (args.tls_key is None):
        parser.error("--tls-cert and --tls-key must be given together")
    return args


def _token(file: Optional[Path]) -> str:
    if file is not None:
        return file.read_text(encoding="utf-8").strip()
    return os.environ.pop(TOKEN_VARIABLE, "")  # removed, so that children of the worker do not inherit it


def main(argv: Optional[List[str]] = None) -> int:
    """Serve until SIGTERM or SIGINT and return the exit status, 2 if the server cannot start."""
    parser = argparse.ArgumentParser(prog="python -m mosaic_worker.remote")
    parser.add_argument("worker_id")
    parser.add_argument("--entry", required=True, help="pkg.module:Class")
    parser.add_argument("--version", default="")
    add_listening(parser, _PORT)
    args = parse(parser, argv)
    command = [sys.executable, "-m", "mosaic_worker", args.worker_id, "--entry", args.entry]
    return listen(args, [*command, "--version", args.version], args.worker_id)


def listen(
    args: argparse.Namespace,
    command: Sequence[str],
    name: str,
    farewell: Optional[Callable[[str], bytes]] = None,
    service: str = SERVICE,
) -> int:
    """Serve until SIGTERM or SIGINT.

    Args:
        args: Arguments returned by :func:`parse`.
        command: See :class:`WorkerServer`.
        name: Name for the log.
        farewell: See :class:`WorkerServer`.
        service: See :func:`serve`.

    Returns:
        The exit status, 2 if the server cannot start.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        server = WorkerServer(command, _token(args.token_file), farewell)
        tls = [None if path is None else path.read_bytes() for path in (args.tls_cert, args.tls_key)]
        listener, port = serve(server, args.listen, *tls, service=service)
    except (OSError, ValueError, ImportError) as exc:
        _log.error("%s", exc)
        return 2
    _log.info("%s listens on port %d%s", name, port, "" if args.tls_cert else ", not encrypted")

    def end(_number: int, _frame: object) -> None:
        listener.stop(1.0)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    listener.wait_for_termination()
    return 0


if __name__ == "__main__":
    sys.exit(main())
