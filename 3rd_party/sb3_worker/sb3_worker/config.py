"""Every setting of every algorithm, with the library's own defaults where they learn."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails

MAIN: dict[str, Any] = {"x-group": "main"}
"""Marks the few settings that a form shows first."""


class ConfigError(Exception):
    """A training that cannot be run as asked; the message is one sentence for the person.

    No ``ValueError``, which pydantic would make something else of.
    """


def _rate(default: float) -> Any:
    return Field(
        default,
        gt=0,
        le=1,
        title="Learning rate",
        description="Step size of the optimizer at the start.",
        json_schema_extra=MAIN,
    )


def _steps(default: int) -> Any:
    return Field(
        default,
        ge=1,
        title="Total steps",
        description="Environment steps of the whole training, over all copies.",
        json_schema_extra=MAIN,
    )


def _batch(default: int) -> Any:
    return Field(default, ge=2, le=1_000_000, title="Minibatch", description="Steps of one gradient step.")


class TrainingConfig(BaseModel):
    """What every algorithm can be told."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    RESUMABLE: ClassVar[frozenset[str]] = frozenset({"total_steps", "device", "async_envs", "video_every"})
    """Settings that a resumed training may have changed; the rest shape what is being resumed."""
    OWN: ClassVar[frozenset[str]] = frozenset()
    """Settings handed to the library's constructor under their own names."""

    env_id: str = Field("CartPole-v1", title="Environment", description="Gymnasium id of the environment.")
    seed: int = Field(1, ge=0, lt=2**31, title="Seed", description="Everything random derives from it.")
    total_steps: int = _steps(100_000)
    num_envs: int = Field(
        1,
        ge=1,
        le=1024,
        title="Copies",
        description="Copies of the environment stepped together.",
        json_schema_extra=MAIN,
    )
    learning_rate: float = _rate(3e-4)
    gamma: float = Field(
        0.99, ge=0, le=1, title="Discount", description="Discount factor.", json_schema_extra=MAIN
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto",
        title="Device",
        description="Where the network learns; auto: a GPU where there is one and images are learnt from.",
        json_schema_extra=MAIN,
    )
    anneal_lr: bool = Field(False, title="Anneal", description="Let the learning rate fall linearly to zero.")
    hidden: tuple[int, ...] | None = Field(
        None,
        title="Hidden widths",
        description="Widths of the hidden layers; none: the library's own choice.",
        max_length=16,
    )
    activation: Literal["default", "tanh", "relu", "elu"] = Field(
        "default", title="Activation", description="Between layers; default: the library's own choice."
    )
    select: str = Field(
        "",
        title="Entry of the observation",
        description="Key to take from a Dict observation; by default image, observation or rgb, "
        "else everything in one vector.",
    )
    grayscale: bool = Field(
        False, title="Grey", description="Turn colour images to grey before anything sees them."
    )
    resize: int = Field(
        0,
        ge=0,
        le=1024,
        title="Resize",
        description="Make images this many pixels high and wide; 0: as they are.",
    )
    frame_stack: int = Field(
        1, ge=1, le=64, title="Frames", description="How many of the last observations are shown together."
    )
    normalize_observations: bool = Field(
        False,
        title="Normalise observations",
        description="Divide vectors by their running deviation; the statistics stay with the policy.",
    )
    normalize_rewards: bool = Field(
        False, title="Normalise rewards", description="Divide rewards by the deviation of the return."
    )
    async_envs: bool = Field(
        False,
        title="Environments in processes",
        description="Step each copy in a process of its own; pays where a step takes a millisecond or more.",
    )
    video_every: int = Field(
        0,
        ge=0,
        title="Video every",
        description="Film one episode of the current policy every so many steps; 0: never.",
    )

    def __init__(self, **values: Any) -> None:
        """Refuse what cannot work.

        Raises:
            ConfigError: Naming the setting and what it must be.
        """
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise ConfigError("; ".join(_sentence(found) for found in error.errors())) from error

    @model_validator(mode="after")
    def _check_widths(self) -> TrainingConfig:
        if self.hidden is not None and not all(1 <= width <= 65_536 for width in self.hidden):
            raise ValueError(f"hidden must be widths from 1 to 65536, not {list(self.hidden)}")
        return self

    def arguments(self) -> dict[str, Any]:
        """Arguments of the library's constructor that are the algorithm's own."""
        return {name: getattr(self, name) for name in sorted(self.OWN)}

    @property
    def rollout(self) -> int:
        """Steps after which the policy can be kept again: total steps are a multiple of it."""
        return self.num_envs


