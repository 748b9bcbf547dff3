"""Boils a run folder down to what statistics need, one row at a time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gym_gui.analysis.records.reader import OperatorRun
from gym_gui.analysis.statistics.units import Sample
from gym_gui.core.enums import EpisodeStatus, Outcome
from gym_gui.core.experiment.slot_patterns import is_pattern
from gym_gui.core.records import AgentRecord, EpisodeRecord

MOST: Final = 1e150
"""What lies further from 0 is no finite return: with its square nothing can be reckoned."""
_REFUSED: Final = re.compile(r"(.+?): unusable action at step ")
"""Error of an episode that failed at an unusable answer."""


@dataclass(slots=True)
class OptionTally:
    """How often a manager has asked for an option, and how the option ended."""

    chosen: int = 0
    ended: Counter[str] = field(default_factory=Counter[str])
    moves: int = 0
    earned: float = 0.0


class SquadResult(NamedTuple):
    """What one squad achieved in one episode, and in which team's seats it sat."""

    return_: float | None
    score: float | None
    outcome: Outcome | None
    seats: str


class Played(NamedTuple):
    """A completed episode.

    Attributes:
        episode: Episode index.
        seed: The environment's seed.
        total: Return of all agents, ``None`` if not finite.
        length: Environment steps.
        success: The environment's own word.
        squads: Result by configured team.
        returns: Return by configured slot.
        digest: Digest of all that happened in it, ``None`` where it was not recorded.
        round: Number of the schedule's round: the episodes that play one seed once in every seating.
        unusable: Decisions without a playable answer; ``None``: an earlier version has not counted them.
    """

    episode: int
    seed: int | None
    total: float | None
    length: int
    success: bool | None
    squads: Mapping[str, SquadResult]
    returns: Mapping[str, float | None]
    digest: str | None = None
    round: int = 0
    unusable: int | None = None

    @property
    def sample(self) -> Sample:
        """What tells whether it is independent of others."""
        return Sample(self.seed, self.round, self.digest)


class Unfinished(NamedTuple):
    """A failed or aborted episode."""

    episode: int
    seed: int | None
    status: EpisodeStatus
    reason: str
    lost: bool = False
    """A process failed, not a policy; the episode is played again when the run is resumed."""
    round: int = 0

    @property
    def failed(self) -> bool:
        """Whether the episode itself failed, not just a process that played it."""
        return self.status is EpisodeStatus.FAILED and not self.lost


def _count() -> Counter[str]:
    return Counter()


@dataclass
class OperatorData:
    """An operator's episodes, compact.

    Attributes:
        played: Completed episodes that count, by index.
        halved: Completed episodes that do not count: their seed was not completed in every seating.
        unfinished: Failed and aborted episodes, by index.
        taken_back: Episodes in which a player took back moves; they do not count.
        out_of_time: Episodes that ended because a player ran out of time; they do not count either.
        squads: Slots by configured team.
        agents: Who plays each configured slot.
        invalid: Unusable answers by slot, in all recorded episodes.
        unusable: Decisions by slot whose last answer was unusable, likewise.
        causes: These by cause; of earlier versions it is not known.
        uncounted: Slot by seat of episodes of earlier versions, which counted answers alone.
        call_tokens: Tokens of calls to models by episode, read and written.
        input_tokens: Tokens read by slot.
        output_tokens: Tokens written by slot.
        saw_everything: Episodes by slot that a person has played who saw what the seat may not know.
        saw_state: Episodes by slot in which it was handed the simulator's state.
        seatings: How often the schedule plays a seed, once in each seating.
        longest: Environment steps of the longest episode, whatever became of it.
        seats: Slot by seat of episodes in swapped seats.
        seat_names: What the game calls seats, by slot that it has a name for.
        options: By manager's slot and option; from the step rows.
        stepless: Completed episodes of which steps are missing; from the step rows.
    """

    played: list[Played] = field(default_factory=list[Played])
    halved: list[Played] = field(default_factory=list[Played])
    unfinished: list[Unfinished] = field(default_factory=list[Unfinished])
    taken_back: int = 0
    out_of_time: int = 0
    squads: dict[str, tuple[str, ...]] = field(default_factory=lambda: dict[str, tuple[str, ...]]())
    agents: dict[str, AgentRecord] = field(default_factory=lambda: dict[str, AgentRecord]())
    invalid: Counter[str] = field(default_factory=_count)
    unusable: Counter[str] = field(default_factory=_count)
    causes: Counter[str] = field(default_factory=_count)
    uncounted: dict[int, dict[str, str]] = field(default_factory=lambda: dict[int, dict[str, str]]())
    call_tokens: Counter[int] = field(default_factory=Counter[int])
    input_tokens: Counter[str] = field(default_factory=_count)
    output_tokens: Counter[str] = field(default_factory=_count)
    saw_everything: Counter[str] = field(default_factory=_count)
    saw_state: Counter[str] = field(default_factory=_count)
    seatings: int = 1
    longest: int = 0
    seats: dict[int, dict[str, str]] = field(default_factory=lambda: dict[int, dict[str, str]]())
    seat_names: Mapping[str, str] = field(default_factory=lambda: dict[str, str]())
    options: dict[tuple[str, str], OptionTally] = field(
        default_factory=lambda: dict[tuple[str, str], OptionTally]()
    )
    stepless: int = 0

    def seat_title(self, seat: str) -> str:
        """What people call a seat, or a team's only one: ``White``; as it is where the game has no name."""
        agents = self.squads.get(seat, (seat,))
        return self.seat_names.get(agents[0], seat) if len(agents) == 1 else seat

    def team_title(self, team: str) -> str:
        """What people call a configured team, or slot: by its seat, as long as it stays there."""
        return team if self.swapped else self.seat_title(team)

    @property
    def swapped(self) -> bool:
        """Whether seats were swapped."""
        return self.seatings > 1

    @property
    def completed(self) -> list[Played]:
        """Every completed episode by index, whether it counts or not."""
        return sorted((*self.played, *self.halved), key=lambda e: e.episode)

    @property
    def indices(self) -> set[int]:
        """Indices of all recorded episodes."""
        return {e.episode for e in (*self.played, *self.halved, *self.unfinished)}


