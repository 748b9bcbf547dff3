"""The rows of a run folder as typed objects, and the parsers that make them.

``docs/run_directory.md`` describes the files. An episode's line is written from its record
(:meth:`EpisodeRecord.to_row`). The engine writes the rows of ``steps.jsonl`` with hand-optimized code
(:mod:`gym_gui.controllers.engine.episode_rows`); :class:`StepRecord` is only for reading and as
documentation. Parsers require the keys on which statistics and verification rest, use defaults for other
keys, and keep unknown keys in ``extra``, so that a run written by a newer version stays readable.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Annotated, Any, Final, TypeAlias, TypedDict, cast

from msgspec import Meta, Struct, ValidationError, convert, field
from msgspec.structs import asdict

from gym_gui.core.enums import ActionSource, EpisodeStatus, Outcome
from gym_gui.core.errors import RunFormatError
from gym_gui.core.experiment.execution import TimeControl
from gym_gui.core.experiment.seed_lists import read_seeds
from gym_gui.core.formats import check_format
from gym_gui.core.record_fields import (
    Fields,
    boolean,
    count,
    each_value,
    integer,
    integers,
    items,
    mapping,
    number,
    number_or_none,
    strings,
    text,
)
from gym_gui.core.validation import ConfigError

SESSION, WORKER, ENVIRONMENT, SERVER = "session", "worker", "environment", "server"
"""Values of the key ``lost``: the kinds of processes that may be lost."""

_LOST_ONCE = re.compile(
    r"[^:]+: worker \S+ (?:was killed|was ended|ended with|failed)\b(?!.*, \d+ times$).*"
    r"|[^:]+: the worker .* was not started again .*"
    r"|no session could be started: .*"
    r"|the run folder cannot be written: .*",
    re.DOTALL,
)


_Count: TypeAlias = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]
_Finite: TypeAlias = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
_NO_KEY: Final = "(keys that this version does not know)"
"""Name of a field that no key of a file fills."""


class AgentRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """The player of a seat during one episode.

    Attributes:
        worker_id: The worker, for example ``"cleanrl_worker"``.
        worker_type: Its kind: ``rl``, ``llm``, ``baseline``, …
        policy: The worker's own name for its policy, or ``None``.
        slot: The configured slot whose player played the seat; differs from the seat only if seats are
            swapped.
        extra: Keys this version does not know.
    """

    worker_id: str
    worker_type: str
    policy: str | None
    slot: str
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any], name=_NO_KEY)

    def to_row(self) -> dict[str, Any]:
        """Return the player in the form of the file."""
        named = {"worker_id": self.worker_id, "worker_type": self.worker_type, "policy": self.policy}
        return {**named, **self.extra, "slot": self.slot}


class RebindingRecord(Struct, frozen=True):
    """A change of the player of a seat during an episode.

    Attributes:
        step_index: The first step of the seat that the new player decided.
        agent_id: The seat.
        worker_id: The new player's worker.
        worker_type: The worker's kind.
        policy: The worker's own name for its policy, or ``None``.
    """

    step_index: int
    agent_id: str
    worker_id: str
    worker_type: str
    policy: str | None


class TeamRecord(Struct, frozen=True):
    """Results of one team in one episode.

    Attributes:
        agents: The team's seats.
        return_: Sum of the seats' rewards (``return`` in the file), or ``None`` if not finite.
        score: The environment's own count (goals, points), or ``None`` if it has none.
    """

    agents: tuple[str, ...]
    return_: _Finite | None = field(name="return")
    score: _Finite | None

    def to_row(self) -> dict[str, Any]:
        """Return the team in the form of the file."""
        return {"agents": list(self.agents), "return": self.return_, "score": self.score}


class TokenCount(Struct, frozen=True):
    """Language-model tokens read and written."""

    input: _Count
    output: _Count


class TakebackRecord(Struct, frozen=True):
    """The beginning that an episode shares with an earlier one, because players took moves back.

    Attributes:
        episode: Index of the earlier episode.
        step: Number of shared environment steps; the rows of this episode contain these steps, too.
    """

    episode: int
    step: int


class EpisodeRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of ``episodes.jsonl``: an episode that has ended.

    Attributes:
        operator_id: The operator that played it.
        episode_index: Index within the operator's schedule, from 0.
        seed: The environment's seed, ``None`` if it was left unseeded.
        status: ``completed``, ``failed`` or ``aborted``.
        length: Environment steps.
        total_reward: Sum over all agents, or ``None`` if not finite.
        returns: Sum of rewards by seat.
        teams: Results by team.
        outcome: Win, draw or loss by team, or ``None`` if no team can win.
        success: Whether the environment reports success, or ``None``.
        terminated: The environment reached an end state.
        truncated: A limit cut the episode off.
        agents: The player of each seat at the beginning.
        rebound: Players that took over seats, in order of time.
        invalid_actions: Unusable answers by seat.
        unusable_decisions: Number of decisions by seat whose last answer was unusable after all retries;
            ``None``: written by an earlier version, which did not count them.
        unusable_causes: Unusable decisions by seat and :class:`~gym_gui.core.enums.UnusableCause`; empty in
            files of earlier versions.
        saw_everything: Seats of people who saw information that is hidden from the seat.
        saw_state: Seats whose player received the simulator's whole state.
        tokens: Language-model tokens by seat.
        error: Why the episode failed, or ``None``.
        lost: The process whose loss made the episode fail, such as ``worker`` or ``session``, or ``None``;
            the episode is played again when the run is resumed.
        started_at: ISO 8601 with offset, or ``None``.
        wall_s: Seconds from reset to end.
        trajectory_sha256: Digest of what was played, or ``None``.
        record_sha256: Digest of the episode's whole record except times, or ``None`` (earlier versions).
        limit: The player that reached a limit per episode, and which limit, if that ended the episode; else
            ``None``.
        unplayed: The episode was broken off because the run's budgets do not cover it.
        result: Who won and how, in the game's own words; ``None`` if the game has no words for it.
        taken_back: The episode that this one continues after moves were taken back, or ``None``; such an
            episode is left out of all statistics.
        time_control: How much time each side had; ``None``: no limit.
        out_of_time: Seat whose clock ran out, if that ended the episode, or ``None``; such an episode is left
            out of all statistics.
        extra: Keys this version does not know.
    """

    operator_id: str
    episode_index: _Count
    seed: int | None
    status: EpisodeStatus
    length: _Count = 0
    total_reward: _Finite | None = None
    returns: Mapping[str, _Finite | None] = field(default_factory=dict[str, Any])
    teams: Mapping[str, TeamRecord] = field(default_factory=dict[str, Any])
    outcome: Mapping[str, Outcome] | None = None
    success: bool | None = None
    terminated: bool = False
    truncated: bool = False
    agents: Mapping[str, AgentRecord] = field(default_factory=dict[str, Any])
    invalid_actions: Mapping[str, _Count] = field(default_factory=dict[str, Any])
    tokens: Mapping[str, TokenCount] = field(default_factory=dict[str, Any])
    error: str | None = None
    started_at: str | None = None
    wall_s: _Finite | None = None
    trajectory_sha256: str | None = None
    record_sha256: str | None = None
    lost: str | None = None
    rebound: tuple[RebindingRecord, ...] = ()
    unusable_decisions: Mapping[str, _Count] | None = None
    unusable_causes: Mapping[str, Mapping[str, _Count]] = field(default_factory=dict[str, Any])
    saw_everything: tuple[str, ...] = ()
    saw_state: tuple[str, ...] = ()
    limit: str | None = None
    unplayed: bool = False
    result: str | None = None
    taken_back: TakebackRecord | None = None
    time_control: TimeControl | None = None
    out_of_time: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any], name=_NO_KEY)

    def to_row(self) -> dict[str, Any]:
        """Return the episode in the form of the file, without optional keys at their default."""
        row: dict[str, Any] = {
            "operator_id": self.operator_id,
            "episode_index": self.episode_index,
            "seed": self.seed,
            "status": self.status,
            "length": self.length,
            "total_reward": self.total_reward,
            "returns": self.returns,
            "teams": {team: result.to_row() for team, result in self.teams.items()},
            "outcome": self.outcome,
            "success": self.success,
            "terminated": self.terminated,
            "truncated": self.truncated,
            "agents": {seat: agent.to_row() for seat, agent in self.agents.items()},
            "invalid_actions": self.invalid_actions,
            "tokens": {seat: asdict(tokens) for seat, tokens in self.tokens.items()},
            "error": self.error,
            "started_at": self.started_at,
            "wall_s": self.wall_s,
            "trajectory_sha256": self.trajectory_sha256,
        }
        if self.rebound:
            row["rebound"] = [asdict(change) for change in self.rebound]
        if self.unusable_decisions:
            row["unusable_decisions"] = self.unusable_decisions
        if self.unusable_causes:
            row["unusable_causes"] = self.unusable_causes
        if self.saw_everything:
            row["saw_everything"] = self.saw_everything
        if self.saw_state:
            row["saw_state"] = self.saw_state
        if self.lost:
            row["lost"] = self.lost
        if self.limit:
            row["limit"] = self.limit
        if self.unplayed:
            row["unplayed"] = True
        if self.result:
            row["result"] = self.result
        if self.taken_back:
            row["taken_back"] = asdict(self.taken_back)
        if self.time_control:
            row["time_control"] = self.time_control.to_row()
        if self.out_of_time:
            row["out_of_time"] = self.out_of_time
        row.update(self.extra)
        return row

    @property
    def left_out(self) -> bool:
        """Whether statistics ignore the episode, because moves were undone or a clock decided it."""
        return self.taken_back is not None or self.out_of_time is not None

    @property
    def is_open(self) -> bool:
        """Whether the episode is played again when the run is resumed."""
        return is_open(self.status, self.lost, self.error)


