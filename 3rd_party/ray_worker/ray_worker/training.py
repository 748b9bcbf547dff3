"""Runs a whole training: RLlib's algorithm, TensorBoard log, checkpoints, evaluation."""

# Ray is not among the packages that the checks install, and torch is typed only in part.

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import importlib
import logging
import math
import os
from collections.abc import Callable, Generator
from typing import Any

from mosaic_worker.failures import one_line
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.learning.training_cycle import device_of
from mosaic_worker.learning.training_memory import check_buffer_memory
from mosaic_worker.learning.training_state import State, TrainingStart, begin
from mosaic_worker.training import TENSORBOARD, TrainingRun
from ray_worker import cluster
from ray_worker.algorithms import Algorithm
from ray_worker.plan import Plan, plan_of
from ray_worker.session import Session
from ray_worker.settings import DQNConfig, IMPALAConfig, OnPolicyConfig, RayConfig, ReplayConfig, SACConfig
from ray_worker.state import put_back

_OFTEN = 50
"""Number of reports of a training with a replay buffer."""
_ENV = "mosaic"


def train(algorithm: Algorithm, config: RayConfig, run: TrainingRun, restored: State | None = None) -> bool:
    """Train a policy into a run folder, as :class:`~mosaic_worker.learning.train_main.TrainMain` calls it.

    Raises:
        ConfigError: The algorithm cannot train in the environment, or no cluster answers.
        TrainingFailed: A number is not finite, or a runner or the environment failed.
        OSError: The folder cannot be written.
    """
    if config.address:
        cluster.check_cluster(config.address)
    gpus = int(device_of(config.device, worthwhile=_given()) == "cuda")
    cluster.quiet()
    plan = plan_of(algorithm, config)
    _check_room(config, plan)
    if plan.masked:
        run.warn(f"{config.env_id} masks actions, which RLlib's networks ignore while they learn")
    start = begin(config.seed, restored)
    with cluster.connected(config.address, config.num_env_runners + 1, gpus), _scalars(run, start) as scalars:
        trained = _build(algorithm, config, plan, start, gpus)
        try:
            if restored is not None:
                put_back(trained, restored)
            return Session(algorithm.name, config, run, scalars, restored, plan, trained).train()
        finally:
            with contextlib.suppress(Exception):  # a runner may have ended
                trained.stop()


@contextlib.contextmanager
def _scalars(run: TrainingRun, start: TrainingStart) -> Generator[Any, None, None]:
    from tensorboardX import SummaryWriter

    writer = SummaryWriter(str(run.folder / TENSORBOARD), purge_step=start.purge_step)
    try:
        yield writer
    finally:
        writer.close()


# -- algorithm ---------------------------------------------------------------------


def _build(algorithm: Algorithm, config: RayConfig, plan: Plan, start: TrainingStart, gpus: int) -> Any:
    """Build RLlib's algorithm object; all its random numbers follow from one seed."""
    from ray import tune
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

    from ray_worker.rllib_env import EpisodeMetricsCallback, JointEnv, PlayedBy, make_single

    module, _, name = algorithm.config.partition(":")
    made: Any = getattr(importlib.import_module(module), name)()
    steps: Any = {seat.agent: list(seat.steps) for seat in plan.seats}
    tune.register_env(_ENV, JointEnv if plan.joint else make_single)
    context = {"env_id": config.env_id, "steps": steps if plan.joint else steps[plan.seats[0].agent]}
    more: dict[str, Any] = {}
    if getattr(config, "normalize_observations", False):
        more["env_to_module_connector"] = _filter_of(plan.joint)
    if isinstance(config, IMPALAConfig):
        more["rollout_fragment_length"] = config.rollout_fragment_length
    if config.async_envs and not plan.joint:
        more["gym_env_vectorize_mode"] = "async"
    made.environment(_ENV, env_config=context, disable_env_checking=True)
    made.env_runners(
        num_env_runners=config.num_env_runners,
        num_envs_per_env_runner=config.num_envs,
        num_cpus_per_env_runner=1,
        **more,
    )
    made.learners(num_learners=0, num_gpus_per_learner=gpus)
    made.fault_tolerance(restart_failed_env_runners=False, ignore_env_runner_failures=False)
    made.debugging(seed=start.seed, log_level="ERROR", log_sys_usage=False)
    made.callbacks(EpisodeMetricsCallback)
    made.rl_module(model_config=DefaultModelConfig(**_model(config)))
    if plan.joint:
        networks = {n: (None, seat.input_space, seat.acts, {}) for n, seat in plan.networks.items()}
        made.multi_agent(
            policies=networks, policy_mapping_fn=PlayedBy({seat.agent: seat.network for seat in plan.seats})
        )
    made.training(**_training(config, plan, start.step))
    made.reporting(min_time_s_per_iteration=0, min_sample_timesteps_per_iteration=_iteration(config))
    try:
        trained = made.build_algo()
        # From here on, the worker reports a failure itself, on one line.
        for logger in ("ray", "ray.rllib"):
            logging.getLogger(logger).setLevel(logging.CRITICAL)
        return trained
    except Exception as error:  # RLlib raises various errors for invalid settings
        found = getattr(error, "cause", None) or error
        raise ConfigError(
            f"{algorithm.name} cannot be trained with these settings: {one_line(found)}"
        ) from error


def _filter_of(joint: bool) -> Callable[..., Any]:
    def made(*_: Any, **__: Any) -> Any:
        from ray.rllib.connectors.env_to_module import MeanStdFilter

        return MeanStdFilter(multi_agent=joint)

    return made


def _model(config: RayConfig) -> dict[str, Any]:
    told: dict[str, Any] = {"fcnet_hiddens": list(config.hidden), "fcnet_activation": config.activation}
    if isinstance(config, OnPolicyConfig):
        told["vf_share_layers"] = config.vf_share_layers
    if isinstance(config, SACConfig):
        told |= {
            "fusionnet_hiddens": list(config.hidden[-1:]) or [256],
            "fusionnet_activation": config.activation,
        }
    return told


def _training(config: RayConfig, plan: Plan, step: int) -> dict[str, Any]:
    told = config.arguments()
    if isinstance(config, ReplayConfig):
        kind = "MultiAgentEpisodeReplayBuffer" if plan.joint else "EpisodeReplayBuffer"
        told["replay_buffer_config"] = {"type": kind, "capacity": config.buffer_size}
    if isinstance(config, DQNConfig):
        left = max(1, config.epsilon_timesteps - step)
        fallen = min(1.0, step / config.epsilon_timesteps)
        now = 1.0 + (config.final_epsilon - 1.0) * fallen
        told["epsilon"] = [(0, now), (left, config.final_epsilon)]
    return told


def _iteration(config: RayConfig) -> int:
    """Return the smallest number of steps of one RLlib iteration."""
    if isinstance(config, ReplayConfig):
        return max(1, min(1000, config.total_steps // _OFTEN))
    return config.train_batch_size


def _check_room(config: RayConfig, plan: Plan) -> None:
    """Check before RLlib fills its buffer that the buffer fits into memory."""
    seen = sum(4 * math.prod(seat.input_space.shape) for seat in plan.seats)
    acts = sum(8 * math.prod(seat.acts.shape or (1,)) for seat in plan.seats)
    if isinstance(config, ReplayConfig):
        check_buffer_memory("buffer_size", config.buffer_size, seen + acts + 24)
    else:
        check_buffer_memory("train_batch_size", config.train_batch_size, seen + acts + 24)


def _given() -> bool:
    """Return whether this training was given a GPU by the program that started it."""
    return bool(os.environ.get("CUDA_VISIBLE_DEVICES"))
