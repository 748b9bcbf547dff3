"""Converts recorded episodes, including people's, to Minari datasets for offline learning.

A run records actions. The actions are replayed to recover the observations, and an episode that does not earn
its recorded rewards is refused.

Source:
    `Minari <https://minari.farama.org>`_: T + 1 observations, T actions and rewards an episode.
"""

from __future__ import annotations

import re
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from importlib import import_module
from math import nan
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from gymnasium import spaces

from gym_gui.analysis.exports.episode_curves import completed_episodes, nothing_to_write
from gym_gui.analysis.exports.pending_folder import environment_variables, pending_folder
from gym_gui.analysis.records.compare import EpisodeRows
from gym_gui.analysis.records.reader import OperatorRun, Run
from gym_gui.controllers.engine.bound_operator import recorded_slots
from gym_gui.controllers.engine.resolved_operator import checked_permissions, make_environment
from gym_gui.controllers.replays.replay_session import ReplayOrder
from gym_gui.controllers.replays.replayed_episode import ReplayedEpisode
from gym_gui.core.errors import EpisodeError, MissingDependencyError, UsageError
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.types import AgentID
from gym_gui.envs import Environment
from gym_gui.services.backends import SlotInfo
from gym_gui.services.runs.recorded_episode import load_episode
from mosaic_worker.failures import one_line

_PLACE: Final = "MINARI_DATASETS_PATH"


class NotStorableError(UsageError):
    """Error: a Minari dataset cannot store an operator's episodes; other operators' may still fit."""


def write_datasets(
    run: Run,
    folder: Path,
    on_left_out: Callable[[NotStorableError], None] | None = None,
    on_step: Callable[[str, int, int], None] | None = None,
) -> dict[str, int]:
    """Write a Minari dataset for each operator that has completed episodes.

    Args:
        run: The run.
        folder: Folder to which ``MINARI_DATASETS_PATH`` must point in order to load the datasets.
        on_left_out: Called with the error of each operator that Minari cannot store, if any can be stored.
        on_step: Called with every replayed decision: operator, episode and step.

    Returns:
        Number of episodes by name of the dataset.

    Raises:
        CannotHoldError: Minari can store no operator of the run.
        UsageError: An environment is not installed, an episode differs from its record when played again,
            or the folder cannot be written.
        NotAllowedError: The run names code that the user has not allowed.
        MissingDependencyError: Minari is not installed.
    """
    try:
        minari: Any = import_module("minari")
        buffers: Any = import_module("minari.data_collector")
    except ImportError:
        raise MissingDependencyError("Minari", "mosaic install minari") from None
    written: dict[str, int] = {}
    left_out: list[NotStorableError] = []
    with pending_folder(folder) as pending, environment_variables({_PLACE: str(pending)}, prefix=_PLACE):
        for operator in run.operators.values():
            done = completed_episodes(operator)
            if not done:
                continue
            name = f"{_word(run.run_id)}/{_word(operator.operator_id)}-v0"
            if (folder / name).exists():
                raise UsageError(f"{folder / name} exists already", fix="Choose another folder with -o")
            order = ReplayOrder.of(load_episode(run, operator.operator_id, done[0].episode_index))
            config, indices = order.config, [episode.episode_index for episode in done]
            checked_permissions(config, env_only=True)
            environment = make_environment(config)
            try:
                _require_one_agent(environment, operator)
                _require_spaces(environment, operator)
                _write(minari, buffers, name, run, operator, environment, indices, order.max_steps, on_step)
                (folder / name).parent.mkdir(exist_ok=True)
                (pending / name).rename(folder / name)
                written[name] = len(done)
            except NotStorableError as error:
                shutil.rmtree(pending / name, ignore_errors=True)
                left_out.append(error)
            except OSError as error:
                raise UsageError(
                    f"{folder} cannot be written: {error}", fix="Choose another with -o"
                ) from error
            finally:
                environment.close()
    if not written:
        raise left_out[0] if left_out else nothing_to_write()
    for error in left_out:
        if on_left_out is not None:
            on_left_out(error)
    return written