class StepRecord(Struct, frozen=True):
    """One line of ``steps.jsonl``: one agent's decision and its result.

    Attributes:
        episode_index: Index of the episode.
        step_index: Environment step within the episode, from 0.
        seed: The environment's seed.
        agent_id: The seat that acted.
        action: The action as JSON data: a number, a list, a mapping, text.
        reward: Reward that this agent received for the action, or ``None`` if not finite.
        terminated: The environment ended for this agent.
        truncated: A limit cut this agent off.
        action_source: How the action was chosen.
        state_sha: Chained digest up to and including this row.
        latency_ms: Milliseconds from the question to the answer.
        tokens: Language-model tokens of this decision.
        call_ref: Reference to a row of ``calls.jsonl``.
        value: The policy's value estimate of the state.
        option: The option in force (hierarchical agents).
        word: The action in the game's own notation; ``""`` if there is none, or in files of earlier versions.
        extra: Keys this version does not know.
    """

    episode_index: int
    step_index: int
    seed: int | None
    agent_id: str
    action: Any
    reward: float | None
    terminated: bool
    truncated: bool
    action_source: ActionSource
    state_sha: str | None
    latency_ms: float | None
    tokens: TokenCount | None = None
    call_ref: Any = None
    value: Any = None
    option: Any = None
    word: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])


