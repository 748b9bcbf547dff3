"""Compares a run with a repetition by the same policies, and finds policies that chose other actions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from gym_gui.analysis import OperatorRun, Run
from gym_gui.analysis.records.compare import EpisodeRows
from gym_gui.controllers.child_jobs.verification import verify_in_child
from gym_gui.controllers.reexecution.divergence import (
    EPISODE_KEYS,
    Cause,
    Divergence,
    key_differs,
    row_differs,
)
from gym_gui.core.enums import EpisodeStatus, WorkerKind
from gym_gui.core.errors import UsageError
from gym_gui.core.record_fields import mapping, text
from gym_gui.core.types import AgentID

Episodes = Mapping[str, Collection[int]]
"""Indices of the episodes to repeat, by operator id."""
_ASK_ANEW: Final = frozenset({WorkerKind.LLM, WorkerKind.VLM})


class DifferenceCause(StrEnum):
    """Reason why a policy chose another action on the same observations in a repetition."""

    MODEL = "language_model"
    PERSON = "person"
    NOT_DETERMINISTIC = "not_deterministic"
    ANOTHER = "another_than_then"


@dataclass(frozen=True)
class DivergingPolicy:
    """A policy that chose another action on the same observations in a repetition of its run.

    Attributes:
        operator_id: The operator.
        agent_id: The policy's seat.
        worker_id: The worker.
        policy: Short name of the policy.
        episode_index: The first episode in which the policy chose another action.
        finding: Reason for the other action.
    """

    operator_id: str
    agent_id: AgentID
    worker_id: str
    policy: str
    episode_index: int
    finding: DifferenceCause


@dataclass
class OperatorRerun:
    """Comparison of one operator's repeated episodes with the record.

    Attributes:
        operator_id: The operator.
        name: Display name of the operator.
        episodes: Number of episodes that were played again.
        divergences: First difference of each episode that has one.
    """

    operator_id: str
    name: str
    episodes: int = 0
    divergences: list[Divergence] = field(default_factory=list[Divergence])


def recorded_episodes(run: Run, chosen: Collection[int] | None) -> dict[str, tuple[int, ...]]:
    """Return the episodes of a run to play again, by operator.

    Args:
        run: The run.
        chosen: Indices of the episodes; ``None`` for all that are recorded.

    Raises:
        UsageError: The run has no finished episode, or a chosen episode is not on record.
    """
    known = {o.operator_id: sorted(e.episode_index for e in o.episodes()) for o in run.operators.values()}
    every = sorted({index for indices in known.values() for index in indices})
    if not every:
        raise UsageError(f"{run.path} has no finished episode", fix="Resume it: mosaic run --resume")
    if chosen is not None and (missing := sorted(set(chosen) - set(every))):
        raise UsageError(
            f"{run.path} has no finished episode {missing[0]}",
            fix=f"Episodes {every[0]} to {every[-1]} are recorded",
        )
    return {name: tuple(i for i in of if chosen is None or i in chosen) for name, of in known.items()}


async def compare_rerun(run: Run, again: Run, episodes: Episodes) -> list[OperatorRerun]:
    """Compare repeated episodes with the record, and find the cause of each first difference.

    If an agent chose another action, the recorded actions are played up to that step. If the environment then
    gives the recorded results, the policy got the same observations and is the cause.

    Args:
        run: The record.
        again: The run of the repeated episodes; it may lack some if it was stopped.
        episodes: The episodes that were to be repeated.
    """
    results: list[OperatorRerun] = []
    for operator_id, chosen in episodes.items():
        then, now = EpisodeRows(run.operators[operator_id]), EpisodeRows(again.operators[operator_id])
        result = OperatorRerun(operator_id, run.operators[operator_id].name)
        results.append(result)
        for index in chosen:
            if index not in now.rows:
                continue
            result.episodes += 1
            divergence, acted = _first_difference(operator_id, index, then, now)
            if divergence is not None:
                step = divergence.step_index is not None
                cause = Cause.POLICY if acted else Cause.ENVIRONMENT if step else Cause.ENDING
                result.divergences.append(replace(divergence, cause=cause))
    return await _with_causes(run, results)


async def _with_causes(run: Run, results: list[OperatorRerun]) -> list[OperatorRerun]:
    """Return the results, with the environment as the cause wherever it differed no later than the policy."""
    acted = {
        r.operator_id: [
            d.episode_index for d in r.divergences if d.cause is Cause.POLICY and d.episode_index is not None
        ]
        for r in results
    }
    if not any(acted.values()):
        return results
    verified = await verify_in_child(run, only=acted)
    earlier = {
        (d.operator_id, d.episode_index): d.step_index
        for d in verified.divergences
        if d.step_index is not None
    }
    for result in results:
        for at, d in enumerate(result.divergences):
            first = earlier.get((d.operator_id, d.episode_index))
            if d.cause is Cause.POLICY and first is not None and first <= (d.step_index or 0):
                result.divergences[at] = replace(d, cause=Cause.ENVIRONMENT)
    return results


def _first_difference(
    operator_id: str, index: int, then: EpisodeRows, now: EpisodeRows
) -> tuple[Divergence | None, bool]:
    """Return the first difference of a repeated episode from its record; whether it is an agent's action."""
    recorded, played = then.rows[index], now.rows[index]
    before, after = list(then.steps(index)), list(now.steps(index))
    for old, new in zip(before, after, strict=False):
        if what := row_differs(old, new):
            same_place = (old.get("step_index"), old.get("agent_id")) == (new["step_index"], new["agent_id"])
            acted = same_place and old.get("action") != new.get("action")
            return Divergence(operator_id, index, what, old.get("step_index"), old.get("agent_id")), acted
    # The record of an episode that was stopped, or whose process was lost, just ends.
    cut = recorded["status"] == EpisodeStatus.ABORTED or bool(recorded.get("lost"))
    if len(before) > len(after):
        error = text(played.get("error"))
        what = f"played again, the episode ends before it{f' ({error})' if error else ''}"
        row = before[len(after)]
        return Divergence(operator_id, index, what, row.get("step_index"), row.get("agent_id")), False
    if cut:
        return None, False
    if len(after) > len(before):
        row = after[len(before)]
        what = "the record ends before it"
        return Divergence(operator_id, index, what, row["step_index"], row["agent_id"]), False
    what = next((w for key in EPISODE_KEYS if (w := key_differs(key, recorded, played))), "")
    return (Divergence(operator_id, index, what) if what else None), False


