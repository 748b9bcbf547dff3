"""Lists the newest runs with their results, read off the GUI thread and cached until a run changes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gym_gui.analysis.words.wording import C, Locale, count, moment, number, written_as
from gym_gui.core.errors import MosaicError
from gym_gui.services.store import Store
from mosaic_worker.plain_files import read_file, replace_file

if TYPE_CHECKING:
    from gym_gui.services.runs.run_library import RunEntry, RunLibrary

_log = logging.getLogger(__name__)

LARGEST = 50_000_000
"""Bytes of recorded episodes above which the Home page computes no verdict by itself."""
_PACKED_TO = 12
"""Approximate number of bytes of rows per compressed byte."""


@dataclass(frozen=True, slots=True)
class RecentRun:
    """Row in the Home page's list of the newest runs.

    Attributes:
        path: The run folder.
        title: Title of the run.
        environment: Environment in a few words.
        episodes: Number of episodes, in words.
        verdict: Result in a few words; empty while it is unknown.
        detail: Result as a sentence.
        when: Time of the start, in words.
    """

    path: Path
    title: str
    environment: str
    episodes: str
    verdict: str
    detail: str
    when: str


class RecentRuns:
    """Reads the newest runs of the store.

    Args:
        store: Provides the folders of runs and of the cache.
        limit: Largest number of runs.
        locale: Format of numbers.
    """

    def __init__(self, store: Store, limit: int = 6, locale: Locale = C) -> None:
        self._store, self._limit, self._locale = store, limit, locale
        self._library: RunLibrary | None = None

    async def lines(self) -> AsyncIterator[list[RecentRun]]:
        """Yield the rows of the newest runs at once, then again after each verdict that was computed."""
        entries = await asyncio.to_thread(self._newest)
        known = await asyncio.to_thread(lambda: {e.path: self._remembered(e) for e in entries})
        yield [_line(entry, known[entry.path], self._locale) for entry in entries]
        for entry in entries:
            if known[entry.path] is None and _has_a_verdict(entry):
                known[entry.path] = await self._make(entry)
                yield [_line(each, known[each.path], self._locale) for each in entries]

    def _newest(self) -> list[RunEntry]:
        from gym_gui.services.runs.run_library import RunLibrary

        if self._library is None or self._library.folder != self._store.runs:
            self._library = RunLibrary(self._store.runs)
        found: list[RunEntry] = []
        for batch in self._library.scan():
            # A run without an episode has no result, unless it is running.
            found += [entry for entry in batch if entry.done or entry.is_live]
            if len(found) >= self._limit:
                break
        return found[: self._limit]

    async def _make(self, entry: RunEntry) -> tuple[str, str]:
        from gym_gui.services.runs.run_analysis import analyze

        try:
            summary = await analyze(entry.path, locale=self._locale)
        except (MosaicError, OSError) as error:
            _log.warning("no verdict on run %s: %s", entry.run_id, error)
            return "", ""
        with written_as(self._locale):
            said = _in_short(summary)
        await asyncio.to_thread(self._remember, entry, said)
        return said

    def _remembered(self, entry: RunEntry) -> tuple[str, str] | None:
        try:
            data = json.loads(read_file(self._file(entry), links=True))
            if data["stamp"] == self._stamp(entry):
                return str(data["short"]), str(data["detail"])
        except (OSError, ValueError, KeyError, TypeError, MosaicError):
            return None
        return None

    def _remember(self, entry: RunEntry, said: tuple[str, str]) -> None:
        data = {"stamp": self._stamp(entry), "short": said[0], "detail": said[1]}
        with contextlib.suppress(OSError, MosaicError):
            replace_file(self._file(entry), json.dumps(data).encode(), sync=False)

    def _stamp(self, entry: RunEntry) -> list[object]:
        """Return values that change with the run, its episodes, its record or the format of numbers."""
        changed = (entry.path / "run.json").stat().st_mtime_ns
        return [entry.done, entry.status, changed, self._locale.point + self._locale.group]

    def _file(self, entry: RunEntry) -> Path:
        return self._store.cache_dir("verdicts") / f"{entry.path.name}.json"


def _has_a_verdict(entry: RunEntry) -> bool:
    if entry.is_live or not entry.done:
        return False
    plain = sum(file.stat().st_size for file in entry.path.glob("operators/*/*.jsonl"))
    packed = sum(file.stat().st_size for file in entry.path.glob("operators/*/*.jsonl.zst"))
    return plain + _PACKED_TO * packed < LARGEST


def _line(entry: RunEntry, said: tuple[str, str] | None, locale: Locale) -> RecentRun:
    short, detail = said or ("", "")
    if entry.is_live:
        short, detail = "running", "This run is being played now."
    elif entry.status in ("failed", "cut off", "damaged") and not short:
        short, detail = entry.status, entry.problem
    return RecentRun(
        entry.path,
        entry.title,
        entry.environment,
        count(entry.done, "episode", locale),
        short,
        detail,
        moment(entry.started_at, brief=True),
    )


def _in_short(summary: object) -> tuple[str, str]:
    """Return a run's most important verdict, in a few words and as a sentence."""
    from gym_gui.analysis.findings.summary import Summary

    assert isinstance(summary, Summary)
    if (found := summary.standings) is not None:  # the pool's leader, not the winner by seat
        return found.claim, f"{found.claim}{found.detail}."
    detail = str(summary.verdicts[0]) if summary.verdicts else ""
    decided = [c for c in summary.comparisons if c.verdict != "undecided"]
    if summary.refusals and not summary.comparisons:
        return "not compared", detail
    if not summary.comparisons:
        mean = summary.operators[0].mean.value if len(summary.operators) == 1 else None
        return (f"return {number(mean)}" if mean is not None else ""), detail
    if not decided:
        return "not decided", detail
    first = decided[0]
    key = first.first if first.verdict == "first" else first.second
    names = {operator.key: operator.name for operator in summary.operators}
    return f"{names.get(key, key)} ahead", detail
