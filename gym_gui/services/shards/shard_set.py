"""Opens the run folders of shards to be merged, and checks that they belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import orjson

from gym_gui.analysis.records.run_digest import FILES, run_digest
from gym_gui.core.errors import RunFormatError, UsageError
from gym_gui.core.experiment.shards import SHARD, Shard, episodes_of
from gym_gui.core.record_digest import KEY
from gym_gui.core.record_fields import items, mapping, text
from gym_gui.core.records import has_digests
from gym_gui.core.validation import folder_name, shown
from gym_gui.services.experiments.experiment_identity import first_difference, identity_of
from gym_gui.services.run_lock import is_being_written
from gym_gui.services.runs.recorder import RUNNING, read_header
from gym_gui.services.shards.shard_rows import ShardRows

_WHOLE: Final = ("experiment", "tournament")
"""Keys of ``run.json`` that are equal in all shards, so that they are stored once."""
_MOST_REASONS = 20
"""Largest number of reasons in one sentence."""
_MOST_NAMED = 3
"""Largest number of shards that a sentence names."""

OnPart = Callable[[int, int], None]
"""Type of a callback that gets the number of shards that have been read and the number of all."""


class UnmergeableError(UsageError):
    """Error for shards that are not of one experiment, or are incomplete.

    Attributes:
        lines: Problems, as one sentence each without a full stop.
    """

    def __init__(self, lines: Sequence[str], fix: str) -> None:
        super().__init__("; ".join(lines[:_MOST_REASONS]), fix=fix)
        self.lines = list(lines)


@dataclass(frozen=True)
class ShardPart:
    """An opened run folder of a shard.

    Attributes:
        folder: The run folder.
        shard: Number of the shard and of all shards.
        header: Content of ``run.json`` without the keys that are equal in all shards.
        is_live: Whether a process is writing the folder.
        rows: Episodes by operator.
    """

    folder: Path
    shard: Shard
    header: Mapping[str, Any]
    is_live: bool
    rows: dict[str, ShardRows] = field(default_factory=dict[str, ShardRows])

    @property
    def words(self) -> str:
        """Name of the shard and its folder, for messages."""
        return f"{self.shard.words} ({self.folder})"

    @property
    def experiment_sha256(self) -> str:
        """SHA-256 of the whole experiment, equal in all of its shards."""
        return text((mapping(self.header.get(SHARD)) or {}).get("experiment_sha256")) or ""

    @property
    def contents(self) -> Mapping[str, Any]:
        """SHA-256 of each policy and code that played, by name."""
        return mapping((mapping(self.header.get(SHARD)) or {}).get("contents")) or {}

    @property
    def versions(self) -> Mapping[str, Any]:
        """Versions of the packages that played the shard, by package."""
        return mapping(self.header.get("versions")) or {}

    @property
    def run_id(self) -> str:
        """Id of the shard's own run."""
        return str(self.header.get("run_id"))


@dataclass(frozen=True)
class ShardSet:
    """Shards of one experiment.

    Attributes:
        whole: Content of ``run.json`` about the experiment, which is equal in all shards.
        parts: Shards in the order of their episodes. Of a shard that was played twice, the later run comes
            later.
    """

    whole: Mapping[str, Any]
    parts: Sequence[ShardPart]


def read_parts(folders: Iterable[Path], on_part: OnPart | None = None) -> ShardSet:
    """Open the run folders of shards.

    Args:
        folders: Run folders of the shards, or folders that contain such run folders.
        on_part: Called with the number of shards read.

    Raises:
        UnmergeableError: A shard is of another experiment, or has changed since it was played.
        UsageError: A folder contains no shard, or cannot be read.
    """
    places = _places(folders)
    whole: dict[str, Any] = {}
    operators: list[str] = []
    found: dict[str, ShardPart] = {}
    problems: list[str] = []
    for number, (folder, named) in enumerate(places, 1):
        header = read_header(folder)
        shard = Shard.of_run(header)
        if shard is None:
            if named:
                raise UsageError(
                    f"{folder} is not a shard", fix="Give folders that mosaic run --shard K/N wrote"
                )
            continue
        part = _opened(folder, shard, header)
        first = next(iter(found.values()), part)
        if not whole:
            whole = {key: header[key] for key in _WHOLE if key in header}
            operators = operators_of(whole)
        if not part.experiment_sha256 or part.experiment_sha256 != first.experiment_sha256:
            problems.append(_foreign(part, header, first, whole))
            continue
        _read_rows(part, header, operators, problems)
        same = found.setdefault(part.run_id, part)
        if same is not part and (KEY not in header or same.header.get(KEY) != header[KEY]):
            problems.append(f"{same.folder} and {folder} are two copies of one run: give only the later one")
        if on_part is not None:
            on_part(number, len(places))
    if problems:
        raise UnmergeableError(problems, "Leave out these shards, or play them again")
    if not found:
        raise UsageError("there is no shard to merge", fix="Play shards with: mosaic run FILE --shard 1/64")
    return ShardSet(whole, sorted(found.values(), key=_place_of))


def _places(folders: Iterable[Path]) -> list[tuple[Path, bool]]:
    """Return the run folders, each once, and whether the caller has named each folder itself."""
    found: dict[Path, tuple[Path, bool]] = {}
    for folder in folders:
        inside = [] if (folder / "run.json").exists() else sorted(folder.glob("*/run.json"))
        if not inside and not folder.is_dir():
            raise UsageError(
                f"no run at {folder}", fix="Give the folders of shards, or the folder they are in"
            )
        for place in [file.parent for file in inside] or [folder]:
            found.setdefault(place.resolve(), (place, not inside))
    return list(found.values())


