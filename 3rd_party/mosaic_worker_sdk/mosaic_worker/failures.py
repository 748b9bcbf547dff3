"""Describes exceptions of third-party code by their message and the line of code that raised them."""

from __future__ import annotations

import logging
import site
import sysconfig
import traceback
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import FrozenSet, List, NamedTuple, Optional, Sequence, Set, Tuple

_OURS = frozenset({"mosaic_worker", "mosaic_env_server", "gym_gui"})
_INSTALLED_IN = frozenset({"site-packages", "dist-packages"})
_MAX_WORDS = 1000
_MAX_LOGGED = 100


class _Frame(NamedTuple):
    path: str
    line: int
    function: str
    package: str

    @property
    def place(self) -> str:
        """Location of the frame, for example ``my_policy.py, line 12, in select_action``; a library file has
        its folders.
        """
        inside = "" if self.function == "<module>" else f", in {self.function}"
        return f"{_short(self.path)}, line {self.line}{inside}"


def one_line(error: BaseException) -> str:
    """Return the message of an exception on one line, or the name of its type if it has no message."""
    try:
        words = " ".join(str(error).split())
    except Exception:  # code of the exception's author
        words = ""
    return words[:_MAX_WORDS] or type(error).__name__


def described(error: BaseException, ours: Sequence[str] = ()) -> str:
    """Describe an exception on one line, with the innermost line of the author's own code in its traceback.

    Args:
        error: The exception, as it was caught.
        ours: Top-level packages whose lines are left out, in addition to MOSAIC's own.

    Returns:
        For example ``ZeroDivisionError: division by zero (my_policy.py, line 12, in
        select_action)``. The text names the innermost line that belongs neither to MOSAIC nor to an
        installed library, and the line of a library that raised the exception.
    """
    kind, words = type(error).__name__, one_line(error)
    return with_place(kind if words == kind else f"{kind}: {words}", error, ours)


def with_place(text: str, error: BaseException, ours: Sequence[str] = ()) -> str:
    """Return ``text`` followed by the origin of an exception, as in :func:`described`."""
    where = place_of(error, ours)
    return f"{text} ({where})" if where else text


def place_of(error: BaseException, ours: Sequence[str] = ()) -> str:
    """Return the origin of an exception as in :func:`described`; ``""`` if no line is the author's."""
    hidden = _OURS.union(ours)
    frames = _frames(error.__traceback__)
    own = [frame for frame in frames if frame.package not in hidden and not _is_installed(frame.path)]
    last = frames[-1] if frames and frames[-1].package not in hidden else None
    if not own:
        return ""
    if last is None or last == own[-1]:
        return own[-1].place
    return f"{own[-1].place}; raised in {last.place}"


def traceback_text(error: BaseException) -> str:
    """Return the traceback from the first line outside MOSAIC, or all of it if every line is MOSAIC's."""
    start = _first_other(error) or error.__traceback__
    return "".join(traceback.format_exception(type(error), error, start)).rstrip()


def author_part(error: Optional[BaseException]) -> Optional[BaseException]:
    """Return an exception whose traceback begins at the author's first line; ``None`` if it has no such
    line.
    """
    if error is None or not place_of(error):
        return None
    return error.with_traceback(_first_other(error))


def _first_other(error: BaseException) -> Optional[TracebackType]:
    found = error.__traceback__
    while found is not None and _package(found) in _OURS:
        found = found.tb_next
    return found


class FailureLog:
    """Writes each failure of third-party code to a log once, with its traceback.

    One line of code often fails in many episodes; the record of each episode has the one-line description.

    Args:
        logger: Logger for the failures.
    """

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._logged: Set[Tuple[str, str]] = set()

    def add(self, what: str, error: BaseException) -> str:
        """Log a failure, unless the same kind of exception at the same location was logged before.

        An exception of another process (``elsewhere``) is logged once per message, without its traceback,
        which has only lines of this process.

        Returns:
            The exception as :func:`described` returns it.
        """
        description = described(error)
        elsewhere = bool(getattr(error, "elsewhere", False))
        key = (type(error).__name__, description if elsewhere else place_of(error))
        if key not in self._logged and len(self._logged) < _MAX_LOGGED:
            self._logged.add(key)
            trace = "" if elsewhere else f"\n{traceback_text(error)}"
            self._logger.error("%s: %s%s", what, description, trace)
        return description


def _frames(trace: Optional[TracebackType]) -> List[_Frame]:
    found: List[_Frame] = []
    while trace is not None:
        code = trace.tb_frame.f_code
        found.append(_Frame(code.co_filename, trace.tb_lineno, code.co_name, _package(trace)))
        trace = trace.tb_next
    return found


def _package(trace: TracebackType) -> str:
    return str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0]


@lru_cache(maxsize=1)
def _library_folders() -> FrozenSet[str]:
    # Called only after a failure: Python reads its build configuration for this, half a megabyte.
    paths = sysconfig.get_paths()
    folders = [paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    return frozenset([*folders, *([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])])


def _is_installed(path: str) -> bool:
    if path.startswith("<frozen "):
        return True
    parts = Path(path).parts
    return not _INSTALLED_IN.isdisjoint(parts) or any(
        str(p) in _library_folders() for p in Path(path).parents
    )


def _short(path: str) -> str:
    """Return a short name of a file, without the folders that are specific to this machine."""
    if path.startswith("<"):
        return {"<stdin>": "the prompt"}.get(path, path)
    file = Path(path)
    if file.parent.name.startswith("ipykernel_"):
        return "a notebook's cell"
    if _is_installed(path):
        for i, part in enumerate(file.parts):
            if part in _INSTALLED_IN:
                return "/".join(file.parts[i + 1 :])
        root = next((p for p in file.parents if str(p) in _library_folders()), file.parent)
        return file.relative_to(root).as_posix()
    return f"{file.parent.name}/{file.name}" if file.name == "__init__.py" else file.name