class OnPolicyConfig(TrainingConfig):
    """What algorithms that learn from their own rollouts can be told."""

    OWN = frozenset({"n_steps", "gae_lambda", "ent_coef", "vf_coef", "max_grad_norm"})

    n_steps: int = Field(
        256, ge=1, le=1_000_000, title="Rollout", description="Steps of each copy between two updates."
    )
    gae_lambda: float = Field(
        0.95, ge=0, le=1, title="GAE lambda", description="Lambda of generalised advantage estimation."
    )
    ent_coef: float = Field(
        0.0,
        ge=0,
        le=100,
        title="Entropy",
        description="Weight of the entropy bonus.",
        json_schema_extra=MAIN,
    )
    vf_coef: float = Field(0.5, ge=0, le=100, title="Value loss", description="Weight of the value loss.")
    max_grad_norm: float = Field(
        0.5, gt=0, le=1000, title="Gradient norm", description="Norm to which gradients are clipped."
    )

    @property
    def rollout(self) -> int:
        return self.n_steps * self.num_envs

    @model_validator(mode="after")
    def _check_rollout(self) -> OnPolicyConfig:
        if self.total_steps < self.rollout:
            raise ValueError(
                f"total_steps = {self.total_steps} is less than one rollout of "
                f"n_steps x num_envs = {self.rollout}; raise total_steps"
            )
        if self.rollout < 2:
            raise ValueError("a rollout needs at least 2 steps; raise n_steps or num_envs")
        return self


class PPOConfig(OnPolicyConfig):
    """Proximal policy optimisation (Schulman et al. 2017)."""

    OWN = OnPolicyConfig.OWN | {"batch_size", "n_epochs", "clip_range", "target_kl", "normalize_advantage"}

    num_envs: int = Field(
        8,
        ge=1,
        le=1024,
        title="Copies",
        description="Copies of the environment stepped together.",
        json_schema_extra=MAIN,
    )
    batch_size: int = _batch(256)
    n_epochs: int = Field(10, ge=1, le=1000, title="Epochs", description="Passes over each rollout.")
    clip_range: float = Field(
        0.2, gt=0, le=10, title="Clip", description="How far the probability ratio may move."
    )
    target_kl: float | None = Field(
        None,
        gt=0,
        le=100,
        title="Target KL",
        description="End the epochs of an update beyond this divergence.",
    )
    normalize_advantage: bool = Field(
        True, title="Normalise advantages", description="Normalise advantages in each minibatch."
    )

    @model_validator(mode="after")
    def _check_batches(self) -> PPOConfig:
        if self.rollout % self.batch_size == 1:
            raise ValueError(
                f"a rollout of n_steps x num_envs = {self.rollout} leaves a minibatch of a single step; "
                f"change batch_size = {self.batch_size}"
            )
        return self


class MaskablePPOConfig(PPOConfig):
    """PPO that never plays an illegal action (Huang and Ontanon 2022)."""


class RecurrentPPOConfig(PPOConfig):
    """PPO with an LSTM, for environments that do not show everything."""

    n_steps: int = Field(
        128, ge=1, le=1_000_000, title="Rollout", description="Steps of each copy between two updates."
    )
    batch_size: int = _batch(128)
    lstm_size: int = Field(
        256, ge=1, le=8192, title="LSTM width", description="Numbers that the policy remembers."
    )