class RetryRecord(Struct, frozen=True):
    """An episode that was started again because a process was lost.

    Attributes:
        operator_id: Operator that plays the episode.
        episode_index: Index of the episode.
        reason: How the process ended.
        lost: The kind of process: ``session``, ``worker`` or ``environment``.
    """

    operator_id: str
    episode_index: int
    reason: str
    lost: str = SESSION


IN_PROCESS: Final = "in_process"
"""Worker id of a policy that runs in the engine's own process."""
RENAMED: Final = "renamed"
"""Key of ``run.json``: renamings, by operator and slot."""
SEAT_NAMES: Final = "seat_names"
"""Key of ``run.json``: the game's name of the seat, such as ``White``, by operator and slot."""
TOURNAMENT: Final = "tournament"
"""Key of ``run.json``: the tournament whose pairings are the operators, if the run is a tournament."""


class RunRecord(Struct, frozen=True):
    """The content of ``run.json``: experiment, software versions and machine.

    Attributes:
        run_id: A ULID, the name of the folder.
        status: ``running``, ``completed``, ``failed`` or ``stopped``.
        experiment: The resolved experiment, which can be run again.
        seeds: The environment seeds in order (from ``seeds``, else from the experiment's ``execution``).
        versions: Version of each program and package that takes part, by name.
        machine: Platform, processor count, memory.
        commit: Git commit of the code, or ``None``.
        started_at: ISO 8601 with offset, or ``None``.
        finished_at: The same; ``None`` while the run goes on.
        retries: Episodes that were started again.
        problem: What ended the run early, or ``None``.
        extra: Keys this version does not know.
    """

    run_id: str
    status: str
    experiment: Mapping[str, Any]
    seeds: tuple[int, ...] = ()
    versions: Mapping[str, Any] = field(default_factory=dict[str, Any])
    machine: Mapping[str, Any] = field(default_factory=dict[str, Any])
    commit: str | None = None
    started_at: str | None = None
    finished_at: str | None = None
    retries: tuple[RetryRecord, ...] = ()
    problem: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def failure_score(self) -> float | None:
        """Score that the experiment gives to a failed episode, ``None`` if it defines none."""
        execution = mapping(self.experiment.get("execution")) or {}
        return number(execution.get("failure_score"))


