"""Parses recorded replies of language models with today's parser, and reports decisions that would differ.

The recorded actions are played again in the environment, as for
:mod:`gym_gui.controllers.reexecution.verification`. This gives the legal actions and their names at every
decision. The worker's own module (``record.reread`` in its manifest) parses the replies. No model is asked,
and the run stays unchanged.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Any, Final, cast

import orjson

from gym_gui.analysis import Run
from gym_gui.analysis.records.compare import EpisodeRows
from gym_gui.analysis.records.recorded_calls import Attempts, RecordedCalls
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.reexecution.divergence import Divergence
from gym_gui.controllers.reexecution.verification import Verification, experiment_of, verify
from gym_gui.controllers.runs.model_slots import CALLS
from gym_gui.controllers.runs.script_execution import OnProgress
from gym_gui.core.config import OperatorConfig
from gym_gui.core.enums import FALLBACKS, ActionSource
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.core.plain_data import action_from_plain, to_plain
from gym_gui.core.record_fields import mapping
from gym_gui.core.spaces import space_to_spec
from gym_gui.core.types import REFUSED, AgentID, Decision, Shown
from gym_gui.services.backends import SlotInfo
from gym_gui.services.module_query import NoAnswerError, ask
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.discovery import find_workers
from gym_gui.workers.registry import WorkerTypeRegistry
from mosaic_worker.renaming import Names

_CHOSEN_BY_POLICY: Final = frozenset({ActionSource.POLICY, ActionSource.RETRY, ActionSource.OPTION})
_RENAMING_SETTINGS: Final = ("rename", "rename_seed", "hide_legal")
_AT_ONCE: Final = 1_000
"""Number of decisions that are sent to a worker's parser process in one batch."""
OnAsked = Callable[[str, Decision], None]
"""Callback for each replayed decision; gets the operator's id and the decision."""


class ReparseResult(StrEnum):
    """Result of parsing the recorded replies of a decision again."""

    SAME = "same"
    DIFFERS = "differs"
    NEWLY_READABLE = "newly_readable"
    NO_LONGER_READABLE = "no_longer_readable"


@dataclass(frozen=True)
class RereadDecision:
    """Decision whose recorded replies give another result when they are parsed today.

    Attributes:
        operator_id: The operator.
        episode_index: The episode.
        step_index: The step, from 0.
        agent_id: The agent.
        kind: How the decision differs.
        recorded: The action that was parsed in the recorded run; ``None`` if none could be parsed.
        now: The action that is parsed today; ``None`` if none can be parsed.
        recorded_word: Name of ``recorded``; ``""`` if there is none.
        now_word: Name of ``now``; ``""`` if there is none.
        why: Why the result differs, as a sentence without a full stop.
        reply: The end of the reply that gives today's result.
    """

    operator_id: str
    episode_index: int
    step_index: int
    agent_id: AgentID
    kind: ReparseResult
    recorded: Any
    now: Any
    recorded_word: str
    now_word: str
    why: str
    reply: str


@dataclass
class OperatorReread:
    """Results of parsing one operator's recorded replies again.

    Attributes:
        operator_id: The operator.
        name: Display name of the operator.
        counts: Number of decisions by result.
        unrecorded: Decisions of the operator's models without a recorded reply.
    """

    operator_id: str
    name: str
    counts: dict[ReparseResult, int] = field(default_factory=lambda: dict.fromkeys(ReparseResult, 0))
    unrecorded: int = 0


@dataclass
class Reparsing:
    """Results of parsing a run's recorded replies again.

    Attributes:
        operators: Operators whose models were asked, in order.
        changed: Decisions that would differ, in order.
        divergences: First differences of episodes from the record; their later replies were not parsed.
        versions: Package versions that differ from the run's: name to (then, now).
    """

    operators: list[OperatorReread] = field(default_factory=list[OperatorReread])
    changed: list[RereadDecision] = field(default_factory=list[RereadDecision])
    divergences: list[Divergence] = field(default_factory=list[Divergence])
    versions: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])


