"""``python -m mosaic_worker WORKER_ID --entry pkg.module:Class …`` is a worker process.

The worker's id comes first so that a person reading ``ps`` knows who is who. Nothing
secret is ever an argument: keys arrive with the slot's ``Load`` message.
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

_kept: List[WorkerLink] = []
"""Keeps the connection open until the process ends, because the host takes its end as that of the process."""


def _arguments(argv: Optional[List[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m mosaic_worker")
    parser.add_argument("worker_id")
    parser.add_argument("--entry", required=True, help="pkg.module:Class")
    parser.add_argument("--version", default="")
    parser.add_argument("--fd", type=int, help="connected socket; without it JSON lines on stdin/stdout")
    parser.add_argument("--parent", type=int, help="pid to die with")
    parser.add_argument("--operator", help="for the reader of ps")
    parser.add_argument("--agents", help="for the reader of ps")
    return parser.parse_args(argv)


def make_worker(entry: str) -> Worker:
    """Import ``pkg.module:Class`` and return an instance of the class."""
    module, _, name = entry.partition(":")
    return getattr(importlib.import_module(module), name)()


def _link(fd: Optional[int]) -> WorkerLink:
    if fd is not None:
        return SocketLink(socket.socket(fileno=fd), pb.ToWorker)
    # Libraries print; keep the protocol's stdout for ourselves and send theirs to stderr.
    return JsonLink(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"), pb.ToWorker)


def main(argv: Optional[List[str]] = None) -> int:
    """Run a worker process; returns its exit status."""
    args = _arguments(argv)
    if args.parent:
        die_with_parent(args.parent)
    link = _link(args.fd)
    _kept.append(link)
    os.dup2(2, 1)
    return Runtime(lambda: make_worker(args.entry), link, args.worker_id, args.version).run()


if __name__ == "__main__":
    end_process(main())
