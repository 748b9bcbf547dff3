"""Renders HTML tables for a site: lists of episodes, and the seats of one episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gym_gui.analysis.pages.report_page import html_table, link
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.html_markup import safe, shorten
from gym_gui.analysis.words.plain_columns import Column, wanted_of
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.records import EpisodeRecord

_LONGEST_ERROR = 300


@dataclass(frozen=True)
class EpisodeLine:
    """Row of a list of episodes.

    Attributes:
        record: The episode.
        page: Address of the episode's own page; empty if it has none.
        shown: Contents of the episode's own page: ``replay``, ``transcript``.
    """

    record: EpisodeRecord
    page: str = ""
    shown: tuple[str, ...] = ()


def result_words(episode: EpisodeRecord) -> str:
    """Return an episode's seed and result as text, such as ``seed 5: return 21 in 21 steps``."""
    seed = "no seed" if episode.seed is None else f"seed {episode.seed}"
    steps = wording.count(episode.length, "step")
    if episode.status is not EpisodeStatus.COMPLETED:
        return f"{seed}: {episode.status} after {steps}"
    if episode.out_of_time and episode.result:
        return f"{seed}: {episode.result}, after {steps}"
    if len(episode.teams) > 1:
        return f"{seed}: {_team_words(episode)} in {steps}"
    if episode.total_reward is None:
        return f"{seed}: no finite return in {steps}"
    return f"{seed}: return {wording.number(episode.total_reward)} in {steps}"


def line_table(lines: Sequence[EpisodeLine]) -> str:
    """Return a list of episodes as an HTML table."""
    columns = wanted_of(_COLUMNS, lines)
    words = [column.heading for column in columns if column.words]
    rows = [[column.show(line) for column in columns] for line in lines]
    return html_table([column.heading for column in columns], rows, words)


def seat_table(episode: EpisodeRecord) -> str:
    """Return an HTML table of the seats of an episode, with players and results."""
    seats = list(episode.agents) or list(episode.returns)
    columns = wanted_of(_SEAT_COLUMNS, [(episode, seat) for seat in seats])
    words = [column.heading for column in columns if column.words]
    rows = [[safe(column.show((episode, seat))) for column in columns] for seat in seats]
    return html_table([column.heading for column in columns], rows, words) if seats else ""


# --------------------------------------------------------------------------------- of a line


def _number(line: EpisodeLine) -> str:
    index = line.record.episode_index
    text = link(line.page, str(index)) if line.page else str(index)
    return f'<span id="e{index}">{text}</span>'


def _seed(line: EpisodeLine) -> str:
    return "-" if line.record.seed is None else str(line.record.seed)


def _status(line: EpisodeLine) -> str:
    episode = line.record
    if episode.status is EpisodeStatus.COMPLETED:
        return "completed"
    why = f'<span class="sub">{safe(shorten(episode.error, _LONGEST_ERROR))}</span>' if episode.error else ""
    return f'<span class="bad">{safe(episode.status)}</span>{why}'


def _return(line: EpisodeLine) -> str:
    return wording.number(line.record.total_reward)


def _success(line: EpisodeLine) -> str:
    return {True: "yes", False: "no", None: "-"}[line.record.success]


def _teams(line: EpisodeLine) -> str:
    return safe(_team_words(line.record))


def _team_words(episode: EpisodeRecord) -> str:
    """Return the results of the teams as text, such as ``green 2.00 (win), blue 1.00 (loss)``."""
    parts: list[str] = []
    for name, team in episode.teams.items():
        value = team.return_ if team.score is None else team.score
        outcome = (episode.outcome or {}).get(name)
        parts.append(f"{name} {wording.number(value)}" + (f" ({outcome})" if outcome else ""))
    return ", ".join(parts)


def _seats(line: EpisodeLine) -> str:
    """Return the return of each seat as text; with swapped seats, the slot follows in brackets."""
    agents = line.record.agents
    parts: list[str] = []
    for seat, value in line.record.returns.items():
        slot = agents[seat].slot if seat in agents else seat
        who = f"{seat} ({slot})" if slot != seat else seat
        parts.append(f"{who} {wording.number(value)}")
    return safe(", ".join(parts))


def _unusable(line: EpisodeLine) -> str:
    known = line.record.unusable_decisions
    return "-" if known is None else f"{sum(known.values()):,}"


def _took(line: EpisodeLine) -> str:
    return "-" if line.record.wall_s is None else wording.milliseconds(1000 * line.record.wall_s)


def _shown(line: EpisodeLine) -> str:
    return link(line.page, safe(", ".join(line.shown))) if line.shown else ""


def _several_teams(lines: Sequence[EpisodeLine]) -> bool:
    return any(len(line.record.teams) > 1 for line in lines)


def _some_alone(lines: Sequence[EpisodeLine]) -> bool:
    """Return whether an episode has no competing teams, so that its total return is meaningful."""
    return any(len(line.record.teams) < 2 for line in lines)


def _seats_say_more(lines: Sequence[EpisodeLine]) -> bool:
    return any(
        len(line.record.returns) > max(len(line.record.teams), 1)
        or any(agent.slot != seat for seat, agent in line.record.agents.items())
        for line in lines
    )


_COLUMNS: Sequence[Column[EpisodeLine]] = (
    Column("Episode", _number),
    Column("Seed", _seed),
    Column("Status", _status, words=True),
    Column("Return", _return, _some_alone),
    Column("Teams", _teams, _several_teams, words=True),
    Column("Seats", _seats, _seats_say_more, words=True),
    Column("Steps", lambda line: f"{line.record.length:,}"),
    Column("Success", _success, lambda lines: any(line.record.success is not None for line in lines)),
    Column("Unusable", _unusable, lambda lines: any(line.record.unusable_decisions for line in lines)),
    Column("Duration", _took),
    Column("Page", _shown, lambda lines: any(line.shown for line in lines), words=True),
)


# --------------------------------------------------------------------------------- of a seat


_Seat = tuple[EpisodeRecord, str]


def _slot(seat: _Seat) -> str:
    episode, name = seat
    return episode.agents[name].slot if name in episode.agents else name


def _player(seat: _Seat) -> str:
    episode, name = seat
    agent = episode.agents.get(name)
    if agent is None:
        return "-"
    return f"{agent.worker_id}: {agent.policy}" if agent.policy else agent.worker_id


def _of_seat(values: Mapping[str, int], seat: str) -> str:
    return f"{values.get(seat, 0):,}"


_SEAT_COLUMNS: Sequence[Column[_Seat]] = (
    Column("Seat", lambda seat: seat[1], words=True),
    Column("Slot", _slot, lambda seats: any(_slot(seat) != seat[1] for seat in seats), words=True),
    Column("Player", _player, words=True),
    Column("Return", lambda seat: wording.number(seat[0].returns.get(seat[1]))),
    Column(
        "Unusable",
        lambda seat: _of_seat(seat[0].unusable_decisions or {}, seat[1]),
        lambda seats: any(seat[0].unusable_decisions for seat in seats),
    ),
    Column(
        "Input tokens",
        lambda seat: _of_seat({s: t.input for s, t in seat[0].tokens.items()}, seat[1]),
        lambda seats: any(seat[0].tokens for seat in seats),
    ),
    Column(
        "Output tokens",
        lambda seat: _of_seat({s: t.output for s, t in seat[0].tokens.items()}, seat[1]),
        lambda seats: any(seat[0].tokens for seat in seats),
    ),
)