@dataclass(frozen=True, slots=True)
class _Question:
    """A decision of a language model, with the recorded replies."""

    episode: int
    step: int
    agent: AgentID
    slot: AgentID
    text: str
    choices: tuple[tuple[int, str], ...]
    mask: Any
    attempts: Attempts

    def to_json(self) -> dict[str, Any]:
        choices = [list(choice) for choice in self.choices]
        return {"text": self.text, "choices": choices, "mask": self.mask, "attempts": self.attempts}


class _DecisionCollector:
    """Collects every decision of a language model while the run is replayed."""

    def __init__(
        self, readers: Mapping[str, Mapping[AgentID, WorkerTypeDefinition]], on_asked: OnAsked | None
    ) -> None:
        self._readers, self._on_asked = readers, on_asked
        self.resolved: dict[str, ResolvedOperator] = {}
        self.calls: dict[str, RecordedCalls] = {}
        self.names: dict[tuple[str, AgentID], Names] = {}
        self.questions: dict[str, list[_Question]] = {operator: [] for operator in readers}
        self.unrecorded: dict[str, list[tuple[int, int, AgentID]]] = {operator: [] for operator in readers}

    def views(self, resolved: ResolvedOperator) -> Mapping[AgentID, PromptInputs]:
        operator = resolved.config.operator_id
        self.resolved[operator] = resolved
        views = {
            slot: _view(_settings(resolved.config, slot, worker))
            for slot, worker in self._readers.get(operator, {}).items()
        }
        if any(view.rename != "none" for view in views.values()):
            with contextlib.closing(resolved.make_environment()) as environment:
                for slot, view in views.items():
                    self.names[operator, slot] = environment.other_names(slot, view)
        return views

    def asked(self, operator_id: str, decision: Decision) -> None:
        d = decision
        if self._on_asked is not None:
            self._on_asked(operator_id, d)
        if d.slot not in self._readers.get(operator_id, ()):
            return
        attempts = self.calls[operator_id].of(d.episode, d.agent_id, d.step)
        if not attempts:
            self.unrecorded[operator_id].append((d.episode, d.step, d.agent_id))
            return
        shown = d.shown or Shown()
        # Names of actions depend on the position only if choices are offered.
        text = shown.text if shown.choices else ""
        mask = None if d.action_mask is None else to_plain(d.action_mask)
        choices = tuple((int(choice.action), choice.word) for choice in shown.choices)
        self.questions[operator_id].append(
            _Question(d.episode, d.step, d.agent_id, d.slot, text, choices, mask, attempts)
        )


@dataclass(frozen=True)
class RecordedReplies:
    """Recorded replies of a run, each with the prompt text that the model got.

    Attributes:
        run: The run.
        readers: The worker that parses the replies, by operator and slot.
        onlooker: The decisions that were collected while the run was replayed.
        verified: Differences between the replay and the record.
    """

    run: Run
    readers: Mapping[str, Mapping[AgentID, WorkerTypeDefinition]]
    onlooker: _DecisionCollector
    verified: Verification


async def recorded_replies(
    run: Run, on_progress: OnProgress | None = None, on_asked: OnAsked | None = None
) -> RecordedReplies:
    """Replay a run and collect the prompt texts of its language models' decisions.

    Args:
        run: The run.
        on_progress: Called after every replayed episode.
        on_asked: Called with the operator's id and every replayed decision.

    Raises:
        UsageError: No language model played, no reply is recorded, or the environment is not installed.
        RunFormatError: A row is damaged.
    """
    readers = _readers(run)
    onlooker = _DecisionCollector(readers, on_asked)
    for operator_id in readers:
        onlooker.calls[operator_id] = _calls(run, operator_id)
    return RecordedReplies(run, readers, onlooker, await verify(run, on_progress, onlooker))


