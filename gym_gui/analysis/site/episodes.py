"""Writes the pages of an operator's episodes one after the other: lists, and pages of single episodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Final

from gym_gui.analysis.findings.summary import OperatorSummary
from gym_gui.analysis.pages.film import Film
from gym_gui.analysis.pages.film_choice import Films, Scene
from gym_gui.analysis.pages.film_page import NO_SCRIPT, film_article, fitting
from gym_gui.analysis.pages.report_page import facts_list, link, panel
from gym_gui.analysis.pages.transcript_page import turn_articles
from gym_gui.analysis.records.jsonl import rows_at
from gym_gui.analysis.records.reader import OperatorRun, Run
from gym_gui.analysis.site.episode_rows_html import EpisodeLine, line_table, result_words, seat_table
from gym_gui.analysis.site.file_names import EPISODES, PER_LIST, Addresses
from gym_gui.analysis.site.page_template import root_of, site_page
from gym_gui.analysis.transcripts.transcript import Transcript
from gym_gui.analysis.transcripts.turn import Turn
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.html_markup import safe
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.records import EpisodeRecord, parse_episode

ROOM_FOR_TRANSCRIPTS: Final = 400_000_000
"""Largest size of all transcript pages of a site, in bytes; web hosts accept a gigabyte or less."""


@dataclass
class SiteWritten:
    """Counts of the pages of a site that have been written so far.

    Attributes:
        pages: Number of pages.
        size: Bytes of the pages.
        replays: Number of pages with a replay.
        transcripts: Number of pages with a transcript.
        said: Bytes of the pages with transcripts.
        crowded_out: Number of episodes whose transcript was left out for lack of space.
        stopped: Number of episodes whose replay or transcript was left out because the user stopped.
        unplayable: Reasons why requested replays are missing, with the number of episodes.
        lists: Address, first and last episode index of each list of episodes, by operator.
    """

    pages: int = 0
    size: int = 0
    replays: int = 0
    transcripts: int = 0
    said: int = 0
    crowded_out: int = 0
    stopped: int = 0
    unplayable: Counter[str] = field(default_factory=Counter[str])
    lists: dict[str, list[tuple[str, int, int]]] = field(
        default_factory=lambda: dict[str, list[tuple[str, int, int]]]()
    )


class PageWriter:
    """Writes pages into the folder of a site and counts them.

    Args:
        folder: Folder of the site.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.written = SiteWritten()

    def write(self, path: str, content: bytes) -> None:
        """Write a page.

        Raises:
            OSError: The page cannot be written.
        """
        file = self._folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        self.written.pages += 1
        self.written.size += len(content)

    def has(self, path: str) -> bool:
        """Return whether a page of the site exists."""
        return (self._folder / path).exists()


