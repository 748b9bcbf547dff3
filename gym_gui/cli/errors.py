"""How errors reach the person: one line that says what and how, and an exit status."""

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
"""What a person mends by another folder, other rights or more room; never a mistake of the program."""

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""What a write says of a place that takes no more."""

DONE, WORK_FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def tell(text: str) -> None:
    """Say something on stderr, on one line and under our name."""
    with suppress(OSError):  # the reader is gone, or the disk that it goes to is full
        sys.stderr.write(f"mosaic: {' '.join(text.split())}\n")


def tell_error(error: MosaicError, *, as_json: bool) -> None:
    """Say what went wrong; to a program as ``{"event": "error", "message": …, "fix": …}``."""
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
        as_json: The line is a JSON object.

    Raises:
        SystemExit: 2 for what the person can fix, 1 for other work that failed.
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
    """Write what is left; a reader who has seen enough (`mosaic … | head`) is no error.

    Raises:
        SystemExit: 2: there is no room for it.
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
    """What is printed goes to where there is no room; what could still be in a buffer is dropped."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _throw_away(stream)
    told = UsageError(f"what is printed cannot be written: {error.strerror}", fix="Write it to another place")
    tell_error(told, as_json=as_json)
    try:
        sys.stderr.flush()
    except OSError:  # at its end Python would flush it again, and end with a status of its own
        _throw_away(sys.stderr)
    raise SystemExit(USAGE) from None


def _throw_away(stream: TextIO) -> None:
    """Have the rest of a stream, which is in its buffer, go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
