"""A command of ours in the tests' own process, as if it had a process to itself.

It has the working directory, the environment, the standard streams, the search path, the logging
and the registry of workers that a new process would have. What is not its own is what was imported
before: a second of processor time, the greatest part of most commands.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, TextIO

from gym_gui.cli.app import run
from gym_gui.workers.registry import WorkerTypeRegistry

# As it is imported it sets a variable that keeps pygame quiet: all commands shall have that one.
importlib.import_module("gymnasium")

_QUIETED = "gym_gui.workers.discovery"


def run_here(arguments: Sequence[str], home: Path, env: Mapping[str, str]) -> tuple[int, str, str]:
    """Run a command line; returns its exit status, standard output and standard error.

    Both streams are taken from the file descriptors, so that what the command's own children
    write there is found as well.

    Args:
        arguments: What stands behind ``mosaic``.
        home: Working directory.
        env: The whole environment.
    """
    with (
        Path(os.devnull).open("rb") as nothing,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        status = run_on((nothing.fileno(), out.fileno(), err.fileno()), arguments, home, env)
        return status, _read(out), _read(err)


def run_on(
    streams: tuple[int, int, int], arguments: Sequence[str], home: Path, env: Mapping[str, str]
) -> int:
    """As :func:`run_here`, with open files, or a terminal, as the standard streams."""
    with (
        _place(home, env),
        _imports(home),
        _own_logging(),
        WorkerTypeRegistry.isolated(),
        _streams(streams),
    ):
        return run(arguments)


@contextlib.contextmanager
def _place(home: Path, env: Mapping[str, str]) -> Generator[None]:
    before = dict(os.environ)
    with contextlib.chdir(home):
        _set_environment(env)
        try:
            yield
        finally:
            _set_environment(before)


def _set_environment(env: Mapping[str, str]) -> None:
    for name in set(os.environ) - set(env):
        del os.environ[name]
    for name, value in env.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


@contextlib.contextmanager
def _imports(home: Path) -> Generator[None]:
    """The search path is as before afterwards, and modules that lie at ``home`` are forgotten."""
    path, here = list(sys.path), f"{home}{os.sep}"
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = path
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if file and file.startswith(here):
                del sys.modules[name]


@contextlib.contextmanager
def _own_logging() -> Generator[None]:
    """Without the handlers of pytest: with them, ``basicConfig`` would add none."""
    root, quieted = logging.getLogger(), logging.getLogger(_QUIETED)
    handlers, level, quiet = list(root.handlers), root.level, quieted.level
    root.handlers.clear()
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        quieted.setLevel(quiet)


@contextlib.contextmanager
def _streams(streams: tuple[int, int, int]) -> Generator[None]:
    before = sys.stdin, sys.stdout, sys.stderr
    kept = [os.dup(number) for number in range(3)]
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    own = _text(0, "r"), _text(1, "w"), _text(2, "w")
    sys.stdin, sys.stdout, sys.stderr = own
    try:
        yield
    finally:
        for stream in own:
            stream.close()
        sys.stdin, sys.stdout, sys.stderr = before
        for number, copy in enumerate(kept):
            os.dup2(copy, number)
            os.close(copy)


def _text(number: int, mode: str) -> TextIO:
    # Standard error is written line by line, wherever it leads.
    return os.fdopen(number, mode, 1 if number == 2 else -1, encoding="utf-8", closefd=False)


def _read(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode()
