"""Runs a whole training: environments, the library's algorithm, TensorBoard log, checkpoints, evaluation."""

# The library and torch are typed only in part.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.noise import NormalActionNoise
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecNormalize

from mosaic_worker import gymnasium_spaces
from mosaic_worker.failures import one_line
from mosaic_worker.learning.training_arguments import check_actions_learnt
from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.learning.training_cycle import device_of, tensorboard
from mosaic_worker.learning.training_memory import check_buffer_memory
from mosaic_worker.learning.training_state import State, begin
from mosaic_worker.playing.network_policy import read_weights
from mosaic_worker.training import TrainingRun
from sb3_worker.algorithms import ALGORITHMS, Algorithm
from sb3_worker.config import (
    DDPGConfig,
    OffPolicyConfig,
    QRDQNConfig,
    RecurrentPPOConfig,
    TrainingConfig,
)
from sb3_worker.environments import (
    CNN_SIZE,
    Env,
    action_kind,
    make_environment,
    playable,
    quiet,
    steps_for,
)
from sb3_worker.families import load
from sb3_worker.library_network import arguments_of, build, load_weights, tensors_of
from sb3_worker.network import Network
from sb3_worker.policy import from_zero
from sb3_worker.session import Session
from sb3_worker.state import restore


def train(
    algorithm: Algorithm, config: TrainingConfig, run: TrainingRun, restored: State | None = None
) -> bool:
    """Train a policy into a run folder, as :class:`~mosaic_worker.learning.train_main.TrainMain` calls it.

    Raises:
        ConfigError: The algorithm cannot train in the environment.
        TrainingFailed: A number is not finite, or the environment raised.
        OSError: The folder cannot be written.
    """
    quiet()
    start = begin(config.seed, restored)
    first = make_environment(config.env_id)
    with contextlib.closing(first):
        steps = _fitting_steps(algorithm, config, first)
        sees, does = (gymnasium_spaces.describe(s) for s in (first.observation_space, first.action_space))
        masked = first.get_wrapper_attr("masks")
    if masked and not algorithm.masks:
        run.warn(f"{config.env_id} masks actions, which {algorithm.name} ignores; maskable_ppo uses them")
    envs = _copies(config, steps)
    try:
        normalizer = envs if isinstance(envs, VecNormalize) else None
        network = network_of(algorithm, config, envs, from_zero(does))
        model = _model(algorithm, config, network, envs, restored)
        if restored is not None:
            _resume(restored, run, model, normalizer)
        with tensorboard(run, start) as scalars:
            session = Session(
                algorithm.name,
                config,
                run,
                scalars,
                restored,
                model,
                normalizer,
                network,
                (sees, does),
                steps,
            )
            return session.train()
    finally:
        envs.close()


def _resume(restored: State, run: TrainingRun, model: Any, normalizer: Any) -> None:
    try:
        load_weights(model.policy, read_weights(run.folder)[1])
    except ValueError as error:
        raise ConfigError(
            f"the saved policy does not fit ({error}). Start a new training with --overwrite"
        ) from error
    restore(restored, model, normalizer)


# -- environments and model ---------------------------------------------------------------------


def _fitting_steps(algorithm: Algorithm, config: TrainingConfig, env: Env) -> list[dict[str, Any]]:
    """Return the preprocessing steps for the environment.

    Raises:
        ConfigError: The algorithm cannot learn such actions or observations.
    """
    playable(env)
    kind = action_kind(env.action_space)
    check_actions_learnt(algorithm, ALGORITHMS, kind, env.action_space, config.env_id)
    return steps_for(env.observation_space, config)


def _copies(config: TrainingConfig, steps: list[dict[str, Any]]) -> Any:
    """Make the library's vector of environments, with running statistics if the settings ask for them."""

    def maker() -> Callable[[], Any]:
        return lambda: Monitor(playable(make_environment(config.env_id, steps)))

    makers = [maker() for _ in range(config.num_envs)]
    envs: Any = SubprocVecEnv(makers) if config.async_envs else DummyVecEnv(makers)
    if not (config.normalize_observations or config.normalize_rewards):
        return envs
    space = envs.observation_space
    vector = isinstance(space, spaces.Box) and len(space.shape) == 1
    if config.normalize_observations and not vector:
        envs.close()
        raise ConfigError(f"normalize_observations is only for vectors, not for {space}; leave it out")
    return VecNormalize(
        envs,
        norm_obs=config.normalize_observations,
        norm_reward=config.normalize_rewards,
        gamma=config.gamma,
    )


