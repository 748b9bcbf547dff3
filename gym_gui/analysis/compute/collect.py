"""Reads the episodes of an operator and keeps the numbers that the statistics need."""

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
"""Largest absolute return that counts as finite, so that its square does not overflow."""
_REFUSED: Final = re.compile(r"(.+?): unusable action at step ")
"""Pattern of the error of an episode that failed because a policy gave an unusable answer."""


@dataclass(slots=True)
class OptionTally:
    """Counts of a manager's option over all episodes.

    Attributes:
        chosen: Number of times the option was chosen.
        ended: Number of times by reason for the option's end.
        moves: Sum of the controller's moves.
        earned: Sum of the rewards.
    """

    chosen: int = 0
    ended: Counter[str] = field(default_factory=Counter[str])
    moves: int = 0
    earned: float = 0.0


class SquadResult(NamedTuple):
    """Return, score and outcome of a configured team in one episode, and the team whose seats it had."""

    return_: float | None
    score: float | None
    outcome: Outcome | None
    seats: str


class CompletedEpisode(NamedTuple):
    """A completed episode.

    Attributes:
        episode: Episode index.
        seed: The environment's seed.
        total: Return of all agents, ``None`` if not finite.
        length: Environment steps.
        success: Whether the environment reports a success; ``None`` if it reports nothing.
        squads: Result by configured team.
        returns: Return by configured slot.
        digest: Digest of the episode's trajectory; ``None`` if it was not recorded.
        round: Number of the round of the schedule; in a round, one seed is played once in every seating.
        unusable: Decisions without a playable answer; ``None`` if an earlier version did not count them.
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
        """Seed, round and digest, by which dependent episodes are recognized."""
        return Sample(self.seed, self.round, self.digest)


class UnfinishedEpisode(NamedTuple):
    """A failed or aborted episode, with the reason."""

    episode: int
    seed: int | None
    status: EpisodeStatus
    reason: str
    lost: bool = False
    """Whether a process was lost, so that resuming the run plays the episode again."""
    round: int = 0

    @property
    def failed(self) -> bool:
        """Whether the episode failed for another reason than a lost process."""
        return self.status is EpisodeStatus.FAILED and not self.lost


def _count() -> Counter[str]:
    return Counter()


@dataclass
class OperatorData:
    """Numbers from all recorded episodes of an operator.

    Attributes:
        played: Completed episodes that count, by index.
        halved: Completed episodes that do not count: their seed was not completed in every seating.
        unfinished: Failed and aborted episodes, by index.
        taken_back: Number of episodes in which a player took back moves; they do not count.
        out_of_time: Number of episodes that ended because a player ran out of time; they do not count.
        squads: Slots by configured team.
        agents: Worker and policy of each configured slot.
        invalid: Unusable answers by slot, in all recorded episodes.
        unusable: Decisions by slot whose last answer was unusable, in all recorded episodes.
        causes: Unusable decisions by cause; episodes recorded by earlier versions have no causes.
        uncounted: Slot by seat of each episode that an earlier version recorded without counts of decisions.
        call_tokens: Tokens of model calls by episode, input and output together.
        input_tokens: Tokens read by slot.
        output_tokens: Tokens written by slot.
        saw_everything: Number of episodes by slot in which a person saw what is hidden from the seat.
        saw_state: Number of episodes by slot in which the slot received the simulator's state.
        seatings: Number of seatings in which the schedule plays each seed.
        longest: Environment steps of the longest episode, whatever its status.
        seats: Slot by seat of each episode with swapped seats.
        seat_names: The game's name for a seat, by slot; only slots whose seat has a name.
        options: Counts by manager's slot and option, from the step rows.
        stepless: Number of completed episodes of which step rows are missing.
    """

    played: list[CompletedEpisode] = field(default_factory=list[CompletedEpisode])
    halved: list[CompletedEpisode] = field(default_factory=list[CompletedEpisode])
    unfinished: list[UnfinishedEpisode] = field(default_factory=list[UnfinishedEpisode])
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
        """Return the game's name for a seat or one-seat team, such as ``White``; else ``seat`` unchanged."""
        agents = self.squads.get(seat, (seat,))
        return self.seat_names.get(agents[0], seat) if len(agents) == 1 else seat

    def team_title(self, team: str) -> str:
        """Return the title of a configured team or slot: the name of its seat, unless seats are swapped."""
        return team if self.swapped else self.seat_title(team)

    @property
    def swapped(self) -> bool:
        """Whether the operator's policies swap seats."""
        return self.seatings > 1

    @property
    def completed(self) -> list[CompletedEpisode]:
        """All completed episodes in the order of their indices, also those that do not count."""
        return sorted((*self.played, *self.halved), key=lambda e: e.episode)

    @property
    def indices(self) -> set[int]:
        """Indices of all recorded episodes."""
        return {e.episode for e in (*self.played, *self.halved, *self.unfinished)}


def collect_episodes(operator: OperatorRun) -> OperatorData:
    """Read an operator's ``episodes.jsonl``; results go to configured teams and slots instead of seats."""
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
            unfinished = UnfinishedEpisode(episode.episode_index, episode.seed, episode.status, reason, lost)
            data.unfinished.append(unfinished)
    data.played.sort(key=lambda e: e.episode)
    data.unfinished.sort(key=lambda e: e.episode)
    if data.seats or operator.config.get("seats") == "swap":
        # A single team has no side to change: its agents change seats.
        data.seatings = max(len(data.squads), 1) if len(data.squads) != 1 else len(*data.squads.values())
    _in_rounds(data)
    return data


def _in_rounds(data: OperatorData) -> None:
    """Number the rounds, and with swapped seats set aside rounds that lack a seating.

    With some seatings missing, a team's result would include the advantage of its seats.
    """
    data.played = played = [e._replace(round=e.episode // data.seatings) for e in data.played]
    data.unfinished = [e._replace(round=e.episode // data.seatings) for e in data.unfinished]
    complete = Counter(e.round for e in played if e.total is not None)
    if data.seatings > 1:
        data.played = [e for e in played if complete[e.round] == data.seatings]
        data.halved = [e for e in played if complete[e.round] < data.seatings]


def _play(episode: EpisodeRecord, slot_of: Mapping[str, str]) -> CompletedEpisode:
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
    return CompletedEpisode(
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
    """Return the name of the configured team that played in the seats of team ``seats``.

    Seats have the names of configured slots, so this is the team whose seats have the names of the slots that
    played.
    """
    sat = {seat: slot for seat, slot in slot_of.items() if not is_pattern(slot)}
    present = {sat.get(seat, seat) for seat in episode.teams[seats].agents}
    for name, team in episode.teams.items():
        if set(team.agents) == present:
            return name
    return "+".join(sorted(present)) or seats
