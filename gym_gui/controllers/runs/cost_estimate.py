"""Estimates the cost of an experiment's model calls from a few episodes played without models."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gym_gui.analysis.records.reader import OperatorRun, open_run
from gym_gui.analysis.transcripts.transcript import Transcript
from gym_gui.analysis.transcripts.turn import DRY, Message
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator, resolve_operator
from gym_gui.controllers.engine.session_interface import OpenSession
from gym_gui.controllers.runs.experiment_run import ExperimentRun, PlannedExperiment
from gym_gui.controllers.runs.model_slots import DRY_RUN, dry, paying_slots, settings_of, slots_with
from gym_gui.controllers.runs.operator_execution import RunResult
from gym_gui.core.config import Experiment, OperatorConfig
from gym_gui.core.errors import MosaicError
from gym_gui.core.experiment.slot_patterns import is_pattern
from gym_gui.core.experiment.spending import NOTHING, Amount
from gym_gui.core.record_fields import count, mapping, number, text
from gym_gui.envs import Environment
from gym_gui.envs.environment_page import step_limit

EPISODES = 2
"""Episodes of each operator that are played for the estimate; more if each seating needs one."""

_SEEDS_LOOKED_AT = 200
"""Largest number of seeds for which an environment's step limits are read, if limits may depend on seeds."""

BASIS = (
    "The estimate assumes replies of a usual length and episodes like those that were played for it, with "
    "random legal actions instead of a model, memory included: with the model, episodes may be longer or "
    "shorter. The bound is the cost if every episode takes all allowed steps, every question is repeated "
    "and every request sent as often as the settings allow, with the longest replies, a token for each byte "
    "and prompts twice as long as the longest in the estimate. Episodes that are played again because a "
    "process was lost are not included."
)


