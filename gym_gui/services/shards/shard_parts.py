"""The parts of an experiment as they were played: run folders of shards, opened to be merged."""

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
"""Keys of ``run.json`` that are the same in all parts, and kept once."""
_TOLD = 20
"""Reasons that one sentence has at most."""
_NAMED = 3
"""Parts that are named in a sentence."""

OnPart = Callable[[int, int], None]
"""Called with the number of parts read so far, and with the number of all."""


class UnmergeableError(UsageError):
    """Parts are not of one experiment, or not all there.

    Attributes:
        lines: What is wrong, each as a sentence without a full stop.
    """

    def __init__(self, lines: Sequence[str], fix: str) -> None:
        super().__init__("; ".join(lines[:_TOLD]), fix=fix)
        self.lines = list(lines)


@dataclass(frozen=True)
class ShardPart:
    """A run folder of a shard.

    Attributes:
        folder: The folder.
        shard: Which part it is.
        header: What ``run.json`` says, without what is the same in all parts.
        is_live: Whether a process writes it now.
        rows: Its episodes by operator.
    """

    folder: Path
    shard: Shard
    header: Mapping[str, Any]
    is_live: bool
    rows: dict[str, ShardRows] = field(default_factory=dict[str, ShardRows])

    @property
    def words(self) -> str:
        """What it is, within a sentence."""
        return f"{self.shard.words} ({self.folder})"

    @property
    def experiment_sha256(self) -> str:
        """The digest of the whole that it is a part of."""
        return text((mapping(self.header.get(SHARD)) or {}).get("experiment_sha256")) or ""

    @property
    def contents(self) -> Mapping[str, Any]:
        """SHA-256 of what played, by what it is."""
        return mapping((mapping(self.header.get(SHARD)) or {}).get("contents")) or {}

    @property
    def versions(self) -> Mapping[str, Any]:
        """Versions of what acted in it, by package."""
        return mapping(self.header.get("versions")) or {}

    @property
    def run_id(self) -> str:
        """Its own run's."""
        return str(self.header.get("run_id"))


@dataclass(frozen=True)
class ShardSet:
    """Parts of one experiment.

    Attributes:
        whole: What ``run.json`` says of the experiment, in each of them.
        parts: They, in the order of their episodes; of one part that was played twice, the later run later.
    """

    whole: Mapping[str, Any]
    parts: Sequence[ShardPart]


def read_parts(folders: Iterable[Path], on_part: OnPart | None = None) -> ShardSet:
    """Open run folders of shards.

    Args:
        folders: The run folders; a folder of run folders stands for the shards in it.
        on_part: Told how far it is.

    Raises:
        UnmergeableError: One is of another experiment, or has changed since it was played.
        UsageError: There is no shard at a place, or it cannot be read.
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
                raise UsageError(f"{folder} is no shard", fix="Merge what mosaic run --shard K/N has played")
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
            problems.append(f"{same.folder} and {folder} are one run at two moments: give the later one")
        if on_part is not None:
            on_part(number, len(places))
    if problems:
        raise UnmergeableError(problems, "Leave out what does not belong here, or play it again")
    if not found:
        raise UsageError("there is no shard to be merged", fix="Play them with: mosaic run FILE --shard 1/64")
    return ShardSet(whole, sorted(found.values(), key=_place_of))


def _places(folders: Iterable[Path]) -> list[tuple[Path, bool]]:
    """Run folders, each once, and whether it was named by itself."""
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
    """How the experiment of a part differs from that of the first."""
    one, other = (mapping(each.get("experiment")) or {} for each in (header, whole))
    where = first_difference(identity_of(one), identity_of(other))
    return f"{part.words} is of another experiment than {first.words}" + (f": {where}" if where else "")


def operators_of(whole: Mapping[str, Any]) -> list[str]:
    """The operators of the experiment that ``run.json`` has, in its order.

    Raises:
        UsageError: One has an id that is no name of a folder.
    """
    listed = items((mapping(whole.get("experiment")) or {}).get("operators")) or []
    return [folder_name((mapping(each) or {}).get("id"), "operators: id") for each in listed]


def _read_rows(
    part: ShardPart, header: Mapping[str, Any], operators: Sequence[str], problems: list[str]
) -> None:
    """Find a part's episodes, and hold them against the digests that it was given when it ended."""
    sealed = KEY in header and header.get("status") != RUNNING
    lost = not sealed and has_digests(header) and header.get("status") != RUNNING
    changed = ["run.json"] if lost or (sealed and header[KEY] != run_digest(header)) else []
    then = mapping(header.get(FILES)) or {}
    for operator, indices in (episodes_of(header) or {}).items():
        if operator not in operators:
            problems.append(f"{part.words} has episodes of {shown(operator)}, whom its experiment has not")
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
            problems.append(f"{part.words} has episode {min(foreign)} of {operator!r}, which is not its own")
    if changed:
        problems.append(
            f"{part.words} is not as it was when it ended: {changed[0]} has changed, or is not copied whole"
        )


# -- what all have to agree on --------------------------------------------------------------


def check_contents(parts: Sequence[ShardPart]) -> None:
    """Refuse parts that other policies, or other code, have played.

    Raises:
        UnmergeableError: With each that differs.
    """
    names = dict.fromkeys(name for part in parts for name in part.contents)
    lines = [
        f"{name} was another in {_named(others)} than in {most[0].words}"
        for name in names
        for most, others in [_split(parts, lambda part, name=name: part.contents.get(name))]
        if others
    ]
    if lines:
        raise UnmergeableError(lines, "Play these shards again with the same files")


def differences(parts: Sequence[ShardPart]) -> list[str]:
    """Versions of packages and of MOSAIC, and its commits, that are not the same in all parts."""
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
    """Versions of what acted in a part, the commit of MOSAIC among them."""
    found = {name: str(version) for name, version in part.versions.items()}
    commit = part.header.get("commit")
    return {**found, "MOSAIC's commit": str(commit)} if found and commit else found


def usual(values: Iterable[Any]) -> Any:
    """What most have, of those that have something; the first of several."""
    found = [value for value in values if value is not None]
    if not found:
        return None
    keys = [orjson.dumps(value, option=orjson.OPT_SORT_KEYS) for value in found]
    ((most, _),) = Counter(keys).most_common(1)
    return found[keys.index(most)]


def _split(
    parts: Sequence[ShardPart], value_of: Callable[[ShardPart], object]
) -> tuple[list[ShardPart], list[ShardPart]]:
    """Parts that have what most have, and those that have something else; who has nothing is in neither."""
    having = [(part, value) for part in parts if (value := value_of(part)) is not None]
    most = usual(value for _, value in having)
    return [p for p, value in having if value == most], [p for p, value in having if value != most]


def _named(parts: Sequence[ShardPart]) -> str:
    names = [part.words for part in parts[:_NAMED]]
    more = len(parts) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")
