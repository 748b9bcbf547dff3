"""Merges the shards of an experiment into one run folder, for ``mosaic runs merge``.

Shards are read twice, never as a whole: first to locate each episode, then to copy its lines and rows. The
shards are not changed. The merged run appears only when it is complete.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gym_gui.analysis.exports.pending_folder import pending_folder
from gym_gui.analysis.words import wording
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.execution import ExecutionConfig
from gym_gui.core.experiment.seed_lists import MAX_EPISODES
from gym_gui.core.experiment.shards import BY_SEEDS, SHARD, SHARDS, ScheduledEpisodes, Shard, schedule_of
from gym_gui.core.experiment.spending import Amounts, plain_amounts
from gym_gui.core.record_fields import count, items, mapping, text
from gym_gui.core.records import RENAMED, SEAT_NAMES, TOURNAMENT
from gym_gui.core.validation import integer
from gym_gui.services.runs.recorder import COMPLETED, FAILED, STOPPED, Recorder, RecordingError
from gym_gui.services.runs.run_packing import compress_ended
from gym_gui.services.shards.shard_budgets import ledger_sums, merge_ledgers
from gym_gui.services.shards.shard_copy import EpisodeOwners, ShardCopy, owners_of
from gym_gui.services.shards.shard_set import (
    OnPart,
    ShardPart,
    ShardSet,
    UnmergeableError,
    check_contents,
    differences,
    operators_of,
    read_parts,
    usual,
)

_SHOWN: Final = 10
"""Largest number of missing shards that a message names."""

OnBytes = Callable[[int, int], None]
"""Type of a callback that gets the number of copied bytes and the number of all bytes."""


@dataclass(frozen=True)
class MergedRun:
    """A run that was merged from shards.

    Attributes:
        folder: Folder of the merged run.
        status: Status as in ``run.json``.
        shards: Number of shards.
        episodes: Number of finished episodes.
        failed: Number of finished episodes that failed.
        twice: Number of episodes that several shards played with equal results; each counts once.
        missing: Missing parts, as one sentence each.
        differences: Versions that differ between shards, as one sentence each.
    """

    folder: Path
    status: str
    shards: int
    episodes: int
    failed: int
    twice: int
    missing: Sequence[str]
    differences: Sequence[str]


def merge_shards(
    folders: Iterable[Path],
    out: Path,
    *,
    allow_differences: bool = False,
    partial: bool = False,
    planned: Mapping[str, int] | None = None,
    times: tuple[str, str] | None = None,
    short: str = "",
    lost: Amounts | None = None,
    on_part: OnPart | None = None,
    on_bytes: OnBytes | None = None,
) -> MergedRun:
    """Merge shards into one run folder.

    Args:
        folders: Run folders of the shards, or folders that contain such run folders.
        out: Folder for the new run folder.
        allow_differences: Whether to merge shards that were played with different versions. ``run.json``
            records the versions.
        partial: Whether to merge an incomplete set. The run is then ``stopped`` and can be resumed.
        planned: For play until a decision, how many episodes of each operator are expected by now. The run
            is then ``stopped`` and only meant for inspection.
        times: Start and end by one clock, if the caller knows them, because clocks of several machines may
            differ by hours. By default, the times in the shards.
        short: The budget that ended the run, if one did. Missing episodes are then left unplayed, and the
            run is ``stopped``.
        lost: Amounts that shards without results may have spent, by account.
        on_part: Called with the number of shards read.
        on_bytes: Called with the number of bytes copied.

    Raises:
        UnmergeableError: The shards are of different experiments, disagree, or are incomplete. Nothing
            was written.
        UsageError: A shard cannot be read, or the run cannot be written.
    """
    shards = read_parts(folders, on_part)
    check_contents(shards.parts)
    others = differences(shards.parts)
    if others and not allow_differences:
        raise UnmergeableError(
            others, "Play these shards again with the same versions, or merge them with --allow-differences"
        )
    merge = _Merge(shards, planned, times)
    missing = merge.missing()
    if missing and not partial and not short:
        raise UnmergeableError(missing, "Play the missing episodes, or merge the others with --partial")
    status = STOPPED if missing or planned is not None else FAILED if merge.failed else COMPLETED
    with pending_folder(out) as place:
        try:
            made = merge.write(place, status, missing, short if missing else "", lost or {}, on_bytes)
        except RecordingError as error:
            raise UsageError(
                f"the shards cannot be merged into {out}: {error.message}",
                fix="Free some space, or choose another folder with --out",
            ) from error
        folder = made.rename(out / made.name)
    return MergedRun(
        folder,
        status,
        len(shards.parts),
        merge.done,
        merge.failed,
        sum(owners.twice for owners in merge.owners.values()),
        missing,
        others,
    )


class _Merge:
    """The shards to merge, with the owner of each episode."""

    def __init__(
        self, shards: ShardSet, planned: Mapping[str, int] | None, times: tuple[str, str] | None
    ) -> None:
        self._times = times or _times_of(shards.parts)
        self._whole, self._parts = shards.whole, shards.parts
        experiment = mapping(shards.whole.get("experiment")) or {}
        self._execution = mapping(experiment.get("execution")) or {}
        self._operators = operators_of(shards.whole)
        self._scheduled = self._cut()
        self._episodes = {each.operator_id: each.episodes for each in self._scheduled} | dict(planned or {})
        self._has_looks = planned is None and any(each.looks for each in self._scheduled)
        self.owners = {name: owners_of(self._parts, name, of) for name, of in self._episodes.items()}
        self._open = {name: self._not_done(name, owners) for name, owners in self.owners.items()}
        self.done = sum(self._episodes.values()) - sum(map(len, self._open.values()))
        self.failed = sum(
            self._parts[place].rows[name].has_failed(at)
            for name, owners in self.owners.items()
            for place, at in zip(owners.part, owners.at, strict=True)
            if place >= 0
        )

    def _not_done(self, operator: str, owners: EpisodeOwners) -> list[int]:
        return [
            index
            for index, (place, at) in enumerate(zip(owners.part, owners.at, strict=True))
            if place < 0 or self._parts[place].rows[operator].is_open(at)
        ]

    # -- missing episodes --------------------------------------------------------------

    def missing(self) -> list[str]:
        """Return sentences about missing shards with the commands that play them; empty if all are there."""
        if self._has_looks:
            return [
                "it is played until it is decided, which shards do not record: resume the submission "
                "(mosaic run --resume SUBMISSION), or merge with --partial and resume that run"
            ]
        if not any(self._open.values()):
            return []
        ((of, _),) = Counter(part.shard.of for part in self._parts).most_common(1)
        played = {part.shard: part for part in self._parts}
        absent: list[int] = []
        lines: list[str] = []
        for shard in (Shard(number, of) for number in range(1, of + 1)):
            cut = shard.episodes(self._scheduled)
            left = sum(self._open_within(name, episodes) for name, episodes in cut.items())
            if left and shard in played:
                lines.append(self._unfinished(played[shard], left, sum(map(len, cut.values()))))
            elif left:
                absent.append(shard.number)
        if absent:
            lines.insert(0, f"{_named(absent, of)}: mosaic {self._command} FILE --shard {absent[0]}/{of}")
        return lines

    def _open_within(self, operator: str, episodes: range) -> int:
        still_open = self._open[operator]
        return bisect_left(still_open, episodes.stop) - bisect_left(still_open, episodes.start)

    def _unfinished(self, part: ShardPart, left: int, episodes: int) -> str:
        how = (
            "it is still played, wait for it"
            if part.is_live
            else f"mosaic {self._command} --resume {part.folder}"
        )
        return f"{part.shard.words} has {left} of {wording.count(episodes, 'episode')} left to play: {how}"

    def _cut(self) -> list[ScheduledEpisodes]:
        about = mapping(self._parts[0].header.get(SHARD)) or {}
        seatings = mapping(about.get("seatings")) or {}
        episodes = integer(
            self._execution.get("num_episodes"), "execution.num_episodes", low=1, high=MAX_EPISODES
        )
        until, batch = text(self._execution.get("until")) or "all", count(self._execution.get("batch"))
        execution = ExecutionConfig(episodes, until=until, batch=batch)
        each = {name: count(seatings.get(name)) or 1 for name in self._operators}
        return schedule_of(execution, each, by_seeds=about.get(BY_SEEDS) is True)

    @property
    def _command(self) -> str:
        return "tournament" if TOURNAMENT in self._whole else "run"

    # -- the run -----------------------------------------------------------------------

    def write(
        self,
        out: Path,
        status: str,
        missing: Sequence[str],
        short: str,
        lost: Amounts,
        on_bytes: OnBytes | None,
    ) -> Path:
        """Write the merged run below a folder and return its run folder."""
        problem, unplayed = "; ".join(missing), 0
        if short:
            unplayed, total = sum(map(len, self._open.values())), sum(self._episodes.values())
            end = f"{unplayed:,} of {wording.count(total, 'episode')} are left unplayed"
            problem = f"{short}; {end}"
        recorder = Recorder.create(out, self._operators, self._header())
        size = sum(rows.size for part in self._parts for rows in part.rows.values())
        copied = 0

        def tell(new: int) -> None:
            nonlocal copied
            copied += new
            if on_bytes is not None:
                on_bytes(copied, max(size, copied))

        try:
            with ShardCopy(self._parts, recorder, tell) as copy:
                for name, owners in self.owners.items():
                    copy.episodes(name, owners)
                    copy.calls(name, owners)
            retries = [row for part in self._parts for row in items(part.header.get("retries")) or []]
            ended: dict[str, Any] = {"finished_at": at} if (at := self._times[1]) else {}
            if short:
                ended["unplayed"] = unplayed
            merge_ledgers([part.folder for part in self._parts], lost, recorder.folder)
            recorder.close(status, retries=retries, problem=problem or None, **ended)
        except BaseException:
            recorder.abandon()
            raise
        if (mapping(self._execution.get("record")) or {}).get("compress") and status != STOPPED:
            compress_ended(recorder.folder)
        return recorder.folder

    def _header(self) -> dict[str, Any]:
        """Return ``run.json`` of the merged run. Values that may differ are those of most shards."""
        names = dict.fromkeys(name for part in self._parts for name in part.versions)
        versions = {name: usual(part.versions.get(name) for part in self._parts) for name in names}
        common: dict[str, Any] = {
            "machine": usual(part.header.get("machine") for part in self._parts) or {},
            "commit": usual(part.header.get("commit") for part in self._parts),
        }
        called = {key: joined for key in (RENAMED, SEAT_NAMES) if (joined := self._joined(key))}
        return {
            # Episodes of an older format may lack a digest, so the merged run gets the oldest format.
            "format": min(int(part.header.get("format") or 1) for part in self._parts),
            **({"started_at": at} if (at := self._times[0]) else {}),
            **common,
            "episodes": {each.operator_id: each.episodes for each in self._scheduled},
            **self._whole,
            SHARDS: [_about(part, {**common, "versions": versions}) for part in self._parts],
            "players": self._joined("players"),
            "actions": self._joined("actions"),
            "versions": versions,
            **called,
        }

    def _joined(self, key: str) -> dict[str, Any]:
        """Return a value of ``run.json`` by operator, from the shards that have played the operator."""
        said = [mapping(part.header.get(key)) or {} for part in self._parts]
        found = ((name, usual(each.get(name) for each in said)) for name in self._operators)
        return {name: value for name, value in found if value is not None}


def _times_of(parts: Sequence[ShardPart]) -> tuple[str, str]:
    """Return the earliest start and the latest end by the machines' clocks; empty texts if unknown."""

    def said(key: str) -> list[str]:
        return [at for part in parts if (at := text(part.header.get(key)))]

    return min(said("started_at"), default=""), max(said("finished_at"), default="")


def _about(part: ShardPart, common: Mapping[str, Any]) -> dict[str, Any]:
    """Return the merged run's record of a shard: its identity, and values that most shards do not have."""
    said = part.header
    row: dict[str, Any] = {"number": part.shard.number, "of": part.shard.of, "run_id": part.run_id}
    row |= {key: said.get(key) for key in ("status", "started_at", "finished_at")}
    row |= {key: said[key] for key in ("machine", "commit") if said.get(key) not in (None, common[key])}
    if spent := ledger_sums(part.folder):
        row["spent"] = plain_amounts(spent)
    others = {n: v for n, v in part.versions.items() if v != common["versions"].get(n)}
    return {**row, **({"versions": others} if others else {})}


def _named(numbers: Sequence[int], of: int) -> str:
    """Return a text such as ``shards 3 and 17 of 64 are missing``."""
    if len(numbers) == 1:
        return f"shard {numbers[0]} of {of} is missing"
    shown = [f"{number}" for number in numbers[:_SHOWN]]
    if len(numbers) > _SHOWN:
        return f"shards {', '.join(shown)} and {len(numbers) - _SHOWN} more of {of} are missing"
    return f"shards {', '.join(shown[:-1])} and {shown[-1]} of {of} are missing"