class EpisodePages:
    """Writes the pages of one operator's episodes.

    Args:
        run: Run of the operator.
        operator: The operator's record in the run folder.
        summary: Results of the operator.
        films: Replays, by episode.
        addresses: Addresses of all pages.
        writer: Writes the pages.
        stopped: Function that returns whether to write no more replays and transcripts.
    """

    def __init__(
        self,
        run: Run,
        operator: OperatorRun,
        summary: OperatorSummary,
        films: Films,
        addresses: Addresses,
        writer: PageWriter,
        stopped: Callable[[], bool],
    ) -> None:
        self._run, self._operator, self._summary = run, operator, summary
        self._films, self._addresses, self._writer, self._stopped = films, addresses, writer, stopped
        self._transcript = Transcript(operator)
        self._with_transcript = set(self._transcript.episodes)

    def write(self) -> Iterator[int]:
        """Write all pages of the operator's episodes; yield 1 after each episode.

        Raises:
            RunFormatError: A row is damaged.
            OSError: A page cannot be written.
        """
        # Rows are in the order in which episodes finished; only their offsets and one list are in memory.
        places = sorted((e.episode_index, line.start) for e, line in self._operator.episode_lines())
        lists = [
            (number, [start for _, start in of_list])
            for number, of_list in groupby(places, lambda place: place[0] // PER_LIST)
        ]
        numbers = [number for number, _ in lists]
        found = self._writer.written.lists[self._summary.key] = []
        for at, (number, starts) in enumerate(lists):
            lines: list[EpisodeLine] = []
            for row in rows_at(self._operator.path / "episodes.jsonl", starts):
                record = parse_episode(row, f"episode {row.get('episode_index')}")
                lines.append(self._episode(record))
                yield 1
            first, last = lines[0].record.episode_index, lines[-1].record.episode_index
            path = self._addresses.list_of(self._summary.key, number * PER_LIST)
            found.append((path, first, last))
            self._writer.write(path, self._list(path, lines, numbers, at))

    # -- lists -----------------------------------------------------------------------------

    def _list(self, path: str, lines: Sequence[EpisodeLine], numbers: Sequence[int], at: int) -> bytes:
        first, last = lines[0].record.episode_index, lines[-1].record.episode_index
        title = f"Episodes {first} to {last}" if last > first else f"Episode {first}"
        parts = [
            f"<header><h1>{title}</h1>{self._operator_and_run(path)}</header>",
            _pager(numbers, at),
            line_table(lines),
            _pager(numbers, at),
        ]
        return site_page(f"{title} of {self._summary.name}", parts, path, place=EPISODES)

    def _operator_and_run(self, path: str) -> str:
        root = root_of(path)
        operator = link(root + self._addresses.agent(self._summary.key), safe(self._summary.name))
        run = link(root + self._addresses.run(self._run.run_id), safe(f"run {self._run.run_id}"))
        return f'<span class="muted">{operator} \N{MIDDLE DOT} {run}</span>'

    # -- single ones -----------------------------------------------------------------------

    def _episode(self, record: EpisodeRecord) -> EpisodeLine:
        """Write the episode's page if it has a replay or transcript, and return its row for the list."""
        index, written = record.episode_index, self._writer.written
        film = self._films.get((self._run.run_id, self._operator.operator_id, index))
        if film is not None and film.missing:
            written.unplayable[film.missing] += 1
        plays, has_transcript = film is not None and bool(film.frames), index in self._with_transcript
        if not (plays or has_transcript):
            return EpisodeLine(record)
        if self._stopped():
            written.stopped += 1
            return EpisodeLine(record)
        if has_transcript and written.said > ROOM_FOR_TRANSCRIPTS:
            written.crowded_out += 1
            has_transcript = False
            if not plays:
                return EpisodeLine(record)
        turns = list(self._transcript.turns(index)) if has_transcript else []
        path = self._addresses.episode(self._summary.key, index)
        content = self._page(path, record, film if plays else None, turns)
        self._writer.write(path, content)
        written.replays += plays
        written.transcripts += has_transcript
        written.said += len(content) if has_transcript else 0
        shown = [word for word, is_there in (("replay", plays), ("transcript", has_transcript)) if is_there]
        return EpisodeLine(record, path.rpartition("/")[2], tuple(shown))

    def _page(self, path: str, record: EpisodeRecord, film: Film | None, turns: Sequence[Turn]) -> bytes:
        return site_page(
            f"Episode {record.episode_index} of {self._summary.name}",
            self._parts(path, record, film, turns),
            path,
            place=EPISODES,
            plays=film is not None,
        )

    def _parts(
        self, path: str, record: EpisodeRecord, film: Film | None, turns: Sequence[Turn]
    ) -> Iterator[str]:
        index = record.episode_index
        listed = self._addresses.line_of(self._summary.key, index).rpartition("/")[2]
        run = self._operator_and_run(path)
        yield f"<header><h1>Episode {index}</h1>{run}{link(listed, 'All episodes')}</header>"
        yield f'<section class="verdict"><p>{safe(result_words(record))}</p>'
        if record.error:
            yield f'<p class="bad">{safe(record.error)}</p>'
        yield "</section>"
        if film is not None:
            bad = record.error or "" if record.status is EpisodeStatus.FAILED else ""
            scene = Scene(self._summary, index, "Replay", result_words(record), bad)
            article = film_article(scene, film, list(fitting(turns)))
            yield f'<div class="films{"" if turns else " one"}">{article}</div>{NO_SCRIPT}'
        yield f"<h2>Seats</h2>{seat_table(record)}"
        if turns:
            shown, left = turn_articles(turns)
            yield f'<h2>Transcript</h2><section class="episode">{shown}</section>'
            if left:
                yield f'<p class="note">{wording.count(left, "more turn")} in the record.</p>'
        yield self._source(record)

    def _source(self, record: EpisodeRecord) -> str:
        run, operator, index = self._run.run_id, self._operator.operator_id, record.episode_index
        facts = {
            "Started": record.started_at or "-",
            "Duration": "-" if record.wall_s is None else wording.milliseconds(1000 * record.wall_s),
            "Digest of the trajectory": record.trajectory_sha256 or "-",
            "Digest of the record": record.record_sha256 or "-",
            "Replay it": f"mosaic replay {run} --operator {operator} --episode {index}",
            "Export it as Python": f"mosaic replay {run} --operator {operator} --episode {index} --as-python",
        }
        return f"<h2>Source</h2>{panel('Record', facts_list(facts))}"


def _pager(numbers: Sequence[int], at: int) -> str:
    """Return HTML links to the first, previous, next and last list; empty if there is only one list."""
    if len(numbers) < 2:
        return ""
    ways = [("First", 0), ("Previous", at - 1), ("Next", at + 1), ("Last", len(numbers) - 1)]
    links = "".join(
        link(f"episodes-{numbers[to] + 1}.html", name)
        if 0 <= to < len(numbers) and to != at
        # Text instead of a link, so that the other links keep their positions.
        else f'<span class="muted">{name}</span>'
        for name, to in ways
    )
    place = f'<span class="muted">{at + 1} of {len(numbers)}</span>'
    return f'<nav class="lists" aria-label="Lists">{links}{place}</nav>'