def _place_of(part: ShardPart) -> tuple[Fraction, str]:
    return Fraction(part.shard.number - 1, part.shard.of), part.run_id


def _opened(folder: Path, shard: Shard, header: Mapping[str, Any]) -> ShardPart:
    try:
        live = header.get("status") == RUNNING and is_being_written(folder)
    except OSError as error:
        raise UsageError(f"{folder} cannot be read: {error.strerror}") from error
    kept = {key: value for key, value in header.items() if key not in _WHOLE}
    return ShardPart(folder, shard, kept, live)


def _foreign(part: ShardPart, header: Mapping[str, Any], first: ShardPart, whole: Mapping[str, Any]) -> str:
    """Return a sentence that says how the experiment of a shard differs from that of the first one."""
    one, other = (mapping(each.get("experiment")) or {} for each in (header, whole))
    where = first_difference(identity_of(one), identity_of(other))
    return f"{part.words} is of another experiment than {first.words}" + (f": {where}" if where else "")


def operators_of(whole: Mapping[str, Any]) -> list[str]:
    """Return the ids of an experiment's operators in order.

    Raises:
        UsageError: An id cannot be a folder's name.
    """
    listed = items((mapping(whole.get("experiment")) or {}).get("operators")) or []
    return [folder_name((mapping(each) or {}).get("id"), "operators: id") for each in listed]


def _read_rows(
    part: ShardPart, header: Mapping[str, Any], operators: Sequence[str], problems: list[str]
) -> None:
    """Read a shard's episodes and check them against the digests that were recorded at its end."""
    sealed = KEY in header and header.get("status") != RUNNING
    lost = not sealed and has_digests(header) and header.get("status") != RUNNING
    changed = ["run.json"] if lost or (sealed and header[KEY] != run_digest(header)) else []
    then = mapping(header.get(FILES)) or {}
    for operator, indices in (episodes_of(header) or {}).items():
        if operator not in operators:
            problems.append(f"{part.words} has episodes of {shown(operator)}, which its experiment lacks")
            continue
        try:
            rows = part.rows[operator] = ShardRows(part.folder / "operators" / operator)
        except RunFormatError as error:
            problems.append(f"{part.words} is damaged: {error.message}")
            continue
        found = {f"operators/{operator}/{name}": digest for name, digest in rows.digests.items()}
        expected = {name: sha for name, sha in then.items() if name.startswith(f"operators/{operator}/")}
        if sealed and found != expected:
            changed += sorted(name for name in found | expected if found.get(name) != expected.get(name))
        if foreign := set(rows.indices) - set(indices):
            problems.append(
                f"{part.words} has episode {min(foreign)} of {operator!r}, which belongs to another shard"
            )
    if changed:
        problems.append(
            f"{part.words} has changed since its end: {changed[0]} was edited or copied incompletely"
        )


# -- values that must agree ------------------------------------------------------------------


def check_contents(parts: Sequence[ShardPart]) -> None:
    """Refuse shards that were played with different policies or code.

    Raises:
        UnmergeableError: Some contents differ. The error names each.
    """
    names = dict.fromkeys(name for part in parts for name in part.contents)
    lines = [
        f"{name} in {_named(others)} differs from {most[0].words}"
        for name in names
        for most, others in [_split(parts, lambda part, name=name: part.contents.get(name))]
        if others
    ]
    if lines:
        raise UnmergeableError(lines, "Play these shards again with the same files")


def differences(parts: Sequence[ShardPart]) -> list[str]:
    """Return sentences about versions of packages and MOSAIC and about commits that differ between shards."""
    names = dict.fromkeys(name for part in parts for name in _acted(part))
    lines: list[str] = []
    for name in names:
        most, others = _split(parts, lambda part, name=name: _acted(part).get(name))
        if others:
            seen = dict.fromkeys(str(_acted(part).get(name)) for part in others)
            here, there = _acted(most[0])[name], " and ".join(seen)
            lines.append(f"{name} is {here} in {most[0].shard.words}, and {there} in {_named(others)}")
    return lines


def _acted(part: ShardPart) -> dict[str, str]:
    """Return the versions of the packages that played a shard, with the commit of MOSAIC."""
    found = {name: str(version) for name, version in part.versions.items()}
    commit = part.header.get("commit")
    return {**found, "MOSAIC's commit": str(commit)} if found and commit else found


def usual(values: Iterable[Any]) -> Any:
    """Return the most frequent value that is not ``None``; of equally frequent values, the first."""
    found = [value for value in values if value is not None]
    if not found:
        return None
    keys = [orjson.dumps(value, option=orjson.OPT_SORT_KEYS) for value in found]
    ((most, _),) = Counter(keys).most_common(1)
    return found[keys.index(most)]


def _split(
    parts: Sequence[ShardPart], value_of: Callable[[ShardPart], object]
) -> tuple[list[ShardPart], list[ShardPart]]:
    """Return the shards with the most frequent value and those with another value, without ``None``."""
    having = [(part, value) for part in parts if (value := value_of(part)) is not None]
    most = usual(value for _, value in having)
    return [p for p, value in having if value == most], [p for p, value in having if value != most]


def _named(parts: Sequence[ShardPart]) -> str:
    names = [part.words for part in parts[:_MOST_NAMED]]
    more = len(parts) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")
