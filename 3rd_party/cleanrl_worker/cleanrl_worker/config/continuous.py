"""Settings of DDPG, TD3 and SAC trainings."""

from __future__ import annotations

from pydantic import Field

from cleanrl_worker.config.base import MAIN, Width, widths
from cleanrl_worker.config.replay import ReplayConfig, batch, starts
from mosaic_worker.learning.training_settings import rate, steps


class ContinuousConfig(ReplayConfig):
    """What learning bounded continuous actions from a replay buffer needs.

    Rates are those of CleanRL; layers, batch, start and length are sized for Pendulum-v1 in minutes on one
    core (CleanRL, for MuJoCo: hidden 256 256, batch_size 256, learning_starts 5000 or 25000).
    """

    env_id: str = Field(
        "Pendulum-v1",
        title="Environment",
        description="Gymnasium id of the environment (package:Id-v0 imports package first).",
    )
    total_steps: int = steps(30_000)
    learning_rate: float = rate(
        3e-4, "Adam's step size for the actor, and for the critics where they have none of their own."
    )
    hidden: tuple[Width, ...] = widths((128, 128), "Widths of the hidden layers of actor and critics.")


class DDPGConfig(ContinuousConfig):
    """Deep deterministic policy gradient for bounded continuous actions: an actor climbs its critic."""

    exploration_noise: float = Field(
        0.1,
        ge=0,
        le=10,
        title="Exploration noise",
        description="Standard deviation of the noise on actions, where the bounds are -1 and 1.",
        json_schema_extra=MAIN,
    )


class TD3Config(DDPGConfig):
    """Twin delayed DDPG for bounded continuous actions: two critics, smoothed targets, a patient actor.

    Rate, batch and start are those of Stable-Baselines3's TD3; layers, those of CleanRL.
    """

    learning_rate: float = rate(1e-3, "Adam's step size for the actor and the critics.")
    batch_size: int = batch(256)
    learning_starts: int = starts(100)
    hidden: tuple[Width, ...] = widths((256, 256), "Widths of the hidden layers of actor and critics.")
    policy_frequency: int = Field(
        2, ge=1, title="Policy frequency", description="Gradient steps of the critics for one of the actor."
    )
    policy_noise: float = Field(
        0.2,
        ge=0,
        le=10,
        title="Target noise",
        description="Standard deviation of the noise that smooths the target's action.",
    )
    noise_clip: float = Field(
        0.5, ge=0, le=10, title="Target noise limit", description="Largest noise on the target's action."
    )


class SACConfig(ContinuousConfig):
    """Soft actor-critic for bounded continuous actions: as much return and as much chance as possible."""

    q_learning_rate: float = rate(
        1e-3, "Adam's step size for the critics and the temperature.", "Critics' learning rate"
    )
    autotune: bool = Field(
        True,
        title="Tune the temperature",
        description="Keep the entropy of the policy at minus the number of action components.",
    )
    alpha: float = Field(
        0.2,
        gt=0,
        le=1000,
        title="Temperature",
        description="Weight of the entropy: where it starts when it is tuned, else what it stays at.",
    )