def suspects(run: Run, results: Iterable[OperatorRerun]) -> list[tuple[DivergingPolicy, bool]]:
    """Return the policies that chose another action although their observations were the same.

    Each policy is paired with whether one more repetition could show that it is not deterministic.
    """
    found: dict[tuple[str, str, str], tuple[DivergingPolicy, bool]] = {}
    for result in results:
        rows = _agents(run.operators[result.operator_id])
        for d in result.divergences:
            if d.cause is not Cause.POLICY or d.agent_id is None or d.episode_index is None:
                continue
            who = mapping((mapping(rows.get(d.episode_index)) or {}).get(d.agent_id)) or {}
            worker, policy = text(who.get("worker_id")) or "", text(who.get("policy")) or ""
            kind = who.get("worker_type")
            finding = DifferenceCause.MODEL if kind in _ASK_ANEW else DifferenceCause.ANOTHER
            finding = DifferenceCause.PERSON if kind == WorkerKind.HUMAN else finding
            suspect = DivergingPolicy(
                result.operator_id, d.agent_id, worker, policy, d.episode_index, finding
            )
            found.setdefault(
                (result.operator_id, worker, policy), (suspect, finding is DifferenceCause.ANOTHER)
            )
    return list(found.values())


def _agents(operator: OperatorRun) -> dict[int, Any]:
    return {e.episode_index: line.value.get("agents") for e, line in operator.episode_lines()}


def goes_another_way(second: Run, third: Run, operator_id: str, episode: int) -> bool:
    """Return whether an episode differs between two repetitions of its run."""
    runs = [EpisodeRows(run.operators[operator_id]) for run in (second, third)]
    if any(episode not in rows.rows for rows in runs):
        return False
    return _first_difference(operator_id, episode, *runs)[0] is not None


def changed_versions(run: Run, again: Run) -> dict[str, tuple[str, str]]:
    """Return versions of packages and workers that differ between two runs: name to (then, now)."""
    then, now = (
        {
            **run_.record.versions,
            **{
                str(player.get("worker_id")): player.get("version")
                for slots in (mapping(run_.record.extra.get("players")) or {}).values()
                for player in (mapping(slots) or {}).values()
                if player.get("version")
            },
        }
        for run_ in (run, again)
    )
    return {
        name: (str(then[name]), str(now[name])) for name in now if name in then and then[name] != now[name]
    }