def _write(
    minari: Any,
    buffers: Any,
    name: str,
    run: Run,
    operator: OperatorRun,
    environment: Environment,
    indices: Sequence[int],
    max_steps: int | None,
    on_step: Callable[[str, int, int], None] | None,
) -> None:
    slots, recorded = recorded_slots(environment), EpisodeRows(operator)
    (slot,) = slots.values()
    episodes = (
        buffers.EpisodeBuffer(
            id=number,
            **_replayed_buffer(
                environment,
                slots,
                recorded.rows[index],
                list(recorded.steps(index)),
                max_steps,
                None if on_step is None else partial(on_step, operator.operator_id),
            ),
        )
        for number, index in enumerate(indices)
    )
    env = getattr(environment.adapter, "env", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about author and link, which a run does not have
        try:
            minari.create_dataset_from_buffers(
                name,
                episodes,
                env=env if getattr(env, "spec", None) is not None else None,
                observation_space=slot.observation_space,
                action_space=slot.action_space,
                algorithm_name=operator.name,
                description=f"{operator.task} as played by {operator.name} in the MOSAIC run {run.run_id}.",
                data_format="arrow",
                jpeg_encoding=False,
            )
        except (NotImplementedError, TypeError, ValueError, AssertionError) as error:
            raise _cannot_hold(operator, one_line(error)) from error


def _replayed_buffer(
    environment: Environment,
    slots: Mapping[AgentID, SlotInfo],
    line: Mapping[str, Any],
    steps: Sequence[Mapping[str, Any]],
    max_steps: int | None,
    on_step: Callable[[int, int], None] | None,
) -> dict[str, Any]:
    """Replay an episode and return the fields of Minari's episode buffer."""
    (slot,) = slots.values()
    plan = EpisodePlan(line["episode_index"], line["seed"], 0)
    again = ReplayedEpisode(plan, environment, slots, steps, max_steps)
    trajectory = again.episode.trajectory
    trajectory.wants_results = frozenset(slots)  # results contain the observation after the last action
    seen, actions, earned = list[Any](), list[Any](), list[float]()
    try:
        again.open()
        seen += [deepcopy(decision.observation) for decision in again.pending]
        for (answer,) in again.rounds():
            if on_step is not None:
                on_step(plan.index, answer.decision.step)
            actions.append(answer.action)
            latest = trajectory.latest(slot.agent_id)
            earned.append(latest.reward if latest is not None else nan)
            seen += [deepcopy(decision.observation) for decision in again.pending]
        if not again.pending:
            seen += [deepcopy(outcome.observation) for outcome in trajectory.last_outcomes()]
    except EpisodeError:
        earned = []
    over = environment.adapter.is_episode_done() or steps[-1]["truncated"]
    if not over or earned != [row["reward"] for row in steps]:
        raise UsageError(
            f"episode {line['episode_index']} differs from its record when it is replayed",
            fix="Try `mosaic verify` on its run: it names the first difference and the versions",
        )
    if len(seen) == len(steps):
        raise UsageError(
            f"the last observation of episode {line['episode_index']} is not in its observation space",
            fix="Write tables instead: --to parquet",
        )
    return {
        "seed": line["seed"],
        "observations": _stacked(slot.observation_space, seen),
        "actions": _stacked(slot.action_space, actions),
        "rewards": earned,
        "terminations": [row["terminated"] for row in steps],
        "truncations": [row["truncated"] for row in steps],
    }


def _stacked(space: Any, values: Sequence[Any]) -> Any:
    """Return values of a space stacked as Minari stores them; for a ``Dict`` space, a mapping of arrays."""
    if isinstance(space, spaces.Dict):
        entries = cast("Mapping[str, Any]", cast("Any", space).spaces)
        return {key: _stacked(part, [value[key] for value in values]) for key, part in entries.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(
            _stacked(part, [value[i] for value in values])
            for i, part in enumerate(cast("Sequence[Any]", cast("Any", space).spaces))
        )
    if isinstance(space, spaces.Text):
        return list(values)
    return np.asarray(values, dtype=space.dtype)


def _cannot_hold(operator: OperatorRun, why: str) -> NotStorableError:
    return NotStorableError(
        f"Minari cannot store the episodes of {operator.name} in {operator.task}: {why}",
        fix="Write tables instead: --to parquet",
    )


def _require_one_agent(environment: Environment, operator: OperatorRun) -> None:
    agents = environment.adapter.possible_agents
    if len(agents) != 1 or environment.spec.api != "gymnasium":
        raise NotStorableError(
            f"{operator.name} played {operator.task} with {len(agents)} agents, but Minari supports only one",
            fix="Write tables instead: --to parquet",
        )


def _require_spaces(environment: Environment, operator: OperatorRun) -> None:
    """Check that Minari can serialize the operator's spaces.

    Raises:
        CannotHoldError: A space cannot be serialized.
    """
    serialize: Any = import_module("minari.serialization").serialize_space
    adapter = environment.adapter
    (agent,) = adapter.possible_agents
    for what, space in (
        ("observations", adapter.observation_space(agent)),
        ("actions", adapter.action_space(agent)),
    ):
        try:
            serialize(space)
        except (NotImplementedError, TypeError, ValueError) as error:
            words = " ".join(str(space).split())
            raise _cannot_hold(operator, f"its {what} are {words:.80}") from error


def _word(text: str) -> str:
    """Return a text with every character replaced by ``-`` that a dataset's name must not contain."""
    return re.sub(r"[^\w-]", "-", text)
