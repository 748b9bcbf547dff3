"""Settings of every algorithm; they have RLlib's names if RLlib has the setting."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from mosaic_worker.learning import training_fields as fields
from mosaic_worker.learning.training_settings import LibrarySettings

Width = Annotated[int, Field(ge=1, le=8192)]
"""Width of a layer."""
Activation = Literal["tanh", "relu", "elu", "silu"]


def batch(default: int, description: str) -> Any:
    """Return the setting ``train_batch_size``."""
    return Field(
        default,
        ge=1,
        le=10_000_000,
        title="Train batch size",
        description=description,
        json_schema_extra=fields.MAIN,
    )


def runners(default: int, description: str) -> Any:
    """Return the setting ``num_env_runners``."""
    return Field(
        default, ge=0, le=1024, title="Env runners", description=description, json_schema_extra=fields.MAIN
    )


def grad_clip(default: float | None) -> Any:
    """Return the setting ``grad_clip``."""
    return fields.gradient_norm(default, le=1e6)


def entropy_coeff(default: float) -> Any:
    """Return the setting ``entropy_coeff``."""
    return fields.entropy_weight(default, main=False)


class RayConfig(LibrarySettings):
    """Settings of every algorithm."""

    RESUMABLE: ClassVar[frozenset[str]] = LibrarySettings.RESUMABLE | {"num_env_runners", "address"}
    LIBRARY = ("gamma", "grad_clip", "lr")

    total_steps: int = fields.total_steps(100_000)
    num_envs: int = fields.num_envs(1, "Number of environments stepped together by each runner.")
    num_env_runners: int = runners(
        0, "Number of processes that collect experience; 0: the learning process collects it."
    )
    address: str = Field(
        "",
        title="Ray cluster",
        description="host:port of a running Ray cluster; empty: start Ray on this machine for the training.",
    )
    train_batch_size: int = batch(4000, "Steps of one update.")
    lr: float = fields.learning_rate(3e-4)
    hidden: tuple[Width, ...] = fields.hidden((64, 64))
    activation: Activation = fields.activation("tanh")
    grad_clip: float | None = grad_clip(None)
    share_parameters: bool = fields.share_parameters(
        True, "Agents with equal spaces share one network; otherwise each agent has its own.", main=False
    )
    mapping: str = Field(
        "",
        title="Mapping",
        description="Network of each agent, for example green_*=green,blue_*=blue; replaces "
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
                f"address must be host:port of a Ray cluster, for example 10.0.0.5:6379, not {address!r}"
            )
        return address

    @field_validator("mapping")
    @classmethod
    def _check_mapping(cls, mapping: str) -> str:
        for entry in filter(None, (part.strip() for part in mapping.split(","))):
            pattern, equals, name = entry.partition("=")
            if not (pattern.strip() and equals and name.strip().replace("_", "a").isalnum()):
                raise ValueError(
                    f"mapping must consist of AGENTS=NETWORK entries, separated by commas, but has {entry!r}"
                )
        return mapping

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of ``AlgorithmConfig.training``."""
        return {**super().arguments(), "train_batch_size_per_learner": self.train_batch_size}

    @property
    def batch(self) -> int:
        """Smallest number of steps of one RLlib iteration."""
        return self.train_batch_size

    @property
    def rollout(self) -> int:
        return self.batch


class OnPolicyConfig(RayConfig):
    """Settings of actor-critic algorithms."""

    LIBRARY = (*RayConfig.LIBRARY, "entropy_coeff", "vf_loss_coeff")

    vf_share_layers: bool = Field(
        False,
        title="Share layers",
        description="Policy and value function share one encoder; otherwise each has its own.",
    )
    entropy_coeff: float = entropy_coeff(0.0)
    vf_loss_coeff: float = fields.value_weight(1.0)

    @model_validator(mode="after")
    def _check_total(self) -> OnPolicyConfig:
        if self.total_steps < self.batch:
            raise ValueError(
                f"total_steps = {self.total_steps} is less than one batch of train_batch_size = "
                f"{self.batch}; "
                "raise total_steps or lower train_batch_size"
            )
        return self


def use_kl_loss(default: bool) -> Any:
    """Return the setting ``use_kl_loss``."""
    return Field(default, title="KL loss", description="Add RLlib's adaptive KL penalty.")


def kl_coeff(default: float) -> Any:
    """Return the setting ``kl_coeff``."""
    return Field(default, ge=0, le=100, title="KL weight", description="Initial weight of the KL penalty.")


def kl_target(default: float) -> Any:
    """Return the setting ``kl_target``."""
    return Field(
        default,
        gt=0,
        le=100,
        title="KL target",
        description="KL divergence at which the weight of the penalty aims.",
    )


_OF_PPO = ("lambda_", "clip_param", "use_kl_loss", "kl_coeff", "kl_target")