def _tokens(value: object, where: str) -> TokenCount:
    row = Fields(value, where)
    return TokenCount(
        input=row.optional("input", count, "a count") or 0,
        output=row.optional("output", count, "a count") or 0,
    )


def _team(value: object, where: str) -> TeamRecord:
    row = Fields(value, where)
    return TeamRecord(
        agents=row.need("agents", strings, "a list of agent names"),
        return_=row.optional("return", number, "a finite number or null"),
        score=row.optional("score", number, "a finite number or null"),
    )


def _outcome(value: object, where: str) -> Outcome:
    row = Fields({"outcome": value}, where)
    return row.word("outcome", Outcome)


class _Player(TypedDict):
    worker_id: str
    worker_type: str
    policy: str | None


def _agents(row: Fields) -> dict[str, AgentRecord]:
    return {
        seat: AgentRecord(
            **_player(agent),
            slot=agent.optional("slot", text, "text") or seat,
            extra=agent.rest(),
        )
        for seat, agent in row.table("agents", Fields).items()
    }


def _player(f: Fields) -> _Player:
    return {
        "worker_id": f.optional("worker_id", text, "text") or "",
        "worker_type": f.optional("worker_type", text, "text") or "",
        "policy": f.optional("policy", text, "text"),
    }


def is_open(status: str, lost: object, error: object) -> bool:
    """Return whether an episode that has a line is played again when its run is resumed.

    These are aborted episodes, and failed episodes that failed only because a process was lost. Earlier
    versions failed an episode at the first loss of its worker and did not mark it, so that only the text of
    the error shows the loss.

    Args:
        status: The line's status.
        lost: The line's ``lost``.
        error: The line's error.
    """
    if status == EpisodeStatus.FAILED:
        return bool(lost) or (isinstance(error, str) and _LOST_ONCE.fullmatch(error) is not None)
    return status == EpisodeStatus.ABORTED


def parse_episode(row: object, where: str) -> EpisodeRecord:
    """Read one line of ``episodes.jsonl``.

    Args:
        row: The decoded JSON value.
        where: File and line, for the message.

    Raises:
        RunFormatError: A required key is missing or of the wrong type.
    """
    try:
        return convert(_with_no_unusable(row), EpisodeRecord)
    except (ConfigError, ValidationError):
        return _read_episode(row, where)