def collect_episodes(operator: OperatorRun) -> OperatorData:
    """Read ``episodes.jsonl``; results go to the configured team and slot, not to the seat."""
    data = OperatorData(seat_names=operator.seat_names)
    for episode in operator.episodes():
        if episode.left_out:
            data.taken_back += episode.taken_back is not None
            data.out_of_time += episode.taken_back is None
            continue
        slot_of = {seat: agent.slot for seat, agent in episode.agents.items()}
        if any(seat != slot and not is_pattern(slot) for seat, slot in slot_of.items()):
            data.seats[episode.episode_index] = slot_of
        for seat, agent in episode.agents.items():
            data.agents.setdefault(slot_of[seat], agent)
            data.invalid[slot_of[seat]] += episode.invalid_actions.get(seat, 0)
        if episode.unusable_decisions is None:
            data.uncounted[episode.episode_index] = slot_of
            if (refused := _REFUSED.match(episode.error or "")) is not None:
                data.unusable[slot_of.get(refused[1], refused[1])] += 1
        for seat, decisions in (episode.unusable_decisions or {}).items():
            data.unusable[slot_of.get(seat, seat)] += decisions
        for causes in episode.unusable_causes.values():
            data.causes.update(causes)
        data.saw_everything.update(slot_of.get(seat, seat) for seat in episode.saw_everything)
        data.saw_state.update(slot_of.get(seat, seat) for seat in episode.saw_state)
        for seat, tokens in episode.tokens.items():
            data.input_tokens[slot_of.get(seat, seat)] += tokens.input
            data.output_tokens[slot_of.get(seat, seat)] += tokens.output
        for name, team in episode.teams.items():
            data.squads.setdefault(name, team.agents)
        data.longest = max(data.longest, episode.length)
        if episode.status is EpisodeStatus.COMPLETED:
            data.played.append(_play(episode, slot_of))
        else:
            reason = episode.error or (
                "stopped" if episode.status is EpisodeStatus.ABORTED else "no reason given"
            )
            lost = episode.status is EpisodeStatus.FAILED and episode.is_open
            unfinished = Unfinished(episode.episode_index, episode.seed, episode.status, reason, lost)
            data.unfinished.append(unfinished)
    data.played.sort(key=lambda e: e.episode)
    data.unfinished.sort(key=lambda e: e.episode)
    if data.seats or operator.config.get("seats") == "swap":
        # One team changes no sides: its agents change seats.
        data.seatings = max(len(data.squads), 1) if len(data.squads) != 1 else len(*data.squads.values())
    _in_rounds(data)
    return data


def _in_rounds(data: OperatorData) -> None:
    """Number the rounds; where seats are swapped, a seed counts in every seating or not at all.

    One seating alone would credit a squad with what its seats are worth.
    """
    data.played = played = [e._replace(round=e.episode // data.seatings) for e in data.played]
    data.unfinished = [e._replace(round=e.episode // data.seatings) for e in data.unfinished]
    complete = Counter(e.round for e in played if e.total is not None)
    if data.seatings > 1:
        data.played = [e for e in played if complete[e.round] == data.seatings]
        data.halved = [e for e in played if complete[e.round] < data.seatings]


def _play(episode: EpisodeRecord, slot_of: Mapping[str, str]) -> Played:
    outcome = episode.outcome or {}
    by_slot: dict[str, list[float | None]] = {}
    for seat, value in episode.returns.items():  # a slot may have played several agents that appeared
        by_slot.setdefault(slot_of.get(seat, seat), []).append(value)
    squads = {
        _squad(episode, seats, slot_of): SquadResult(
            _finite(team.return_), _finite(team.score), outcome.get(seats), seats
        )
        for seats, team in episode.teams.items()
    }
    return Played(
        episode.episode_index,
        episode.seed,
        _finite(episode.total_reward),
        episode.length,
        episode.success,
        {name: squads[name] for name in (*(t for t in episode.teams if t in squads), *squads)},
        {slot: _finite_sum(values) for slot, values in by_slot.items()},
        episode.trajectory_sha256,
        unusable=None if episode.unusable_decisions is None else sum(episode.unusable_decisions.values()),
    )


def _finite(value: float | None) -> float | None:
    return value if value is None or abs(value) <= MOST else None


def _finite_sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return _finite(sum(known)) if known else None


def _squad(episode: EpisodeRecord, seats: str, slot_of: Mapping[str, str]) -> str:
    """The configured team that sat in the seats of a team.

    A team's seats bear the names of its configured slots, so the team whose seats are
    named like the slots that sat here is the one.
    """
    sat = {seat: slot for seat, slot in slot_of.items() if not is_pattern(slot)}
    present = {sat.get(seat, seat) for seat in episode.teams[seats].agents}
    for name, team in episode.teams.items():
        if set(team.agents) == present:
            return name
    return "+".join(sorted(present)) or seats
