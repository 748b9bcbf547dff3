"""Labels that the user gives a run, kept in a separate file so that ``run.json`` stays as recorded."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, cast

from gym_gui.core.errors import UsageError
from mosaic_worker.plain_files import UnsafeFileError, read_file, replace_file

FILE: Final = "labels.json"
FORMAT: Final = 1
LONGEST_NAME: Final = 120
LONGEST_TAG: Final = 40
MOST_TAGS: Final = 50
LONGEST_NOTES: Final = 20_000
_MAX_BYTES: Final = 2**18
_one_at_a_time = threading.Lock()


class LabelsError(UsageError):
    """Error for labels that are not valid or cannot be read or written."""


@dataclass(frozen=True, slots=True)
class RunLabels:
    """Labels of one run.

    Attributes:
        name: The run's name; empty: the run is named after its players.
        tags: Words for finding the run, each once, in the order given.
        group: Name of the group of the run; empty: no group.
        notes: The user's notes, in several lines.
        star: Whether the user marked the run with a star.
        extra: Keys that a later version may have written, kept unchanged.
    """

    name: str = ""
    tags: tuple[str, ...] = ()
    group: str = ""
    notes: str = ""
    star: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)

    def to_data(self) -> dict[str, Any]:
        """Return the labels that are set, in the form of the file."""
        said = {
            "name": self.name,
            "tags": list(self.tags),
            "group": self.group,
            "notes": self.notes,
            "star": self.star,
        }
        return {**self.extra, **{key: value for key, value in said.items() if value}}


NONE: Final = RunLabels()


def read_labels(folder: Path) -> RunLabels:
    """Return the labels of a run folder; :data:`NONE` if it has no file of labels.

    Raises:
        LabelsError: The file is damaged, no regular file, of a later version, or cannot be read.
    """
    path = folder / FILE
    try:
        data: object = json.loads(read_file(path, limit=_MAX_BYTES))
    except FileNotFoundError:
        return NONE
    except UnsafeFileError as error:
        raise LabelsError(f"labels of {folder} are not read: {error.strerror}", fix=_away(path)) from None
    except OSError as error:
        raise LabelsError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise LabelsError(f"{path} is damaged: it is not JSON", fix=_away(path)) from None
    if not isinstance(data, dict):
        raise LabelsError(f"{path} is damaged: it is not a JSON object", fix=_away(path))
    content = cast("dict[str, Any]", data)
    given = content.pop("format", FORMAT)
    if given != FORMAT:
        raise LabelsError(f"{path} was written by a later version of MOSAIC", fix="Install that version")
    try:
        return _taken(content)
    except LabelsError as error:
        raise LabelsError(f"{path} is damaged: {error.message}", fix=_away(path)) from None


def name_of(folder: Path) -> str:
    """Return the name of a run; empty if it has none or if its labels cannot be read."""
    try:
        return read_labels(folder).name
    except LabelsError:
        return ""


def change_labels(
    folder: Path, changes: Mapping[str, object], *, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> tuple[RunLabels, RunLabels]:
    """Change some labels of a run; labels that are not named stay as they are in the file.

    Args:
        folder: The run folder.
        changes: New values by label: ``name``, ``tags``, ``group``, ``notes`` and ``star``.
        add: Tags to add.
        remove: Tags to remove, in any case.

    Returns:
        The labels before and after the change.

    Raises:
        LabelsError: A label is too long or of the wrong kind; the file cannot be read, so that its content
            would be lost; or the folder cannot be written.
    """
    with _held(folder):
        return _change(folder, changes, add, remove)


@contextmanager
def _held(folder: Path) -> Generator[None]:
    """Keep other threads and processes, such as a command beside the window, from changing the run's labels.

    The function locks ``run.json``, so that no lock file stays in the folder; the folder's own lock belongs
    to the process that records the run. On a file system without locks, nothing is locked.
    """
    with _one_at_a_time, ExitStack() as held:
        with suppress(OSError):
            handle = os.open(folder / "run.json", os.O_RDONLY | os.O_NOFOLLOW)
            held.callback(os.close, handle)  # closing releases the lock
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _change(
    folder: Path, changes: Mapping[str, object], add: Sequence[str], remove: Sequence[str]
) -> tuple[RunLabels, RunLabels]:
    before = read_labels(folder)
    after = _taken(dict(changes), before)
    if add or remove:
        gone = {tag.casefold() for tag in tags_of(remove)}
        kept = [tag for tag in after.tags if tag.casefold() not in gone]
        after = _taken({"tags": [*kept, *add]}, after)
    after = replace(after, extra=before.extra)
    if after == before:
        return before, after
    path, data = folder / FILE, after.to_data()
    try:
        if data:
            text = json.dumps({"format": FORMAT, **data}, indent=1, ensure_ascii=False)
            replace_file(path, f"{text}\n".encode())
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise LabelsError(
            f"labels of {folder} cannot be written: {error.strerror or error}",
            fix=f"Use a copy of the run (cp -r), or make the folder writable: chmod u+w {folder}",
        ) from error
    except UnicodeEncodeError:
        raise LabelsError("a label has characters that cannot be saved", fix="Type it again") from None
    return before, after


def one_line(text: str) -> str:
    """Return text on one line, without spaces around it, as names need it."""
    return " ".join(text.split())


def tags_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Return tags, each on one line and once regardless of case; commas in a text separate tags."""
    found: dict[str, str] = {}
    for text in texts:
        for part in text.split(","):
            if tag := one_line(part):
                found.setdefault(tag.casefold(), tag)
    return tuple(found.values())


def _taken(given: dict[str, Any], before: RunLabels = NONE) -> RunLabels:
    """Return labels with the given values in place of earlier ones; unknown keys become ``extra``."""
    name = one_line(_text(given, "name", before.name, LONGEST_NAME))
    group = one_line(_text(given, "group", before.group, LONGEST_NAME))
    notes = _text(given, "notes", before.notes, LONGEST_NOTES).strip()
    tags = given.pop("tags", before.tags)
    if not isinstance(tags, (list, tuple)) or not all(isinstance(t, str) for t in cast("list[object]", tags)):
        raise LabelsError("tags are not a list of words")
    tags = tags_of(cast("list[str]", tags))
    if len(tags) > MOST_TAGS:
        raise LabelsError(f"a run has at most {MOST_TAGS} tags", fix="Use fewer")
    if long := next((tag for tag in tags if len(tag) > LONGEST_TAG), ""):
        raise LabelsError(
            f"a tag has at most {LONGEST_TAG} characters, not {long[:LONGEST_TAG]}…", fix="Make it shorter"
        )
    star = given.pop("star", before.star)
    if not isinstance(star, bool):
        raise LabelsError("'star' is neither true nor false")
    return RunLabels(name, tags, group, notes, star, given)


def _text(given: dict[str, Any], key: str, before: str, longest: int) -> str:
    value = given.pop(key, before)
    if not isinstance(value, str):
        raise LabelsError(f"{key!r} is not text")
    if len(value) > longest:
        raise LabelsError(f"{key!r} has more than {longest:,} characters", fix="Make it shorter")
    return value


def _away(path: Path) -> str:
    return f"Move it away: mv {path} {path}.damaged"