def network_of(algorithm: Algorithm, config: TrainingConfig, envs: Any, does: Any) -> Network:
    """Describe the network of the library that fits the observations and settings."""
    space = envs.observation_space
    pixels = isinstance(space, spaces.Box) and len(space.shape) == 3 and min(space.shape[1:]) >= CNN_SIZE
    options: dict[str, Any] = {}
    if isinstance(config, RecurrentPPOConfig):
        options["lstm_hidden_size"] = config.lstm_size
    if isinstance(config, QRDQNConfig):
        options["n_quantiles"] = config.n_quantiles
    if algorithm.name == "ddpg":
        options["n_critics"] = 1
    if getattr(config, "use_sde", False):
        options["use_sde"] = True
    return Network(
        family=algorithm.family,
        observation_space=gymnasium_spaces.describe(space),
        action_space=does,
        features="nature_cnn" if pixels else "combined" if isinstance(space, spaces.Dict) else "flatten",
        activation="" if config.activation == "default" else config.activation,
        net_arch=None if config.hidden is None else list(config.hidden),
        options=options,
        exploration=float(getattr(config, "exploration_final_eps", 0.0)),
    )


def _model(
    algorithm: Algorithm, config: TrainingConfig, network: Network, envs: Any, restored: State | None
) -> Any:
    """Make the library's algorithm object; all its random numbers follow from one seed."""
    _check_room(config, envs)
    policy_arguments = arguments_of(network)
    sde = {"use_sde": True} if policy_arguments.pop("use_sde", False) else {}
    arguments = {**config.arguments(), **sde}
    rate = config.learning_rate
    if isinstance(config, DDPGConfig) and config.noise:
        size = int(np.prod(envs.action_space.shape))
        arguments["action_noise"] = NormalActionNoise(np.zeros(size), np.full(size, config.noise))
    policy = {"combined": "MultiInputPolicy", "nature_cnn": "CnnPolicy", "flatten": "MlpPolicy"}
    name = policy[network.features].replace("Policy", "LstmPolicy" if algorithm.recurrent else "Policy")
    try:
        model = load(algorithm.model)(
            name,
            envs,
            learning_rate=_falling(rate) if config.anneal_lr else rate,
            gamma=config.gamma,
            policy_kwargs=policy_arguments,
            device=device_of(config.device, worthwhile=network.features == "nature_cnn"),
            seed=config.seed if restored is None else restored.seed,
            **arguments,
        )
    except (AssertionError, ValueError, TypeError, RuntimeError) as error:
        raise ConfigError(
            f"{algorithm.name} cannot be trained with these settings: {one_line(error)}"
        ) from error
    # A player builds the network from its description, so both must be equal.
    load_weights(build(network), {k: t.detach().cpu() for k, t in tensors_of(model.policy).items()})
    return model


def _check_room(config: TrainingConfig, envs: Any) -> None:
    """Check before the library allocates its buffer that the buffer fits into memory."""
    seen, acts = _bytes(envs.observation_space), _bytes(envs.action_space)
    if isinstance(config, OffPolicyConfig):
        # An observation and the next one; reward, end and time limit are float32 each.
        check_buffer_memory("buffer_size", config.buffer_size, 2 * seen + acts + 12)
    else:
        check_buffer_memory("num_envs x n_steps", config.rollout, seen + acts)


def _bytes(space: Any) -> int:
    """Return the size of one observation or action in bytes, as the library stores it."""
    if isinstance(space, spaces.Dict):
        return sum(map(_bytes, space.values()))
    return math.prod(space.shape or (1,)) * np.dtype(space.dtype).itemsize


def _falling(rate: float) -> Callable[[float], float]:
    """Return a schedule that falls linearly from ``rate`` to 0; its argument falls from 1 at the start to
    0.
    """
    return lambda left: rate * left
