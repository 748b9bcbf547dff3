"""Runs ``mosaic workers check`` with an environment, in a child process that plays the environment."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from gym_gui import envs
from gym_gui.controllers.child_jobs.child_job import question_of_job, report_alive, run_in_child
from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import ObservationError
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.core.spaces import sample_legal, to_space
from gym_gui.core.types import Mask, Shown
from gym_gui.envs import Environment
from gym_gui.envs import simulator as inside
from gym_gui.services.bootstrap import bootstrap_default_services
from gym_gui.services.subprocess_job import LONGEST_CALL_S, answer_job, report_progress
from gym_gui.workers.check import WorkerCheckReport, check_worker
from gym_gui.workers.contract.check_probe import SHOWN, Question
from gym_gui.workers.contract.check_rounds import EPISODES, STEPS
from gym_gui.workers.definition import WorkerTypeDefinition
from mosaic_worker.rng import bits_of

_LONGEST: Final = 200
"""Steps after which a trial episode ends even if the agent has been asked less often than the check needs."""


async def check_worker_in_child(
    worker_id: str,
    settings: Mapping[str, Any],
    env: str,
    *,
    must_play: bool,
    longest_s: float = LONGEST_CALL_S,
) -> WorkerCheckReport:
    """Check a worker as an environment's first agent, as :func:`~gym_gui.workers.check.check_worker` does.

    Args:
        worker_id: The worker, which must be installed.
        settings: Settings of the slot, which override the manifest's defaults.
        env: Environment, as an id or ``module:factory`` that :func:`gym_gui.envs.resolve` accepts.
        must_play: Whether the check fails if the worker refuses the slot.
        longest_s: Seconds after which an environment that has not returned from a call counts as hanging.

    Raises:
        UsageError: The environment is unknown, not installed, or cannot be made.
        SubprocessJobError: The environment ended the process, or did not return.
    """
    asked = {"worker": worker_id, "settings": dict(settings), "env": env, "must_play": must_play}
    played = OperatorConfig("check", worker_id, "", env, {})
    answer = await run_in_child(__name__, asked, [played], longest_s=longest_s)
    return msgspec.convert(answer, WorkerCheckReport)


# -- in the process ------------------------------------------------------------------------------


def _check() -> Any:
    asked = question_of_job()
    env, settings = asked["env"], asked["settings"]
    definition = bootstrap_default_services().workers.require_installed(asked["worker"])
    looks = "image" in definition.inputs.wanted and "rgb_array" in envs.render_modes(env)
    with contextlib.closing(envs.make(env, render_mode="rgb_array" if looks else None)) as environment:
        slot = _slot(environment, definition, settings)
    with report_alive():  # the worker is a separate process with its own time limit
        report = check_worker(definition, settings=settings or None, must_play=asked["must_play"], **slot)
    return msgspec.to_builtins(report)


def _slot(
    environment: Environment, definition: WorkerTypeDefinition, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the slot of an environment's first agent, with the questions that the check asks a worker."""
    agent, simulator = environment.adapter.possible_agents[0], environment.simulator
    return {
        "observation_space": environment.adapter.observation_space(agent),
        "action_space": environment.adapter.action_space(agent),
        "env_id": environment.spec.id,
        "action_meanings": environment.action_meanings(agent),
        "episodes": _episodes(environment, agent, definition.inputs.wanted, settings),
        "simulator": inside.as_json(simulator.description()) if simulator else "",
    }


def _episodes(
    environment: Environment, agent: str, wanted: Sequence[str], settings: Mapping[str, Any]
) -> list[list[Question]] | None:
    """Return an agent's questions in random episodes; ``None`` if fewer than two episodes have questions."""
    adapter = environment.adapter
    spaces = {each: to_space(adapter.action_space(each)) for each in adapter.possible_agents}
    describer = environment.describer(agent)
    there = {"text": describer.can_say(agent), "facts": describer.can_state(agent), "state": True}
    there["image"] = bool(environment.pictures(agent))
    view = PromptInputs.of([each for each in wanted if there.get(each)], settings)
    episodes: list[list[Question]] = []
    for episode in range(EPISODES):
        questions: list[Question] = []
        observations, step = adapter.reset(seed=episode), 0
        while len(questions) < STEPS and step < _LONGEST and (current := adapter.get_current_agents()):
            masks = {each: adapter.action_mask(each) for each in current}
            if agent in current:
                shown = _shown(environment, agent, observations[agent], view, masks[agent])
                questions.append(Question(episode, step, 0, observations[agent], masks[agent], shown=shown))
            actions = {
                each: sample_legal(spaces[each], masks[each], bits_of(episode, step, k))
                for k, each in enumerate(current)
            }
            observations, step = adapter.step(actions).observations, step + 1
        report_progress({})
        if questions:
            episodes.append(questions)
    return episodes if len(episodes) > 1 else None


def _shown(
    environment: Environment, agent: str, observation: Any, view: PromptInputs | None, mask: Mask | None
) -> Shown:
    try:
        return SHOWN if view is None else environment.show(agent, observation, view, mask)
    except ObservationError:
        return SHOWN


if __name__ == "__main__":
    answer_job(_check)