_NONE_UNUSABLE: Final[Mapping[str, Any]] = {"unusable_decisions": {}}


def _with_no_unusable(row: object) -> object:
    """Return the row with the number of unusable decisions, which is left out if no answer was unusable."""
    found = mapping(row)
    if found is None or found.get("unusable_decisions") is not None:
        return row
    invalid = mapping(found.get("invalid_actions")) or {}
    return row if any(invalid.values()) else found | _NONE_UNUSABLE


def _read_episode(row: object, where: str) -> EpisodeRecord:
    """Read a line of another version, or raise an error that says what is wrong with it."""
    f = Fields(row, where)
    outcome = f.any("outcome")
    invalid = f.table("invalid_actions", each_value(count, "a count"))
    # If no answer was unusable, the line has no number of unusable decisions.
    unusable = f.table("unusable_decisions", each_value(count, "a count"))
    return EpisodeRecord(
        operator_id=f.need("operator_id", text, "text"),
        episode_index=f.need("episode_index", count, "a whole number from 0"),
        seed=f.optional("seed", integer, "a whole number"),
        status=f.word("status", EpisodeStatus),
        length=f.need("length", count, "a whole number from 0"),
        total_reward=f.optional("total_reward", number, "a finite number or null"),
        returns=f.table("returns", number_or_none),
        teams=f.table("teams", _team),
        outcome=None if outcome is None else Fields({"outcome": outcome}, where).table("outcome", _outcome),
        success=f.optional("success", boolean, "true, false or null"),
        terminated=f.optional("terminated", boolean, "true or false") or False,
        truncated=f.optional("truncated", boolean, "true or false") or False,
        agents=_agents(f),
        invalid_actions=invalid,
        tokens=f.table("tokens", _tokens),
        error=f.optional("error", text, "text or null"),
        started_at=f.optional("started_at", text, "a time as text"),
        wall_s=f.optional("wall_s", number, "seconds"),
        trajectory_sha256=f.optional("trajectory_sha256", text, "text"),
        record_sha256=f.optional("record_sha256", text, "text"),
        lost=f.optional("lost", text, "text"),
        rebound=_rebound(f),
        unusable_decisions=unusable if unusable or not any(invalid.values()) else None,
        unusable_causes=f.table("unusable_causes", _counts),
        saw_everything=tuple(map(str, f.optional("saw_everything", items, "a list") or ())),
        saw_state=tuple(map(str, f.optional("saw_state", items, "a list") or ())),
        limit=f.optional("limit", text, "text"),
        unplayed=f.optional("unplayed", boolean, "true or false") or False,
        result=f.optional("result", text, "text"),
        taken_back=_taken_back(f, where),
        time_control=_time_control(f, where),
        out_of_time=f.optional("out_of_time", text, "text"),
        extra=f.rest(),
    )


def _taken_back(f: Fields, where: str) -> TakebackRecord | None:
    found = f.any("taken_back")
    if found is None:
        return None
    f = Fields(found, f"{where}, taken_back")
    number = "a whole number from 0"
    return TakebackRecord(f.need("episode", count, number), f.need("step", count, number))


def _time_control(f: Fields, where: str) -> TimeControl | None:
    found = f.any("time_control")
    if found is None:
        return None
    f = Fields(found, f"{where}, time_control")
    try:
        return TimeControl(
            f.need("seconds", number, "a number"), f.optional("increment_s", number, "a number") or 0.0
        )
    except ConfigError as error:
        raise RunFormatError(where, str(error)) from None


def _counts(value: object, where: str) -> Mapping[str, int]:
    return Fields({"counts": value}, where).table("counts", each_value(count, "a count"))