async def reparse(replies: RecordedReplies) -> Reparsing:
    """Parse recorded replies again with the workers' parsers, without stepping any environment.

    Args:
        replies: The recorded replies of a run.

    Raises:
        RunFormatError: A row is damaged.
        NoAnswerError: The worker cannot parse replies on this machine.
    """
    run, readers, onlooker, verified = replies.run, replies.readers, replies.onlooker, replies.verified
    result = Reparsing(versions=verified.versions)
    ends = _ends(verified, result)
    for operator_id, slots in readers.items():
        operator = run.operators[operator_id]
        outcome = OperatorReread(operator_id, operator.name)
        result.operators.append(outcome)
        rows = _RowIndex(EpisodeRows(operator))
        outcome.unrecorded = sum(rows.chosen(*place) for place in onlooker.unrecorded[operator_id])
        config = onlooker.resolved[operator_id].config
        for slot, worker in slots.items():
            settings = _settings(config, slot, worker)
            questions = (q for q in onlooker.questions[operator_id] if q.slot == slot)
            within = (q for q in questions if q.step < ends.get((operator_id, q.episode), q.step + 1))
            resolved = onlooker.resolved[operator_id]
            names = onlooker.names.get((operator_id, slot), Names())
            async for question, reading in _readings(worker, resolved, slot, settings, within, names):
                changed = _compared(operator_id, resolved.slots[slot], question, reading, rows, names)
                outcome.counts[changed.kind if changed else ReparseResult.SAME] += 1
                if changed is not None:
                    result.changed.append(changed)
    order = {operator_id: at for at, operator_id in enumerate(readers)}
    result.changed.sort(key=lambda c: (order[c.operator_id], c.episode_index, c.step_index))
    return result


def _readers(run: Run) -> dict[str, dict[AgentID, WorkerTypeDefinition]]:
    """Return the slots whose worker can parse recorded replies again, by operator."""
    found: dict[str, dict[AgentID, WorkerTypeDefinition]] = {}
    for operator in experiment_of(run).operators:
        slots = operator.resolved_slots()
        find_workers(assignment.worker_id for assignment in slots.values())
        readers: dict[AgentID, WorkerTypeDefinition] = {}
        for slot, assignment in slots.items():
            definition = WorkerTypeRegistry.get(assignment.worker_id)
            if definition is not None and definition.reread:
                readers[slot] = definition
        if readers:
            found[operator.operator_id] = readers
    if not found:
        raise UsageError(
            f"no operator of {run.path} is played by a language model whose replies can be parsed again",
            fix="To replay its actions, use mosaic verify",
        )
    return found


def _calls(run: Run, operator_id: str) -> RecordedCalls:
    calls = RecordedCalls(run.operators[operator_id])
    if not calls.total:
        raise UsageError(
            f"{run.path} has no recorded calls of operator {operator_id!r}",
            fix=f"Calls are in operators/{operator_id}/{CALLS}: copy the whole run folder",
        )
    if calls.without_words == calls.total:
        raise UsageError(
            f"{run.path} holds no reply of operator {operator_id!r}: it was recorded with cassette 'off'",
            fix="Play it again with cassette 'record'",
        )
    return calls


def _ends(verified: Verification, result: Reparsing) -> dict[tuple[str, int], int]:
    """Return the first differing step of each episode, from which replies are not parsed.

    The differences are added to ``result``.
    """
    ends: dict[tuple[str, int], int] = {}
    for divergence in verified.divergences:
        if (
            divergence.operator_id is None
            or divergence.episode_index is None
            or divergence.step_index is None
        ):
            continue  # such a difference has no influence on replies
        ends[divergence.operator_id, divergence.episode_index] = divergence.step_index
        result.divergences.append(divergence)
    return ends


class _RowIndex:
    """Step rows by (step, agent); caches the rows of the last requested episode."""

    def __init__(self, rows: EpisodeRows) -> None:
        self._rows = rows
        self._episode: int | None = None
        self._known: dict[tuple[Any, Any], Mapping[str, Any]] = {}

    def find(self, episode: int, step: int, agent: AgentID) -> Mapping[str, Any] | None:
        """Return the row of a decision; ``None`` if the record has none."""
        if episode != self._episode:
            rows = self._rows.steps(episode)
            self._known = {(row.get("step_index"), row.get("agent_id")): row for row in rows}
            self._episode = episode
        return self._known.get((step, agent))

    def chosen(self, episode: int, step: int, agent: AgentID) -> bool:
        """Return whether the policy itself chose the action, rather than a fallback."""
        row = self.find(episode, step, agent)
        return row is not None and row.get("action_source") in _CHOSEN_BY_POLICY


