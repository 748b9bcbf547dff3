"""Decides which episodes a shard of an experiment plays, and what ``run.json`` records for merging."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gym_gui.analysis.records.reader import Run
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, needs_of
from gym_gui.controllers.runs.model_slots import paying_slots
from gym_gui.core.config import Experiment, OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.execution import BUDGETS
from gym_gui.core.experiment.shards import BY_SEEDS, SHARD, Shard, schedule_of
from gym_gui.core.experiment.spending import BUDGETS_OF_SLOTS, NOTHING
from gym_gui.core.record_fields import mapping
from gym_gui.services.experiment_file import file_settings
from gym_gui.services.experiments.experiment_identity import content_of, identity_digest


@dataclass(frozen=True)
class ShardPlan:
    """Episodes of one shard, and the entry about the shard in ``run.json``.

    Attributes:
        shard: The shard.
        only: The shard's episodes, by operator.
        record: Value of the key ``shard`` in ``run.json``.
    """

    shard: Shard
    only: Mapping[str, range]
    record: Mapping[str, Any]

    @property
    def header(self) -> dict[str, Any]:
        """Fields of ``run.json`` about the shard."""
        return {SHARD: dict(self.record)}

    def totals(self, operators: Sequence[str]) -> dict[str, int]:
        """Return the number of episodes in this shard, by operator."""
        return {operator: len(self.only.get(operator, ())) for operator in operators}


class ShardPlanner:
    """Cuts an experiment into shards; hashes the files of the players once for all shards.

    Args:
        experiment: The whole experiment.
        resolved_operators: The operators of the experiment, checked.
        coordinated: Whether a coordinator oversees all shards while they are played.

    Raises:
        UsageError: The experiment cannot be cut.
    """

    def __init__(
        self,
        experiment: Experiment,
        resolved_operators: Sequence[ResolvedOperator],
        *,
        coordinated: bool = False,
    ) -> None:
        check_cuttable(experiment, coordinated=coordinated)
        for resolved in resolved_operators:
            experiment.execution.check_seeds(len(resolved.seatings))
        self._resolved = resolved_operators
        self._by_seeds = has_budgets(experiment)
        self._scheduled = schedule_of(
            experiment.execution,
            {r.config.operator_id: len(r.seatings) for r in resolved_operators},
            by_seeds=self._by_seeds,
        )
        self._sha256 = identity_digest(experiment.to_record())
        self._named = _named_files(resolved_operators)
        self._contents: dict[str, str] = {}

    def plan(self, shard: Shard) -> ShardPlan:
        """Return the plan of one shard.

        Raises:
            UsageError: A file of a player in the shard cannot be read.
        """
        only = shard.episodes(self._scheduled)
        seatings = {each.operator_id: each.seatings for each in self._scheduled if each.seatings > 1}
        record = {
            "number": shard.number,
            "of": shard.of,
            "experiment_sha256": self._sha256,
            **({"seatings": seatings} if seatings else {}),
            **({BY_SEEDS: True} if self._by_seeds else {}),
            "episodes": {operator: list(indices) for operator, indices in only.items()},
            "contents": self._contents_of(only),
        }
        return ShardPlan(shard, only, record)

    def _contents_of(self, played: Mapping[str, object]) -> dict[str, str]:
        """Return SHA-256 digests of the files and the allowed code used in a shard, by label."""
        found: dict[str, str] = {}
        wanted: set[str] = set()
        for resolved in self._resolved:
            if resolved.config.operator_id in played:
                found |= _code(resolved.config)
                wanted.update(path for _, path in _files(resolved))
        for path, label in self._named.items():
            if path in wanted and (content := self._content(path)):
                found[f"{label} ({Path(path).name})"] = content
        return found

    def _content(self, path: str) -> str:
        """Return a file's SHA-256, which is computed once for all shards."""
        if path not in self._contents:
            try:
                self._contents[path] = content_of(Path(path))
            except OSError as error:
                raise UsageError(f"{path} cannot be read: {error.strerror}") from error
        return self._contents[path]