@dataclass(frozen=True)
class ModelSlot:
    """Estimated requests and cost of one slot that asks a model.

    Attributes:
        operator: Id of the operator.
        slot: The slot.
        provider: Name of the model's provider.
        model: The model.
        messages: Messages of the first prompt.
        prompt_tokens: Approximate number of tokens of the first prompt.
        dry_episodes: Episodes that were played for the estimate.
        dry_calls: Calls that the slot would have made in the ``dry_episodes``.
        episodes: Episodes of the experiment.
        input_tokens: Tokens of the prompts of ``dry_calls``.
        output_tokens: Tokens that replies to ``dry_calls`` would usually have.
        usd: Approximate cost of ``dry_calls``; ``None`` if the price is not known.
        steps: Most environment steps of an episode; ``None`` if the steps, or the agents of the slot, are
            unlimited.
        requests: Most requests for one decision.
        request: Largest possible cost of a request.
        limit: The user's limit for the slot in each episode; 0 for no limit.
        unreachable: Why no model would answer now; ``""`` if the server is available.
    """

    operator: str
    slot: str
    provider: str
    model: str
    messages: tuple[Message, ...]
    prompt_tokens: int
    dry_episodes: int
    dry_calls: int
    episodes: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    steps: int | None = None
    requests: int = 0
    request: Amount = NOTHING
    limit: Amount = NOTHING
    unreachable: str = ""

    @property
    def factor(self) -> float:
        """Ratio of the experiment's episodes to the episodes that were played for the estimate."""
        return self.episodes / self.dry_episodes if self.dry_episodes else 0.0

    @property
    def estimate(self) -> Amount:
        """Approximate cost of an episode; ``usd`` is 0 if the price is not known."""
        played = Amount(self.input_tokens + self.output_tokens, self.usd or 0.0)
        return played * (1 / self.dry_episodes) if self.dry_episodes else NOTHING

    @property
    def most_tokens(self) -> int | None:
        """Largest possible number of tokens of an episode; ``None`` if unbounded."""
        return _smaller(self._times(self.request.tokens), self.limit.tokens)

    @property
    def most_usd(self) -> float | None:
        """Largest possible cost of an episode in dollars; ``None`` if unbounded or the price is not known."""
        return None if self.usd is None else _smaller(self._times(self.request.usd), self.limit.usd)

    @property
    def unbounded(self) -> bool:
        """Whether an episode's cost has no upper bound in steps, tokens or money."""
        return self.most_tokens is None and (self.usd is None or self.most_usd is None)

    def _times(self, request: float) -> Any:
        return None if self.steps is None else self.steps * self.requests * request

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as plain data, projected to the whole experiment."""
        tokens, usd = self.most_tokens, self.most_usd
        return {
            "operator_id": self.operator,
            "slot": self.slot,
            "provider": self.provider,
            "model": self.model,
            "first_prompt": [message._asdict() for message in self.messages],
            "first_prompt_tokens": self.prompt_tokens,
            "calls": round(self.dry_calls * self.factor),
            "input_tokens": round(self.input_tokens * self.factor),
            "output_tokens": round(self.output_tokens * self.factor),
            "usd": None if self.usd is None else self.usd * self.factor,
            "steps_at_most": self.steps,
            "tokens_at_most": None if tokens is None else tokens * self.episodes,
            "usd_at_most": None if usd is None else usd * self.episodes,
            "unbounded": self.unbounded,
            "unreachable": self.unreachable,
            "dry_episodes": self.dry_episodes,
            "dry_calls": self.dry_calls,
            "episodes": self.episodes,
        }


def _smaller(bound: Any, limit: float) -> Any:
    return bound if not limit else limit if bound is None else min(bound, limit)


@dataclass(frozen=True)
class BudgetReach:
    """Number of episodes for which a budget suffices.

    Attributes:
        whose: Owner of the budget: ``the run``, or the operator and the slot.
        budget: The budget; 0 for no limit.
        episodes: Episodes that are to be played.
        about: Episodes for which the budget suffices at the estimated amount per episode.
        at_least: Episodes for which the budget suffices at the largest possible amount per episode; ``None``
            if that amount is unbounded.
    """

    whose: str
    budget: Amount
    episodes: int
    about: int
    at_least: int | None

    def to_json(self) -> dict[str, Any]:
        """Return the numbers of episodes as plain data."""
        return {
            "of": self.whose,
            "money_budget_usd": self.budget.usd or None,
            "token_budget": self.budget.tokens or None,
            "episodes": self.episodes,
            "episodes_carried": self.about,
            "episodes_carried_at_least": self.at_least,
        }


def carried(experiment: Experiment, slots: Sequence[ModelSlot]) -> list[BudgetReach]:
    """Return for how many episodes each budget of an experiment suffices."""
    execution = experiment.execution
    whole = Amount(execution.token_budget or 0, execution.money_budget_usd or 0.0)
    found = [_reach_of_budget("the run", whole, slots)] if whole != NOTHING and slots else []
    for operator in experiment.operators:
        for slot, budgets in paying_slots(operator.resolved_slots()).items():
            own = [s for s in slots if (s.operator, s.slot) == (operator.operator_id, slot)]
            if budgets.run != NOTHING and own:
                found.append(_reach_of_budget(f"{operator.operator_id}, {slot}", budgets.run, own))
    return found


def _reach_of_budget(whose: str, budget: Amount, slots: Sequence[ModelSlot]) -> BudgetReach:
    episodes = max(slot.episodes for slot in slots)
    about = sum((slot.estimate for slot in slots), NOTHING)
    tokens, usd = [slot.most_tokens for slot in slots], [slot.most_usd for slot in slots]
    unknown = (budget.tokens and None in tokens) or (budget.usd and None in usd)
    most = Amount(sum(t or 0 for t in tokens), sum(u or 0.0 for u in usd))
    return BudgetReach(
        whose,
        budget,
        episodes,
        _episodes_within(budget, about, episodes),
        None if unknown else _episodes_within(budget, most, episodes),
    )


def _episodes_within(budget: Amount, each: Amount, episodes: int) -> int:
    if budget.tokens and each.tokens:
        episodes = min(episodes, budget.tokens // each.tokens)
    if budget.usd and each.usd:
        episodes = min(episodes, int(budget.usd / each.usd + 1e-9))
    return episodes


async def estimate_cost(
    experiment: Experiment,
    open_session: OpenSession,
    processes: int,
    run: Callable[[ExperimentRun], Awaitable[RunResult]],
) -> list[ModelSlot]:
    """Play a few episodes without asking the models, and estimate the cost; no file stays behind.

    Args:
        experiment: The experiment to estimate.
        open_session: Makes a session.
        processes: Sessions at work at the same time.
        run: Plays the dry run to its end, and stops it at the user's request.

    Returns:
        The estimate of each slot that asks a model.

    Raises:
        UsageError: The experiment has an error that the user can fix.
        MosaicError: An episode could not be played.
    """
    asking = [o for o in experiment.operators if slots_with(o, DRY_RUN)]
    resolved_operators = [
        resolve_operator(o) for o in dry(Experiment(asking, experiment.execution)).operators
    ]
    totals = {
        c.config.operator_id: len(experiment.execution.schedule(len(c.seatings))) for c in resolved_operators
    }
    short = Experiment(
        [c.config for c in resolved_operators], _short_schedule(experiment, resolved_operators)
    )
    with tempfile.TemporaryDirectory(prefix="mosaic-dry-") as folder:
        planned = PlannedExperiment(short, resolved_operators)
        result = await run(ExperimentRun(planned, open_session, Path(folder), processes=processes))
        if result.problem:
            raise MosaicError(f"the dry run ended early: {result.problem}")
        played = open_run(result.folder).operators
        found: list[ModelSlot] = []
        for operator, resolved in zip(asking, resolved_operators, strict=True):
            limit = _steps(experiment, resolved)
            found += _slots(operator, played[operator.operator_id], totals[operator.operator_id], limit)
        return found


def _steps(experiment: Experiment, resolved: ResolvedOperator) -> int | None:
    """Return the largest number of steps of an episode; ``None`` if it is unlimited."""
    given = experiment.max_steps(resolved.config)
    environment = resolved.make_environment()
    try:
        own = environment.spec.max_episode_steps
        own = own or _longest_by_seed(environment, experiment.execution.seeds)
    finally:
        environment.close()
    limits = [limit for limit in (given, own) if limit is not None]
    return min(limits, default=None)


def _longest_by_seed(environment: Environment, seeds: Sequence[int]) -> int | None:
    """Return the largest of the environment's step limits over the seeds; ``None`` without a limit."""
    if step_limit(environment) is None or len(seeds) > _SEEDS_LOOKED_AT:
        return None
    limits: list[int] = []
    for seed in seeds:
        environment.adapter.reset(seed=seed)
        limits.append(step_limit(environment) or 0)
    return max(limits) if all(limits) else None


