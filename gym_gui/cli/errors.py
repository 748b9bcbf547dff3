"""Reports errors of commands: one line on stderr with the problem and its fix, and an exit status."""

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

_FILE_SYSTEM_ERRORS = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ENOTDIR}
)
"""Error numbers that the user fixes with another folder, other rights or more space."""

_DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Error numbers of writing to a full disk."""

DONE, WORK_FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def print_message(text: str) -> None:
    """Print a text on stderr, on one line that begins with ``mosaic:``."""
    with suppress(OSError):  # the output was closed, or its disk is full
        sys.stderr.write(f"mosaic: {' '.join(text.split())}\n")


def print_error(error: MosaicError, *, as_json: bool) -> None:
    """Print an error on stderr; as JSON: ``{"event": "error", "message": …, "fix": …}``."""
    if as_json:
        row = {"event": "error", "message": error.message, "fix": error.fix}
        with suppress(OSError):
            sys.stderr.write(visible_json(json.dumps(row, ensure_ascii=False)) + "\n")
    else:
        print_message(str(error))


@contextmanager
def reported(*, as_json: bool = False) -> Generator[None]:
    """Turn errors of MOSAIC into one line on stderr and an exit status.

    Args:
        as_json: Whether the line is a JSON object.

    Raises:
        SystemExit: Status 2 for a problem that the user can fix, 1 for other failures.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the process that started this one
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115  # for as long as the program lives
    for stream in (sys.stdout, sys.stderr):
        # A name from a file, or the character "…", must not break the output of a terminal without UTF-8.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    try:
        yield
    except MosaicError as exc:
        print_error(exc, as_json=as_json)
        raise SystemExit(USAGE if isinstance(exc, UsageError) else WORK_FAILED) from None
    except BrokenPipeError:
        raise SystemExit(DONE) from None
    except OSError as exc:
        if exc.errno in _DISK_FULL and exc.filename is None:
            _exit_without_output(exc, as_json=as_json)
        if exc.errno not in _FILE_SYSTEM_ERRORS or exc.filename is None:
            raise
        print_error(UsageError(f"{exc.filename} cannot be used: {exc.strerror}"), as_json=as_json)
        raise SystemExit(USAGE) from None
    finally:
        _flush(as_json=as_json)


def _flush(*, as_json: bool) -> None:
    """Flush stdout and stderr; a closed output (`mosaic … | head`) is not an error.

    Raises:
        SystemExit: Status 2 if the disk is full.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            _discard_buffer(stream)
        except OSError as exc:
            if exc.errno not in _DISK_FULL:
                raise
            _exit_without_output(exc, as_json=as_json)


def _exit_without_output(error: OSError, *, as_json: bool) -> NoReturn:
    """Report that the output cannot be written, discard the buffers, and exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _discard_buffer(stream)
    error_to_print = UsageError(
        f"the output cannot be written: {error.strerror}", fix="Write it to another disk"
    )
    print_error(error_to_print, as_json=as_json)
    try:
        sys.stderr.flush()
    except OSError:  # at exit, Python would flush the stream again and fail with its own exit status
        _discard_buffer(sys.stderr)
    raise SystemExit(USAGE) from None


def _discard_buffer(stream: TextIO) -> None:
    """Redirect a stream to the null device, which discards the text in its buffer."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
