"""Runs a whole training: environments, the library's agents, their loop, evaluation."""

# The library and torch are typed only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.learning.training_cycle import device_of, tensorboard
from mosaic_worker.learning.training_memory import check_buffer_memory
from mosaic_worker.learning.training_state import State, begin
from mosaic_worker.training import TrainingRun
from xuance_worker.algorithms import Algorithm
from xuance_worker.config import OffPolicyConfig, OnPolicyConfig, TeamConfig
from xuance_worker.loading import load_library
from xuance_worker.plan import Plan, plan_for
from xuance_worker.session import Session
from xuance_worker.state import restore

_SEEN = ("buf_obs", "buf_state", "buf_avail_actions")
"""Attributes of the library's copies with current observations, global states and masks."""


def train(algorithm: Algorithm, config: TeamConfig, run: TrainingRun, restored: State | None = None) -> bool:
    """Train a team into a run folder, as :class:`~mosaic_worker.learning.train_main.TrainMain` calls it.

    Raises:
        ConfigError: The algorithm cannot train in the environment.
        TrainingFailed: A number is not finite, or the environment raised.
        OSError: The folder cannot be written.
    """
    device = "cuda:0" if device_of(config.device) == "cuda" else "cpu"
    plan = plan_for(algorithm, config)
    _check_room(config, plan)
    if config.normalize_observations and config.async_envs:
        raise ConfigError("normalize_observations works only in one process; leave async_envs out")
    if plan.masks and not algorithm.masks:
        run.warn(f"{config.env_id} masks actions, which {algorithm.name} ignores")
    # Imported after the checks, because the library takes seconds to import.
    library = load_library()
    start = begin(config.seed, restored)
    kind = "continuous" if plan.bounded else "discrete"
    settings = library.library_settings(algorithm, algorithm.acting[kind], config, plan, start.seed, device)
    moments = {}
    if config.normalize_observations:
        moments = plan.moments({} if restored is None else restored.values["moments"])

    def shown(agent: str, vector: Any) -> Any:
        moments[agent].update(vector)
        return moments[agent].normalized(vector)

    agents = library.make_agents(settings, plan, shown if moments else None, learns=True)
    try:
        if restored is not None:
            restore(restored, agents)
        with tensorboard(run, start) as scalars:
            session = Session(algorithm, config, run, scalars, restored, plan, settings, agents, moments)
            _listen(agents.train_envs, session, library.FINISHED)
            return session.train()
    finally:
        agents.train_envs.close()


def _listen(envs: Any, session: Session, finished: str) -> None:
    """Report every step to the session, because the library reports episodes only in some loops.

    The library's loop reads the copies' lists of observations before a step, and stores them after it. Copies
    in one process write the next observations into the same lists, so this function replaces the lists first.
    """
    step: Callable[[Any], Any] = envs.step

    def heard(actions: Any) -> Any:
        for name in _SEEN:
            setattr(envs, name, list(getattr(envs, name)))
        result = step(actions)
        session.played(envs.num_envs, [info[finished] for info in result[4] if finished in info])
        return result

    envs.step = heard


def _check_room(config: TeamConfig, plan: Plan) -> None:
    """Check before the library allocates its buffer that the buffer fits into memory.

    Each number takes 4 bytes.
    """
    seen = sum(plan.sizes.values())
    each = 4 * (2 * seen + 8 * len(plan.agents)) + 4 * 2 * seen  # the global state has the same size
    if isinstance(config, OnPolicyConfig):
        rows = config.num_envs * (plan.limit if config.use_rnn else config.n_steps)
        check_buffer_memory("num_envs x n_steps", rows, each)
    elif isinstance(config, OffPolicyConfig):
        check_buffer_memory("buffer_size", config.buffer_size * (plan.limit if config.use_rnn else 1), each)
