"""``python -m mosaic_worker WORKER_ID --entry pkg.module:Class …`` runs a worker process.

The worker's id is the first argument, so that ``ps`` shows which worker a process runs. No argument is ever a
secret: API keys arrive with the slot's ``Load`` message.
"""

from __future__ import annotations

import argparse
import importlib
import os
import socket
from typing import List, Optional

from mosaic_worker.launch import die_with_parent, end_process
from mosaic_worker.link import JsonLink, SocketLink, WorkerLink
from mosaic_worker.pb import worker_pb2 as pb
from mosaic_worker.runtime import Runtime
from mosaic_worker.worker import Worker

_open_links: List[WorkerLink] = []
"""Links of this process, referenced so that they stay open: to the host, a closed link means an ended
process.
"""


def _arguments(argv: Optional[List[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m mosaic_worker")
    parser.add_argument("worker_id")
    parser.add_argument("--entry", required=True, help="pkg.module:Class")
    parser.add_argument("--version", default="")
    parser.add_argument("--fd", type=int, help="connected socket; without it JSON lines on stdin/stdout")
    parser.add_argument("--parent", type=int, help="pid of the host; this process ends when the host ends")
    parser.add_argument("--operator", help="shown by ps, otherwise unused")
    parser.add_argument("--agents", help="shown by ps, otherwise unused")
    return parser.parse_args(argv)


def make_worker(entry: str) -> Worker:
    """Import the class that ``pkg.module:Class`` names and return an instance of it."""
    module, _, name = entry.partition(":")
    return getattr(importlib.import_module(module), name)()


def _link(fd: Optional[int]) -> WorkerLink:
    if fd is not None:
        return SocketLink(socket.socket(fileno=fd), pb.ToWorker)
    # Libraries print to stdout; reserve the process's stdout for the protocol and redirect theirs to stderr.
    return JsonLink(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"), pb.ToWorker)


def main(argv: Optional[List[str]] = None) -> int:
    """Run a worker process and return its exit status."""
    args = _arguments(argv)
    if args.parent:
        die_with_parent(args.parent)
    link = _link(args.fd)
    _open_links.append(link)
    os.dup2(2, 1)
    return Runtime(lambda: make_worker(args.entry), link, args.worker_id, args.version).run()


if __name__ == "__main__":
    end_process(main())