def plan_shard(
    experiment: Experiment,
    resolved_operators: Sequence[ResolvedOperator],
    shard: Shard,
    *,
    coordinated: bool = False,
) -> ShardPlan:
    """Return the plan of one shard; see :class:`ShardPlanner`."""
    return ShardPlanner(experiment, resolved_operators, coordinated=coordinated).plan(shard)


def check_same(plan: ShardPlan, begun: Run) -> None:
    """Refuse to resume a shard whose experiment, policies or code have changed since it began.

    Args:
        plan: The shard as it would begin now.
        begun: The run of the shard.

    Raises:
        UsageError: Something has changed.
    """
    before = mapping(begun.record.extra.get(SHARD)) or {}
    contents = mapping(before.get("contents")) or {}
    other = [what for what, sha in plan.record["contents"].items() if contents.get(what, sha) != sha]
    if plan.record["experiment_sha256"] != before.get("experiment_sha256"):
        other.insert(0, "the experiment")
    if other:
        raise UsageError(
            f"{other[0]} has changed since {begun.path} was begun",
            fix=f"Restore the old content, or begin the shard again: --shard {plan.shard}",
        )


def check_cuttable(experiment: Experiment, *, coordinated: bool = False) -> None:
    """Refuse to cut an experiment into shards if its rules need all episodes together.

    Args:
        experiment: The whole experiment.
        coordinated: Whether a coordinator oversees all shards while they are played.

    Raises:
        UsageError: The experiment plays until its comparisons are decided, or a budget holds for all of it,
            and no coordinator can enforce that.
    """
    execution = experiment.execution
    if execution.until == "decided" and not coordinated:
        raise UsageError(
            "a shard cannot be played 'until: decided', which tests the episodes of all shards together",
            fix="Leave 'until' out, play without --shard, or let MOSAIC play the shards: --executor",
        )
    given = (name for name in BUDGETS if getattr(execution, name) is not None)
    # Money and tokens are leased to coordinated shards; time cannot be shared out.
    limited = next((name for name in given if not coordinated or name not in BUDGETS_OF_SLOTS), None)
    if limited is not None:
        raise UsageError(
            f"{limited} holds for the whole run, but each shard would spend that much",
            fix="Remove this limit, or play without shards",
        )
    for operator in experiment.operators:
        for slot, slots_own in paying_slots(operator.resolved_slots()).items():
            if slots_own.run != NOTHING and not coordinated:
                raise UsageError(
                    f"the budget of {slot} of operator {operator.operator_id!r} holds for the whole run, but "
                    "each shard would spend that much",
                    fix="Limit each episode (episode_token_limit, episode_cost_limit_usd), or play without "
                    "--shard",
                )


def has_budgets(experiment: Experiment) -> bool:
    """Return whether money or tokens are limited for the whole run, for all slots or for one."""
    execution = experiment.execution
    return bool(execution.money_budget_usd or execution.token_budget) or any(
        budgets.run != NOTHING
        for operator in experiment.operators
        for budgets in paying_slots(operator.resolved_slots()).values()
    )


def _code(config: OperatorConfig) -> dict[str, str]:
    """Return SHA-256 digests of code and programs that an operator names and the user has allowed."""
    of_task = needs_of(config, env_only=True)
    named = {f"the code of {need.named}": need for need in of_task}
    others = (need for need in needs_of(config) if need not in of_task)
    named |= {f"{Path(need.named).name} of {config.operator_id}": need for need in others}
    return {what: need.subject.sha256 for what, need in named.items() if need.subject.sha256}


def _files(resolved: ResolvedOperator) -> Iterator[tuple[str, str]]:
    """Yield label and path of each file that an operator's settings name."""
    for slot, assignment in resolved.assignments.items():
        for setting in file_settings(assignment.worker_id):
            path = assignment.settings.get(setting)
            if isinstance(path, str) and path:
                yield f"{setting} of {slot} of {resolved.config.operator_id}", path


def _named_files(resolved_operators: Sequence[ResolvedOperator]) -> dict[str, str]:
    """Return a label for each file of an experiment, made from the first slot that names the file.

    So all shards use the same labels.
    """
    named: dict[str, str] = {}
    for resolved in resolved_operators:
        for label, path in _files(resolved):
            named.setdefault(path, label)
    return named
