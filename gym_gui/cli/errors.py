"""Reports errors to the person: one line with the problem and its fix, and an exit status."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn, TextIO

from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.printable_text import visible_json

_STATE_OF_THE_MACHINE = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ENOTDIR}
)
"""Errors that the person fixes with another folder, other rights or more space; never program errors."""

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors of writing to a place that is full."""

DONE, WORK_FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def tell(text: str) -> None:
    """Print a text on stderr, on one line that begins with ``mosaic:``."""
    with suppress(OSError):  # the output was closed, or its disk is full
        sys.stderr.write(f"mosaic: {' '.join(text.split())}\n")


def tell_error(error: MosaicError, *, as_json: bool) -> None:
    """Print an error; for a program as ``{"event": "error", "message": …, "fix": …}``."""
    if as_json:
        row = {"event": "error", "message": error.message, "fix": error.fix}
        with suppress(OSError):
            sys.stderr.write(visible_json(json.dumps(row, ensure_ascii=False)) + "\n")
    else:
        tell(str(error))


@contextmanager
def reported(*, as_json: bool = False) -> Generator[None]:
    """Turn our own errors into one line on stderr and an exit status.

    Args:
        as_json: Whether the line is a JSON object.

    Raises:
        SystemExit: 2 for a problem that the person can fix, 1 for other failures.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the process that started this one
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115  # for as long as the program lives
    for stream in (sys.stdout, sys.stderr):
        # A name from a file, or our own "…", must not break the output of an old terminal.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    try:
        yield
    except MosaicError as exc:
        tell_error(exc, as_json=as_json)
        raise SystemExit(USAGE if isinstance(exc, UsageError) else WORK_FAILED) from None
    except BrokenPipeError:
        raise SystemExit(DONE) from None
    except OSError as exc:
        if exc.errno in _FULL and exc.filename is None:
            _give_up_output(exc, as_json=as_json)
        if exc.errno not in _STATE_OF_THE_MACHINE or exc.filename is None:
            raise
        tell_error(UsageError(f"{exc.filename} cannot be used: {exc.strerror}"), as_json=as_json)
        raise SystemExit(USAGE) from None
    finally:
        _flush(as_json=as_json)


def _flush(*, as_json: bool) -> None:
    """Write what is left in buffers; a closed output (`mosaic … | head`) is not an error.

    Raises:
        SystemExit: 2 if there is no space left.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            _throw_away(stream)
        except OSError as exc:
            if exc.errno not in _FULL:
                raise
            _give_up_output(exc, as_json=as_json)


def _give_up_output(error: OSError, *, as_json: bool) -> NoReturn:
    """Report that output cannot be written, discard the buffers, and exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _throw_away(stream)
    told = UsageError(f"what is printed cannot be written: {error.strerror}", fix="Write it to another place")
    tell_error(told, as_json=as_json)
    try:
        sys.stderr.flush()
    except OSError:  # at exit, Python would flush it again, and end with a status of its own
        _throw_away(sys.stderr)
    raise SystemExit(USAGE) from None


def _throw_away(stream: TextIO) -> None:
    """Redirect a stream to the null device, to discard what is in its buffer."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