def _short_schedule(experiment: Experiment, resolved_operators: Sequence[ResolvedOperator]) -> Any:
    wanted = max(EPISODES, *(len(resolved.seatings) for resolved in resolved_operators))
    episodes = min(experiment.execution.num_episodes, wanted)
    # Every operator must have its seeds; a longer list than needed does no harm.
    return replace(experiment.execution, num_episodes=episodes)


def _slots(
    operator: OperatorConfig, played: OperatorRun, episodes: int, steps: int | None
) -> list[ModelSlot]:
    rows = list(played.episodes())
    for row in rows:
        if row.error:
            raise MosaicError(f"operator {operator.operator_id!r} cannot be played: {row.error}")
    calls = [turn for turn in Transcript(played).turns() if turn.kind == DRY]
    dry_rows = {str(row.get("ref")): row for row in played.calls() if row.get("kind") == DRY}
    limits = paying_slots(operator.resolved_slots())
    found: list[ModelSlot] = []
    for slot, assignment in slots_with(operator, DRY_RUN).items():
        mine = [call for call in calls if call.slot == slot]
        settings = settings_of(assignment)
        first = min(mine, key=lambda call: (call.episode, call.step, call.attempt, call.turn), default=None)
        prices = [call.usd for call in mine]
        found.append(
            ModelSlot(
                operator.operator_id,
                slot,
                str(settings.get("client_name") or ""),
                str(settings.get("model_id") or ""),
                first.messages if first else (),
                first.input_tokens if first else 0,
                len(rows),
                len(mine),
                episodes,
                sum(call.input_tokens for call in mine),
                sum(call.output_tokens for call in mine),
                None if None in prices else sum(p for p in prices if p is not None),
                None if is_pattern(slot) else steps,  # any number of agents may appear
                *_most_a_decision([dry_rows[call.ref] for call in mine], assignment.on_invalid.retry),
                limits[slot].episode if slot in limits else NOTHING,
                unreachable=text(dry_rows[mine[0].ref].get("unreachable")) or "" if mine else "",
            )
        )
    return found


def _most_a_decision(calls: Sequence[Mapping[str, Any]], asked_again: int) -> tuple[int, Amount]:
    """Return the largest number of requests for one decision and the largest cost of one request."""
    requests, request = Counter[tuple[Any, Any]](), NOTHING
    for call in calls:
        most = mapping(call.get("most")) or {}
        request = request.most(Amount(count(most.get("tokens")) or 0, number(most.get("usd")) or 0.0))
        requests[call.get("episode"), call.get("step")] += count(call.get("requests")) or 1
    return max(requests.values(), default=0) * (1 + asked_again), request
