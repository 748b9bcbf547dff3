"""Settings of DDPG, TD3 and SAC trainings."""

from __future__ import annotations

from typing import Any

from cleanrl_worker.config.replay import ReplayConfig, learning_starts
from mosaic_worker.learning import training_fields as fields
from mosaic_worker.learning.training_settings import Width


def hidden(default: tuple[int, ...]) -> Any:
    """Return the setting ``hidden``."""
    return fields.hidden(default, "Widths of the hidden layers of actor and critics.", min_length=1)


class ContinuousConfig(ReplayConfig):
    """Settings for learning bounded continuous actions from a replay buffer.

    Rates are those of CleanRL; layers, batch, start and length are sized for Pendulum-v1 in minutes on one
    core (CleanRL, for MuJoCo: hidden 256 256, batch_size 256, learning_starts 5000 or 25000).
    """

    env_id: str = fields.environment("Pendulum-v1")
    total_steps: int = fields.total_steps(30_000)
    learning_rate: float = fields.learning_rate(
        3e-4, "Adam's step size for the actor, and for the critics unless they have their own."
    )
    hidden: tuple[Width, ...] = hidden((128, 128))


class DDPGConfig(ContinuousConfig):
    """DDPG for bounded continuous actions: an actor follows the gradient of its critic."""

    exploration_noise: float = fields.exploration_noise(0.1)


class TD3Config(DDPGConfig):
    """Twin delayed DDPG for bounded continuous actions: two critics, smoothed targets, a delayed actor.

    Rate, batch and start are those of Stable-Baselines3's TD3; layers are those of CleanRL.
    """

    learning_rate: float = fields.learning_rate(1e-3, "Adam's step size for the actor and the critics.")
    batch_size: int = fields.minibatch_size(256, ge=1, le=65_536)
    learning_starts: int = learning_starts(100)
    hidden: tuple[Width, ...] = hidden((256, 256))
    policy_frequency: int = fields.policy_delay(2, le=None)
    policy_noise: float = fields.target_noise(0.2)
    noise_clip: float = fields.target_noise_limit(0.5)


class SACConfig(ContinuousConfig):
    """Soft actor-critic for bounded continuous actions: maximizes the return plus the policy's entropy."""

    q_learning_rate: float = fields.learning_rate(
        1e-3, "Adam's step size for the critics and the temperature.", title="Critics' learning rate"
    )
    autotune: bool = fields.tune_temperature(True)
    alpha: float = fields.temperature(0.2)