def parse_step(row: object, where: str) -> StepRecord:
    """Read one line of ``steps.jsonl``.

    Args:
        row: The decoded JSON value.
        where: File and line, for the message.

    Raises:
        RunFormatError: A required key is missing or of the wrong type.
    """
    f = Fields(row, where)
    tokens = f.any("tokens")
    return StepRecord(
        episode_index=f.need("episode_index", count, "a whole number from 0"),
        step_index=f.need("step_index", count, "a whole number from 0"),
        seed=f.optional("seed", integer, "a whole number"),
        agent_id=f.need("agent_id", text, "text"),
        action=f.any("action"),
        reward=f.optional("reward", number, "a finite number or null"),
        terminated=f.optional("terminated", boolean, "true or false") or False,
        truncated=f.optional("truncated", boolean, "true or false") or False,
        action_source=f.word("action_source", ActionSource),
        state_sha=f.optional("state_sha", text, "text"),
        latency_ms=f.optional("latency_ms", number, "milliseconds"),
        tokens=None if tokens is None else _tokens(tokens, where),
        call_ref=f.any("call_ref"),
        value=f.any("value"),
        option=f.any("option"),
        word=text(f.any("word")) or "",
        extra=f.rest(),
    )


def _rebound(f: Fields) -> tuple[RebindingRecord, ...]:
    return tuple(
        RebindingRecord(
            step_index=change.need("step_index", count, "a whole number from 0"),
            agent_id=change.need("agent_id", text, "text"),
            **_player(change),
        )
        for change in f.rows("rebound")
    )


def _retries(f: Fields) -> tuple[RetryRecord, ...]:
    return tuple(
        RetryRecord(
            operator_id=retry.need("operator_id", text, "text"),
            episode_index=retry.need("episode_index", count, "a whole number from 0"),
            reason=retry.optional("reason", text, "text") or "",
            lost=retry.optional("lost", text, "text") or SESSION,
        )
        for retry in f.rows("retries")
    )


def _seeds(f: Fields, experiment: Mapping[str, Any]) -> tuple[int, ...]:
    listed = f.optional("seeds", integers, "a list of whole numbers")
    execution = mapping(experiment.get("execution")) or {}
    if listed is not None:
        return listed
    try:
        return read_seeds(execution.get("seeds", ()))
    except ConfigError:
        return ()


RUN_FORMAT = 2
"""Format number of ``run.json`` and the files beside it."""
_DIGESTED = 2
"""From this format number on, each episode and each run that has ended has a digest."""


def has_digests(header: Mapping[str, Any]) -> bool:
    """Return whether a run must have digests; runs in older formats may have none."""
    form = header.get("format")
    return isinstance(form, int) and form >= _DIGESTED


def check_run_format(row: object, where: str) -> None:
    """Refuse a ``run.json`` of a newer version, because the meaning of its rows is unknown.

    Raises:
        NewerFormatError: The file's format is newer.
    """
    number = cast("dict[str, object]", row).get("format") if isinstance(row, dict) else None
    check_format(where, number, RUN_FORMAT)


def parse_run(row: object, where: str) -> RunRecord:
    """Read ``run.json``.

    Args:
        row: The decoded JSON value.
        where: The file, for the message.

    Raises:
        RunFormatError: A required key is missing or of the wrong type.
        NewerFormatError: A newer version has written the file.
    """
    f = Fields(row, where)
    check_run_format(row, where)
    if not f.has("run_id"):
        raise RunFormatError(where, "this is not a run of MOSAIC: 'run_id' is missing")
    experiment = f.optional("experiment", mapping, "an object") or {}
    return RunRecord(
        run_id=f.need("run_id", text, "text"),
        status=f.optional("status", text, "text") or "running",
        experiment=experiment,
        seeds=_seeds(f, experiment),
        versions=f.optional("versions", mapping, "an object") or {},
        machine=f.optional("machine", mapping, "an object") or {},
        commit=f.optional("commit", text, "text"),
        started_at=f.optional("started_at", text, "a time as text"),
        finished_at=f.optional("finished_at", text, "a time as text"),
        retries=_retries(f),
        problem=f.optional("problem", text, "text"),
        extra=f.rest(),
    )