class PPOConfig(OnPolicyConfig):
    """Proximal policy optimization (Schulman et al. 2017)."""

    LIBRARY = (*OnPolicyConfig.LIBRARY, *_OF_PPO, "minibatch_size", "num_epochs", "vf_clip_param")

    train_batch_size: int = batch(2048, "Steps between two updates, over all runners.")
    normalize_observations: bool = fields.normalize_observations(False)
    minibatch_size: int = fields.minibatch_size(128)
    num_epochs: int = fields.epochs(10, "Passes over each batch.")
    lambda_: float = fields.gae_lambda(0.95)
    clip_param: float = fields.clip_range(0.2)
    vf_clip_param: float = Field(
        10.0, gt=0, le=1e9, title="Value clip", description="Upper limit of the squared value error."
    )
    use_kl_loss: bool = use_kl_loss(True)
    kl_coeff: float = kl_coeff(0.2)
    kl_target: float = kl_target(0.01)

    @model_validator(mode="after")
    def _check_minibatch(self) -> PPOConfig:
        if self.minibatch_size > self.train_batch_size:
            raise ValueError(
                f"minibatch_size = {self.minibatch_size} is more than train_batch_size = "
                f"{self.train_batch_size}"
            )
        return self


class IMPALAConfig(OnPolicyConfig):
    """Importance-weighted actor-learners (Espeholt et al. 2018): runners play on while it learns."""

    num_env_runners: int = runners(1, "Number of processes that collect experience.")
    train_batch_size: int = batch(500, "Steps of one update.")
    lr: float = fields.learning_rate(5e-4)
    grad_clip: float | None = grad_clip(40.0)
    entropy_coeff: float = entropy_coeff(0.01)
    vf_loss_coeff: float = fields.value_weight(0.5)
    rollout_fragment_length: int = Field(
        50,
        ge=1,
        le=10_000,
        title="Rollout fragment length",
        description="Environment steps that a runner sends to the learner at once.",
    )


class APPOConfig(IMPALAConfig):
    """Asynchronous PPO: IMPALA with the clipped loss."""

    LIBRARY = (*IMPALAConfig.LIBRARY, *_OF_PPO)

    lambda_: float = fields.gae_lambda(1.0)
    clip_param: float = fields.clip_range(0.4)
    use_kl_loss: bool = use_kl_loss(False)
    kl_coeff: float = kl_coeff(1.0)
    kl_target: float = kl_target(0.01)


class ReplayConfig(RayConfig):
    """Settings of algorithms that learn from remembered steps."""

    LIBRARY = (*RayConfig.LIBRARY, "n_step", "num_steps_sampled_before_learning_starts")

    train_batch_size: int = batch(32, "Number of steps from the replay buffer in one update.")
    activation: Activation = fields.activation("relu")
    buffer_size: int = fields.buffer_size(50_000)
    num_steps_sampled_before_learning_starts: int = fields.learning_starts(1000)
    n_step: int = Field(1, ge=1, le=100, title="n-step returns", description="Number of rewards in a target.")
    training_intensity: float | None = Field(
        None,
        gt=0,
        le=10_000,
        title="Training intensity",
        description="Replayed steps per environment step; none: RLlib's default of one update per turn.",
    )

    @property
    def batch(self) -> int:
        return 1

    def arguments(self) -> dict[str, Any]:
        often = self.training_intensity
        return {**super().arguments(), **({} if often is None else {"training_intensity": often})}


class DQNConfig(ReplayConfig):
    """Deep Q-learning (Mnih et al. 2015), double and dueling."""

    LIBRARY = (*ReplayConfig.LIBRARY, "double_q", "dueling", "target_network_update_freq")

    lr: float = fields.learning_rate(5e-4)
    grad_clip: float | None = grad_clip(40.0)
    double_q: bool = fields.double_q(True)
    dueling: bool = Field(True, title="Dueling heads", description="Dueling heads (Wang et al. 2016).")
    target_network_update_freq: int = fields.target_interval(500)
    epsilon_timesteps: int = fields.exploration_steps(10_000, le=1_000_000_000)
    final_epsilon: float = fields.last_epsilon(0.05)


class SACConfig(ReplayConfig):
    """Soft actor-critic (Haarnoja et al. 2018)."""

    LIBRARY = (*ReplayConfig.LIBRARY, "tau", "initial_alpha", "twin_q")

    hidden: tuple[Width, ...] = fields.hidden((256, 256))
    train_batch_size: int = batch(256, "Number of steps from the replay buffer in one update.")
    buffer_size: int = fields.buffer_size(100_000)
    tau: float = fields.tau(0.005)
    initial_alpha: float = fields.temperature(1.0, "Initial weight of the entropy, which is then learned.")
    twin_q: bool = Field(True, title="Twin Q", description="Use the smaller value of two critics.")

    def arguments(self) -> dict[str, Any]:
        return {
            **super().arguments(),
            "lr": None,
            **dict.fromkeys(("actor_lr", "critic_lr", "alpha_lr"), self.lr),
        }


def network_of(mapping: str, agent: str) -> str:
    """Return the network that a ``mapping`` gives an agent; empty if no entry matches."""
    for entry in filter(None, (part.strip() for part in mapping.split(","))):
        pattern, _, name = entry.partition("=")
        if fnmatchcase(agent, pattern.strip()):
            return name.strip()
    return ""