class A2CConfig(OnPolicyConfig):
    """Advantage actor critic (Mnih et al. 2016), synchronous."""

    num_envs: int = Field(
        8,
        ge=1,
        le=1024,
        title="Copies",
        description="Copies of the environment stepped together.",
        json_schema_extra=MAIN,
    )
    learning_rate: float = _rate(7e-4)
    n_steps: int = Field(
        5, ge=1, le=1_000_000, title="Rollout", description="Steps of each copy between two updates."
    )
    gae_lambda: float = Field(
        1.0, ge=0, le=1, title="GAE lambda", description="Lambda of generalised advantage estimation."
    )


class TRPOConfig(OnPolicyConfig):
    """Trust region policy optimisation (Schulman et al. 2015)."""

    OWN = frozenset({"n_steps", "gae_lambda", "batch_size", "target_kl", "cg_max_steps", "n_critic_updates"})

    num_envs: int = Field(
        4,
        ge=1,
        le=1024,
        title="Copies",
        description="Copies of the environment stepped together.",
        json_schema_extra=MAIN,
    )
    learning_rate: float = _rate(1e-3)
    batch_size: int = _batch(128)
    target_kl: float = Field(
        0.01, gt=0, le=100, title="Target KL", description="Largest divergence of an update."
    )
    cg_max_steps: int = Field(
        15, ge=1, le=1000, title="CG steps", description="Steps of the conjugate gradient."
    )
    n_critic_updates: int = Field(
        10, ge=1, le=1000, title="Critic updates", description="Passes of the critic over each rollout."
    )


class OffPolicyConfig(TrainingConfig):
    """What algorithms that learn from a replay buffer can be told."""

    OWN = frozenset({"buffer_size", "learning_starts", "batch_size", "tau", "train_freq", "gradient_steps"})

    buffer_size: int = Field(
        100_000, ge=1, le=100_000_000, title="Replay buffer", description="Steps that are remembered."
    )
    learning_starts: int = Field(
        100, ge=0, le=100_000_000, title="Learning starts", description="Random steps before learning begins."
    )
    batch_size: int = _batch(256)
    tau: float = Field(0.005, gt=0, le=1, title="Tau", description="Part of the network that targets take.")
    train_freq: int = Field(
        1, ge=1, le=1_000_000, title="Train every", description="Steps of each copy between two updates."
    )
    gradient_steps: int = Field(
        1, ge=-1, le=1_000_000, title="Gradient steps", description="Per update; -1: as many as steps were."
    )

    @model_validator(mode="after")
    def _check_buffer(self) -> OffPolicyConfig:
        if self.buffer_size < self.num_envs:
            raise ValueError(
                f"buffer_size = {self.buffer_size} must hold a step of each of {self.num_envs} copies"
            )
        if self.total_steps < self.num_envs:
            raise ValueError(f"total_steps = {self.total_steps} is less than one step of each copy")
        return self


class DQNConfig(OffPolicyConfig):
    """Deep Q-learning (Mnih et al. 2015)."""

    OWN = OffPolicyConfig.OWN | {
        "target_update_interval",
        "exploration_fraction",
        "exploration_final_eps",
        "max_grad_norm",
    }

    learning_rate: float = _rate(1e-3)
    batch_size: int = _batch(64)
    tau: float = Field(1.0, gt=0, le=1, title="Tau", description="Part of the network that targets take.")
    train_freq: int = Field(
        4, ge=1, le=1_000_000, title="Train every", description="Steps of each copy between two updates."
    )
    learning_starts: int = Field(
        1000,
        ge=0,
        le=100_000_000,
        title="Learning starts",
        description="Random steps before learning begins.",
    )
    target_update_interval: int = Field(
        500, ge=1, le=100_000_000, title="Target every", description="Steps between two target updates."
    )
    exploration_fraction: float = Field(
        0.2,
        gt=0,
        le=1,
        title="Exploration",
        description="Part of the training over which exploration falls.",
        json_schema_extra=MAIN,
    )
    exploration_final_eps: float = Field(
        0.05, ge=0, le=1, title="Final exploration", description="Part of random actions in the end."
    )
    max_grad_norm: float = Field(
        10, gt=0, le=1000, title="Gradient norm", description="Norm to which gradients are clipped."
    )


