"""What an experiment would ask of models: a few episodes played without asking, added up and projected."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gym_gui.analysis.reader import OperatorRun, open_run
from gym_gui.analysis.transcript import DRY, Message, Transcript
from gym_gui.controllers.casting import Casting, cast
from gym_gui.controllers.model_slots import DRY_RUN, dry, settings_of, slots_with
from gym_gui.controllers.script_execution import OperatorScriptExecutionManager, RunResult
from gym_gui.controllers.sessions import OpenSession
from gym_gui.core.config import Experiment, OperatorConfig
from gym_gui.core.errors import MosaicError

EPISODES = 2
"""Episodes of each operator that are played; each seating of the teams is among them where they swap."""

BASIS = (
    "played without a model, with random legal actions in its place: with it, episodes may be longer or "
    "shorter. Replies are counted at their greatest length. Not counted are answers that are asked for "
    "again, further calls within one decision, and what memory adds to prompts."
)


@dataclass(frozen=True)
class ModelSlot:
    """What one slot would ask.

    Attributes:
        operator: Id of its operator.
        slot: The slot.
        provider: Whose server.
        model: The model.
        messages: Its first prompt.
        prompt_tokens: About how many tokens that has.
        dry_episodes: Episodes that were played for this.
        dry_calls: Decisions it made in them.
        episodes: Episodes of the experiment.
        input_tokens: Tokens of the prompts of ``dry_calls``.
        output_tokens: The most their replies could have.
        usd: The most ``dry_calls`` could cost; ``None``: the price is not known.
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

    @property
    def factor(self) -> float:
        """How many times what was played the experiment is."""
        return self.episodes / self.dry_episodes if self.dry_episodes else 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain data, projected to the whole experiment."""
        return {
            "operator_id": self.operator,
            "slot": self.slot,
            "provider": self.provider,
            "model": self.model,
            "first_prompt": [message._asdict() for message in self.messages],
            "first_prompt_tokens": self.prompt_tokens,
            "calls": round(self.dry_calls * self.factor),
            "input_tokens": round(self.input_tokens * self.factor),
            "output_tokens_at_most": round(self.output_tokens * self.factor),
            "usd_at_most": None if self.usd is None else self.usd * self.factor,
            "dry_episodes": self.dry_episodes,
            "dry_calls": self.dry_calls,
            "episodes": self.episodes,
        }


def asks_models(experiment: Experiment) -> bool:
    """Whether some slot would ask a model."""
    return any(slots_with(operator, DRY_RUN) for operator in experiment.operators)


async def rehearse(
    experiment: Experiment,
    open_session: OpenSession,
    processes: int,
    run: Callable[[OperatorScriptExecutionManager], Awaitable[RunResult]],
) -> list[ModelSlot]:
    """Play a few episodes of the operators that ask models, without asking; leaves no file behind.

    Args:
        experiment: What would be played.
        open_session: Makes a session.
        processes: Sessions at work at the same time.
        run: Runs the manager, and stops it when the person wants that.

    Raises:
        UsageError: Something is wrong with the experiment.
        MosaicError: An episode could not be played.
    """
    asking = [o for o in experiment.operators if slots_with(o, DRY_RUN)]
    castings = [cast(o) for o in dry(Experiment(asking, experiment.execution)).operators]
    totals = {c.config.operator_id: len(experiment.execution.schedule(len(c.seatings))) for c in castings}
    short = Experiment([c.config for c in castings], _few(experiment, castings))
    with tempfile.TemporaryDirectory(prefix="mosaic-dry-") as folder:
        manager = OperatorScriptExecutionManager(
            short, castings, open_session, Path(folder), processes=processes
        )
        result = await run(manager)
        if result.problem:
            raise MosaicError(f"the dry run ended early: {result.problem}")
        played = open_run(result.folder).operators
        return [slot for o in asking for slot in _slots(o, played[o.operator_id], totals[o.operator_id])]


def _few(experiment: Experiment, castings: Sequence[Casting]) -> Any:
    wanted = max(EPISODES, *(len(casting.seatings) for casting in castings))
    episodes = min(experiment.execution.num_episodes, wanted)
    # Every operator must have its seeds; a list that is longer than needed does no harm.
    return replace(experiment.execution, num_episodes=episodes)


def _slots(operator: OperatorConfig, played: OperatorRun, episodes: int) -> list[ModelSlot]:
    rows = list(played.episodes())
    for row in rows:
        if row.error:
            raise MosaicError(f"operator {operator.operator_id!r} cannot be played: {row.error}")
    calls = [turn for turn in Transcript(played).turns() if turn.kind == DRY]
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
            )
        )
    return found
