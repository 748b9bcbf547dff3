"""What an exception from third-party code says, and where in that code it came from."""

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
_MAX_TOLD = 100


class _Frame(NamedTuple):
    path: str
    line: int
    function: str
    package: str

    @property
    def place(self) -> str:
        """``my_policy.py, line 12, in select_action``; of a library, with its folders."""
        inside = "" if self.function == "<module>" else f", in {self.function}"
        return f"{_short(self.path)}, line {self.line}{inside}"


def one_line(error: BaseException) -> str:
    """What an exception says, on one line; its type's name where it says nothing."""
    try:
        words = " ".join(str(error).split())
    except Exception:  # a stranger's __str__
        words = ""
    return words[:_MAX_WORDS] or type(error).__name__


def described(error: BaseException, ours: Sequence[str] = ()) -> str:
    """An exception in one line, with the line of the author's own code that it came through.

    Args:
        error: The exception, as it was caught.
        ours: Top-level packages whose lines tell the author nothing, beside MOSAIC's own.

    Returns:
        For example ``ZeroDivisionError: division by zero (my_policy.py, line 12, in
        select_action)``. Named are the innermost line that belongs neither to MOSAIC nor to an
        installed library, and the library's line that raised.
    """
    kind, words = type(error).__name__, one_line(error)
    return with_place(kind if words == kind else f"{kind}: {words}", error, ours)


def with_place(text: str, error: BaseException, ours: Sequence[str] = ()) -> str:
    """``text`` followed by where an exception came from, as in :func:`described`."""
    where = place_of(error, ours)
    return f"{text} ({where})" if where else text


def place_of(error: BaseException, ours: Sequence[str] = ()) -> str:
    """Where an exception came from, as in :func:`described`; ``""`` where no line is the author's."""
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
    """The traceback from the first line that is not MOSAIC's on; whole where all are."""
    start = _first_other(error) or error.__traceback__
    return "".join(traceback.format_exception(type(error), error, start)).rstrip()


def own_part(error: Optional[BaseException]) -> Optional[BaseException]:
    """An exception with the traceback from the author's first line on; ``None`` where it has none."""
    if error is None or not place_of(error):
        return None
    return error.with_traceback(_first_other(error))


def _first_other(error: BaseException) -> Optional[TracebackType]:
    found = error.__traceback__
    while found is not None and _package(found) in _OURS:
        found = found.tb_next
    return found


class FailureLog:
    """Writes each failure of third-party code to a log, with its traceback, once.

    The same line often fails in one episode after the other; each episode's record has the sentence.

    Args:
        logger: Where to.
    """

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._told: Set[Tuple[str, str]] = set()

    def add(self, what: str, error: BaseException) -> str:
        """Say that ``what`` raised, unless it did so in the same place before.

        What was raised in another process (``elsewhere``) is said without the traceback, which is ours alone,
        and once for each thing that it says.

        Returns:
            The exception as :func:`described`.
        """
        said = described(error)
        elsewhere = bool(getattr(error, "elsewhere", False))
        key = (type(error).__name__, said if elsewhere else place_of(error))
        if key not in self._told and len(self._told) < _MAX_TOLD:
            self._told.add(key)
            trace = "" if elsewhere else f"\n{traceback_text(error)}"
            self._logger.error("%s: %s%s", what, said, trace)
        return said


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
    # Not before something fails: Python reads for it how it was built, half a megabyte.
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
    """A file's name as its reader knows it: nothing of where it lies on this machine."""
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
