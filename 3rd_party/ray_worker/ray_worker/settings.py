"""Every setting of every algorithm. Names are RLlib's where it has one."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from mosaic_worker.learning.training_settings import MAIN, TrainingSettings, num_envs_field, rate, steps

Width = Annotated[int, Field(ge=1, le=8192)]
"""Of a layer."""


def batch(default: int, description: str) -> Any:
    """``train_batch_size``."""
    return Field(
        default,
        ge=1,
        le=10_000_000,
        title="Train batch size",
        description=description,
        json_schema_extra=MAIN,
    )


def learning_rate(default: float) -> Any:
    """``lr``."""
    return rate(default, "Step size of the optimizer.")


def clipping(default: float | None) -> Any:
    """``grad_clip``."""
    return Field(
        default, gt=0, le=1e6, title="Max gradient norm", description="Norm to which gradients are clipped."
    )


def entropy(default: float) -> Any:
    """``entropy_coeff``."""
    return Field(
        default, ge=0, le=100, title="Entropy coefficient", description="Weight of the entropy bonus."
    )


class RayConfig(TrainingSettings):
    """What every algorithm can be told."""

    RESUMABLE: ClassVar[frozenset[str]] = TrainingSettings.RESUMABLE | {"num_env_runners", "address"}

    seed: int = Field(1, ge=0, lt=2**31, title="Seed", description="Everything random derives from it.")
    total_steps: int = steps(100_000)
    num_envs: int = num_envs_field(1, ", of each runner")
    num_env_runners: int = Field(
        0,
        ge=0,
        le=1024,
        title="Env runners",
        description="Processes that play; 0: the process that learns plays itself.",
        json_schema_extra=MAIN,
    )
    address: str = Field(
        "",
        title="Ray cluster",
        description="host:port of a Ray cluster that runs already; empty: one of its own, on this machine.",
    )
    train_batch_size: int = batch(4000, "Steps of one update.")
    lr: float = learning_rate(3e-4)
    hidden: tuple[Width, ...] = Field(
        (64, 64), max_length=16, title="Hidden layer sizes", description="Widths of the hidden layers."
    )
    activation: Literal["tanh", "relu", "elu", "silu"] = Field(
        "tanh", title="Activation", description="Between layers."
    )
    grad_clip: float | None = clipping(None)
    share_parameters: bool = Field(
        True,
        title="Share parameters",
        description="Agents that see and act alike have one network; else each has its own.",
    )
    mapping: str = Field(
        "",
        title="Mapping",
        description="Which network plays which agents, as green_*=green,blue_*=blue; in place of "
        "share_parameters.",
    )

    @field_validator("address")
    @classmethod
    def _check_address(cls, address: str) -> str:
        host, colon, port = address.rpartition(":")
        if address and not (
            colon and host and "/" not in host and port.isdecimal() and 0 < int(port) < 65536
        ):
            raise ValueError(
                f"address must be host:port of a Ray cluster, such as 10.0.0.5:6379, not {address!r}"
            )
        return address

    @field_validator("mapping")
    @classmethod
    def _check_mapping(cls, mapping: str) -> str:
        for entry in filter(None, (part.strip() for part in mapping.split(","))):
            pattern, equals, name = entry.partition("=")
            if not (pattern.strip() and equals and name.strip().replace("_", "a").isalnum()):
                raise ValueError(f"mapping must be AGENTS=NETWORK, with commas between, and has {entry!r}")
        return mapping

    def arguments(self) -> dict[str, Any]:
        """What goes to ``AlgorithmConfig.training``."""
        return {
            "gamma": self.gamma,
            "grad_clip": self.grad_clip,
            "lr": self.lr,
            "train_batch_size_per_learner": self.train_batch_size,
        }

    @property
    def batch(self) -> int:
        """Steps after which RLlib hands over, at the least."""
        return self.train_batch_size

    @property
    def rollout(self) -> int:
        return self.batch


class OnPolicyConfig(RayConfig):
    """What actor-critic algorithms can be told."""

    vf_share_layers: bool = Field(
        False, title="Share layers", description="Policy and value have one encoder, or one each."
    )
    entropy_coeff: float = entropy(0.0)
    vf_loss_coeff: float = Field(
        1.0, ge=0, le=100, title="Value coefficient", description="Weight of the value loss."
    )

    @model_validator(mode="after")
    def _check_total(self) -> OnPolicyConfig:
        if self.total_steps < self.batch:
            raise ValueError(
                f"total_steps = {self.total_steps} is less than one batch of train_batch_size = "
                f"{self.batch}; "
                "raise total_steps or lower train_batch_size"
            )
        return self

    def arguments(self) -> dict[str, Any]:
        return {
            **super().arguments(),
            "entropy_coeff": self.entropy_coeff,
            "vf_loss_coeff": self.vf_loss_coeff,
        }


class PPOConfig(OnPolicyConfig):
    """Proximal policy optimisation (Schulman et al. 2017)."""

    train_batch_size: int = batch(2048, "Steps between two updates, over all runners.")
    normalize_observations: bool = Field(
        False,
        title="Normalise observations",
        description="RLlib's running mean and deviation of vectors; the statistics stay with the policy.",
    )
    minibatch_size: int = Field(
        128, ge=2, le=1_000_000, title="Minibatch size", description="Steps of one gradient step."
    )
    num_epochs: int = Field(10, ge=1, le=1000, title="Epochs", description="Passes over each batch.")
    lambda_: float = Field(
        0.95, ge=0, le=1, title="GAE lambda", description="Lambda of generalised advantage estimation."
    )
    clip_param: float = Field(
        0.2, gt=0, le=10, title="Clip range", description="How far the probability ratio may move."
    )
    vf_clip_param: float = Field(
        10.0, gt=0, le=1e9, title="Value clip", description="Largest squared value error that counts."
    )
    use_kl_loss: bool = Field(True, title="KL loss", description="Add RLlib's adaptive KL penalty.")
    kl_coeff: float = Field(0.2, ge=0, le=100, title="KL weight", description="Of the penalty, at first.")
    kl_target: float = Field(0.01, gt=0, le=100, title="KL target", description="Aimed at by its weight.")

    @model_validator(mode="after")
    def _check_minibatch(self) -> PPOConfig:
        if self.minibatch_size > self.train_batch_size:
            raise ValueError(
                f"minibatch_size = {self.minibatch_size} is more than train_batch_size = "
                f"{self.train_batch_size}"
            )
        return self

    def arguments(self) -> dict[str, Any]:
        return {
            **super().arguments(),
            "minibatch_size": self.minibatch_size,
            "num_epochs": self.num_epochs,
            "lambda_": self.lambda_,
            "clip_param": self.clip_param,
            "vf_clip_param": self.vf_clip_param,
            "use_kl_loss": self.use_kl_loss,
            "kl_coeff": self.kl_coeff,
            "kl_target": self.kl_target,
        }


class IMPALAConfig(OnPolicyConfig):
    """Importance-weighted actor-learners (Espeholt et al. 2018): runners play on while it learns."""

    num_env_runners: int = Field(
        1, ge=0, le=1024, title="Env runners", description="Processes that play.", json_schema_extra=MAIN
    )
    train_batch_size: int = batch(500, "Steps of one update.")
    lr: float = learning_rate(5e-4)
    grad_clip: float | None = clipping(40.0)
    entropy_coeff: float = entropy(0.01)
    vf_loss_coeff: float = Field(
        0.5, ge=0, le=100, title="Value coefficient", description="Weight of the value loss."
    )
    rollout_fragment_length: int = Field(
        50,
        ge=1,
        le=10_000,
        title="Rollout fragment length",
        description="Steps of an environment that a runner hands over at once.",
    )


class APPOConfig(IMPALAConfig):
    """Asynchronous PPO: IMPALA with the clipped loss."""

    lambda_: float = Field(
        1.0, ge=0, le=1, title="GAE lambda", description="Lambda of generalised advantage estimation."
    )
    clip_param: float = Field(
        0.4, gt=0, le=10, title="Clip range", description="How far the probability ratio may move."
    )
    use_kl_loss: bool = Field(False, title="KL loss", description="Add RLlib's adaptive KL penalty.")
    kl_coeff: float = Field(1.0, ge=0, le=100, title="KL weight", description="Of the penalty, at first.")
    kl_target: float = Field(0.01, gt=0, le=100, title="KL target", description="Aimed at by its weight.")

    def arguments(self) -> dict[str, Any]:
        return {
            **super().arguments(),
            "lambda_": self.lambda_,
            "clip_param": self.clip_param,
            "use_kl_loss": self.use_kl_loss,
            "kl_coeff": self.kl_coeff,
            "kl_target": self.kl_target,
        }


class ReplayConfig(RayConfig):
    """What algorithms that learn from remembered steps can be told."""

    train_batch_size: int = batch(32, "Remembered steps of one update.")
    activation: Literal["tanh", "relu", "elu", "silu"] = Field(
        "relu", title="Activation", description="Between layers."
    )
    buffer_size: int = Field(
        50_000, ge=1, le=100_000_000, title="Replay buffer size", description="Steps that are remembered."
    )
    num_steps_sampled_before_learning_starts: int = Field(
        1000, ge=0, le=100_000_000, title="Learning starts", description="Steps played before it learns."
    )
    n_step: int = Field(1, ge=1, le=100, title="n-step returns", description="Rewards in a target.")
    training_intensity: float | None = Field(
        None,
        gt=0,
        le=10_000,
        title="Training intensity",
        description="Remembered steps learnt from for each step played; none: RLlib's one update a turn.",
    )

    @property
    def batch(self) -> int:
        return 1

    def arguments(self) -> dict[str, Any]:
        often = self.training_intensity
        return {
            **super().arguments(),
            "n_step": self.n_step,
            "num_steps_sampled_before_learning_starts": self.num_steps_sampled_before_learning_starts,
            **({} if often is None else {"training_intensity": often}),
        }


class DQNConfig(ReplayConfig):
    """Deep Q-learning (Mnih et al. 2015), double and dueling."""

    lr: float = learning_rate(5e-4)
    grad_clip: float | None = clipping(40.0)
    double_q: bool = Field(True, title="Double Q", description="Double Q-learning (van Hasselt et al. 2016).")
    dueling: bool = Field(True, title="Dueling heads", description="Dueling heads (Wang et al. 2016).")
    target_network_update_freq: int = Field(
        500,
        ge=1,
        le=100_000_000,
        title="Target update interval",
        description="Steps between copies to the target.",
    )
    epsilon_timesteps: int = Field(
        10_000, ge=1, le=1_000_000_000, title="Exploration steps", description="In which epsilon falls."
    )
    final_epsilon: float = Field(
        0.05, ge=0, le=1, title="Final epsilon", description="Share of random actions."
    )

    def arguments(self) -> dict[str, Any]:
        return {
            **super().arguments(),
            "double_q": self.double_q,
            "dueling": self.dueling,
            "target_network_update_freq": self.target_network_update_freq,
        }


class SACConfig(ReplayConfig):
    """Soft actor-critic (Haarnoja et al. 2018)."""

    hidden: tuple[Width, ...] = Field(
        (256, 256), max_length=16, title="Hidden layer sizes", description="Widths of the hidden layers."
    )
    train_batch_size: int = batch(256, "Remembered steps of one update.")
    buffer_size: int = Field(
        100_000, ge=1, le=100_000_000, title="Replay buffer size", description="Steps that are remembered."
    )
    tau: float = Field(0.005, gt=0, le=1, title="Tau", description="How fast the target follows.")
    initial_alpha: float = Field(
        1.0, gt=0, le=1000, title="Alpha", description="Weight of the entropy at first; it is learnt."
    )
    twin_q: bool = Field(True, title="Twin Q", description="The smaller of two values is believed.")

    def arguments(self) -> dict[str, Any]:
        return {
            **super().arguments(),
            "tau": self.tau,
            "initial_alpha": self.initial_alpha,
            "twin_q": self.twin_q,
            "lr": None,
            **dict.fromkeys(("actor_lr", "critic_lr", "alpha_lr"), self.lr),
        }


def network_of(mapping: str, agent: str) -> str:
    """Which network a ``mapping`` gives an agent; empty where it does not say."""
    for entry in filter(None, (part.strip() for part in mapping.split(","))):
        pattern, _, name = entry.partition("=")
        if fnmatchcase(agent, pattern.strip()):
            return name.strip()
    return ""


def plain(config: RayConfig) -> Mapping[str, Any]:
    """All settings as plain data."""
    return config.model_dump(mode="json")