def _view(settings: Mapping[str, Any]) -> PromptInputs:
    """Return the prompt inputs for a slot's action names, including the slot's renaming settings."""
    shown = PromptInputs.of(("text",), {key: settings[key] for key in _RENAMING_SETTINGS if key in settings})
    return shown or PromptInputs(text=True)


def _settings(config: OperatorConfig, slot: AgentID, worker: WorkerTypeDefinition) -> dict[str, Any]:
    secret = {setting.name for setting in worker.settings_schema if setting.kind == "secret"}
    given = worker.with_defaults(config.resolved_slots()[slot].settings)
    return {name: value for name, value in given.items() if name not in secret}


async def _readings(
    worker: WorkerTypeDefinition,
    resolved: ResolvedOperator,
    slot: AgentID,
    settings: Mapping[str, Any],
    questions: Iterable[_Question],
    names: Names,
) -> AsyncIterator[tuple[_Question, Mapping[str, Any]]]:
    """Yield each decision with the result of the worker's parser for its replies."""
    info = resolved.slots[slot]
    about = {
        "agent": slot,
        "env": resolved.env_id,
        "action_meanings": list(map(names.action, info.action_meanings)),
        "action_space": space_to_spec(info.action_space),
    }
    waiting = iter(questions)
    while some := list(islice(waiting, _AT_ONCE)):
        question = {"settings": settings, "slot": about, "decisions": [each.to_json() for each in some]}
        answer = await ask(worker, worker.reread, question)
        readings = answer.get("readings")
        if not isinstance(readings, list) or len(cast("list[Any]", readings)) != len(some):
            why = answer.get("error") or "its answer does not have the expected form"
            raise NoAnswerError(f"{worker.display_name} cannot parse the replies again: {why}")
        for each, reading in zip(some, cast("list[Any]", readings), strict=True):
            yield each, mapping(reading) or {}


def _compared(
    operator_id: str,
    slot: SlotInfo,
    question: _Question,
    reading: Mapping[str, Any],
    rows: _RowIndex,
    names: Names,
) -> RereadDecision | None:
    """Return how a decision would differ from the record today; ``None`` if it would not."""
    q, row = question, rows.find(question.episode, question.step, question.agent)
    played = row is not None and row.get("action_source") not in FALLBACKS
    then = row.get("action") if row is not None and played else None
    now, problem, reply = None, str(reading.get("problem") or ""), str(reading.get("reply") or "")
    if not problem:
        # In the form of the record, where arrays are lists in the shape of their space.
        now = to_plain(action_from_plain(slot.action_codec.space, reading.get("action")))
    if played == (not problem) and then == now:
        return None
    if played:
        kind = ReparseResult.DIFFERS if not problem else ReparseResult.NO_LONGER_READABLE
        why = problem or _other_answer(q, row, int(reading.get("attempt") or 0))
    else:
        kind = ReparseResult.NEWLY_READABLE
        why = f"then: {refused}" if row is not None and (refused := row.get(REFUSED)) else "refused then"
    word, other = (_word(slot, q, action, names) if action is not None else "" for action in (then, now))
    return RereadDecision(operator_id, q.episode, q.step, q.agent, kind, then, now, word, other, why, reply)


def _other_answer(question: _Question, row: Mapping[str, Any] | None, attempt: int) -> str:
    """Return why another action is parsed: from the same reply, or from a reply refused in the run."""
    last = len(question.attempts) - 1
    if attempt < last and row is not None and row.get("action_source") == ActionSource.RETRY:
        return f"answer {attempt + 1} of {last + 1}, which was refused then, is read now"
    return "its answer is read differently"


def _word(slot: SlotInfo, question: _Question, action: Any, names: Names) -> str:
    if isinstance(action, int):
        usual = slot.words.get(action) or str(action)
        told = names.action(usual)
        return dict(question.choices).get(action) or (usual if told == usual else f"{told} ({usual})")
    return orjson.dumps(action).decode()