class QRDQNConfig(DQNConfig):
    """Quantile regression DQN (Dabney et al. 2017)."""

    n_quantiles: int = Field(
        50, ge=1, le=10_000, title="Quantiles", description="Points of each value's distribution."
    )


class SACConfig(OffPolicyConfig):
    """Soft actor critic (Haarnoja et al. 2018)."""

    OWN = OffPolicyConfig.OWN | {"use_sde"}

    ent_coef: float | None = Field(
        None,
        ge=0,
        le=100,
        title="Entropy",
        description="Weight of the entropy bonus; none: learnt.",
        json_schema_extra=MAIN,
    )
    use_sde: bool = Field(False, title="gSDE", description="Explore with noise that depends on the state.")

    def arguments(self) -> dict[str, Any]:
        return {**super().arguments(), "ent_coef": "auto" if self.ent_coef is None else self.ent_coef}


class TQCConfig(SACConfig):
    """Truncated quantile critics (Kuznetsov et al. 2020)."""

    OWN = SACConfig.OWN | {"top_quantiles_to_drop_per_net"}

    top_quantiles_to_drop_per_net: int = Field(
        2, ge=0, le=24, title="Dropped quantiles", description="Of 25 per critic, the largest."
    )


class DDPGConfig(OffPolicyConfig):
    """Deep deterministic policy gradient (Lillicrap et al. 2015)."""

    learning_rate: float = _rate(1e-3)
    noise: float = Field(
        0.1,
        ge=0,
        le=10,
        title="Noise",
        description="Deviation of the Gaussian noise added to actions, where actions span -1 to 1.",
        json_schema_extra=MAIN,
    )


class TD3Config(DDPGConfig):
    """Twin delayed DDPG (Fujimoto et al. 2018)."""

    OWN = OffPolicyConfig.OWN | {"policy_delay", "target_policy_noise", "target_noise_clip"}

    policy_delay: int = Field(
        2, ge=1, le=1000, title="Policy delay", description="Critic updates per update of the policy."
    )
    target_policy_noise: float = Field(
        0.2, ge=0, le=10, title="Target noise", description="Deviation of the noise on target actions."
    )
    target_noise_clip: float = Field(
        0.5, ge=0, le=10, title="Target noise clip", description="Largest noise on target actions."
    )


_BOUNDS = {
    "greater_than_equal": ("ge", "must be at least"),
    "greater_than": ("gt", "must be more than"),
    "less_than_equal": ("le", "must be at most"),
    "less_than": ("lt", "must be less than"),
}
_TYPES = {"int": "a whole number", "float": "a number", "finite": "a number", "bool": "true or false"}


def _sentence(found: ErrorDetails) -> str:
    name = str(found["loc"][0]) if found["loc"] else ""
    context, given, kind = found.get("ctx", {}), found["input"], found["type"]
    if kind in _BOUNDS:
        key, words = _BOUNDS[kind]
        return f"{name} {words} {context[key]}, not {given}"
    if kind.partition("_")[0] in _TYPES:
        return f"{name} must be {_TYPES[kind.partition('_')[0]]}, not {given!r}"
    if kind == "literal_error":
        return f"{name} must be {context['expected']}, not {given!r}"
    if kind == "extra_forbidden":
        return f"there is no setting {name!r}"
    if kind == "value_error":
        return str(context["error"])
    return f"{name}: {found['msg']}"
