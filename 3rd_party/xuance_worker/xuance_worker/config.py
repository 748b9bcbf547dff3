"""Settings of this worker's trainings; they have the library's names if the library has the setting."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from mosaic_worker.learning import training_fields as fields
from mosaic_worker.learning.training_settings import LibrarySettings, Width

Activation = Literal["relu", "leaky_relu", "tanh", "elu"]


def widths(default: tuple[int, ...], title: str, description: str) -> Any:
    """Return a setting with widths of layers."""
    return fields.hidden(default, description, title=title, max_length=8)


def clips(default: bool) -> Any:
    """Return the setting ``use_grad_clip``."""
    return Field(default, title="Clip gradients", description="Clip gradients to a norm.")


class TeamConfig(LibrarySettings):
    """Settings of every algorithm."""

    env_id: str = fields.team("simple_spread_v3")
    total_steps: int = fields.total_steps(200_000)
    num_envs: int = fields.num_envs(16)
    use_parameter_sharing: bool | None = fields.share_parameters(
        None,
        "One network for all agents, whose input includes the agent's index; none: if all agents "
        "have equal spaces, otherwise one per agent.",
    )
    use_rnn: bool = Field(
        False,
        title="Recurrent network",
        description="Agents remember earlier observations of the episode.",
        json_schema_extra=fields.MAIN,
    )
    rnn: Literal["GRU", "LSTM"] = Field(
        "GRU", title="Recurrent cell", description="Type of the recurrent cell."
    )
    recurrent_hidden_size: Width = Field(
        64, title="Recurrent layer size", description="Size of the recurrent hidden state."
    )
    representation_hidden_size: tuple[Width, ...] = widths(
        (64,), "Representation", "Widths of the layers of the representation, before a recurrent layer."
    )
    activation: Activation = fields.activation("relu")
    layer_norm: bool = Field(False, title="Layer norm", description="Normalize the outputs of layers.")
    use_grad_clip: bool = clips(False)
    grad_clip_norm: float = fields.gradient_norm(10.0)
    normalize_observations: bool = fields.normalize_observations(False)
    max_episode_steps: int | None = Field(
        None,
        ge=1,
        le=100_000,
        title="Longest episode",
        description="Steps after which an episode is truncated; none: the environment's limit, or 1,000.",
    )

    @property
    def heads(self) -> dict[str, Any]:
        """Widths of the library's heads, by its setting names."""
        return {}

    @model_validator(mode="after")
    def _check_memory(self) -> TeamConfig:
        if self.use_rnn and not self.representation_hidden_size:
            raise ValueError(
                "use_rnn needs a layer before the recurrent layer; set representation_hidden_size to "
                "one width"
            )
        return self


class OnPolicyConfig(TeamConfig):
    """Settings of algorithms that learn from their own rollouts."""

    LIBRARY = ("n_epochs", "n_minibatch", "learning_rate", "vf_coef", "ent_coef", "gae_lambda", "use_advnorm")

    learning_rate: float = fields.learning_rate(7e-4)
    gamma: float = fields.discount(0.99)
    n_steps: int = fields.rollout_length(
        128,
        "Steps of each environment between two updates; if recurrent, whole episodes.",
        main=True,
        le=100_000,
    )
    n_epochs: int = fields.epochs(10)
    n_minibatch: int = fields.minibatches(1, le=1024)
    actor_hidden_size: tuple[Width, ...] = widths(
        (64,), "Actor", "Widths of the actor's layers after the representation."
    )
    critic_hidden_size: tuple[Width, ...] = widths(
        (64,), "Critic", "Widths of the critic's layers after the representation."
    )
    vf_coef: float = fields.value_weight(0.5)
    ent_coef: float = fields.entropy_weight(0.01)
    gae_lambda: float = fields.gae_lambda(0.95)
    use_advnorm: bool = fields.normalize_advantages(True, "Normalize advantages in each rollout.")
    use_grad_clip: bool = clips(True)

    @property
    def heads(self) -> dict[str, Any]:
        return {"actor_hidden_size": self.actor_hidden_size, "critic_hidden_size": self.critic_hidden_size}

    @model_validator(mode="after")
    def _check_minibatches(self) -> OnPolicyConfig:
        rollout = self.num_envs * (1 if self.use_rnn else self.n_steps)
        if rollout % self.n_minibatch:
            what = "num_envs" if self.use_rnn else "num_envs x n_steps"
            raise ValueError(
                f"{what} = {rollout} cannot be split into n_minibatch = {self.n_minibatch} parts"
            )
        return self


class PPOConfig(OnPolicyConfig):
    """Settings of PPO for teams."""

    LIBRARY = (*OnPolicyConfig.LIBRARY, "clip_range", "use_value_norm")

    clip_range: float = fields.clip_range(0.2)
    use_value_norm: bool = Field(
        True, title="Normalize values", description="Learn values with mean 0 and variance 1."
    )


class IPPOConfig(PPOConfig):
    """Independent PPO: each agent learns by itself from what it sees and earns (de Witt et al. 2020)."""


class MAPPOConfig(PPOConfig):
    """Multi-agent PPO: values are learnt from what all agents see together (Yu et al. 2022)."""


class IACConfig(OnPolicyConfig):
    """Independent actor critic: each agent learns by itself (Foerster et al. 2018)."""

    learning_rate: float = fields.learning_rate(5e-4)
    n_epochs: int = fields.epochs(1)


class VDACConfig(IACConfig):
    """Value-decomposition actor critic: the team's value is the sum of its agents' (Su et al. 2021)."""


class OffPolicyConfig(TeamConfig):
    """Settings of algorithms that learn from remembered steps."""

    LIBRARY = ("buffer_size", "batch_size", "start_training", "training_frequency")

    gamma: float = fields.discount(0.95)
    buffer_size: int = fields.buffer_size(
        100_000,
        "Number of steps in the buffer; with a recurrent network, number of whole episodes (1,000 suffice).",
        main=True,
    )
    batch_size: int = fields.minibatch_size(
        256, "Steps (with a recurrent network: episodes) in one gradient step.", ge=1
    )
    start_training: int = fields.learning_starts(1000)
    training_frequency: int = fields.train_frequency(
        32, "Steps, over all parallel environments, between two updates."
    )

    @model_validator(mode="after")
    def _check_frequency(self) -> OffPolicyConfig:
        # The library compares step counts, which grow by the number of copies.
        if not self.use_rnn and self.training_frequency % self.num_envs:
            raise ValueError(
                f"training_frequency = {self.training_frequency} must be a multiple of "
                f"num_envs = {self.num_envs}"
            )
        if self.buffer_size < self.num_envs:
            raise ValueError(f"buffer_size = {self.buffer_size} is less than num_envs = {self.num_envs}")
        return self


class QConfig(OffPolicyConfig):
    """Settings of algorithms that value actions."""

    LIBRARY = (
        *OffPolicyConfig.LIBRARY,
        *("learning_rate", "start_greedy", "end_greedy", "decay_step_greedy", "sync_frequency", "double_q"),
    )

    learning_rate: float = fields.learning_rate(1e-3)
    q_hidden_size: tuple[Width, ...] = widths(
        (64,), "Values", "Widths of the layers for action values, after the representation."
    )
    start_greedy: float = fields.first_epsilon(1.0)
    end_greedy: float = fields.last_epsilon(0.05, "Share of random actions at the end.")
    decay_step_greedy: int = fields.exploration_steps(100_000, main=True)
    sync_frequency: int = fields.target_interval(
        100, "Number of updates between two updates of the target network.", le=1_000_000
    )
    double_q: bool = fields.double_q(True)

    @property
    def heads(self) -> dict[str, Any]:
        return {"q_hidden_size": self.q_hidden_size}


class IQLConfig(QConfig):
    """Independent Q-learning: each agent values its actions by itself (Tan 1993)."""


class VDNConfig(QConfig):
    """Value-decomposition networks: the team's value is the sum of its agents' (Sunehag et al. 2018)."""


class QMIXConfig(QConfig):
    """QMIX: the team's value is a monotonic mixture of its agents' (Rashid et al. 2018)."""

    LIBRARY = (*QConfig.LIBRARY, "hidden_dim_mixing_net", "hidden_dim_hyper_net")

    hidden_dim_mixing_net: Width = Field(
        32, title="Mixing network width", description="Width of the network that mixes values."
    )
    hidden_dim_hyper_net: Width = Field(
        64, title="Hypernetwork width", description="Width of the network that generates the mixer's weights."
    )


class WQMIXConfig(QMIXConfig):
    """Weighted QMIX: mixtures that overrate the best joint action less (Rashid et al. 2020)."""

    LIBRARY = (*QMIXConfig.LIBRARY, "alpha", "hidden_dim_ff_mix_net")

    alpha: float = Field(
        0.1,
        gt=0,
        le=1,
        title="Weight",
        description="Weight of joint actions that are estimated to be worse than the best one.",
    )
    hidden_dim_ff_mix_net: Width = Field(
        256, title="Unrestricted mixer", description="Width of the unrestricted, non-monotonic mixer."
    )


def noise(default: float, title: str, when: str) -> Any:
    """Return a setting with the noise of exploration, which decreases during training."""
    said = f"Standard deviation of the noise on actions at the {when}."
    return fields.exploration_noise(default, said, title=title, main=False)


class DDPGConfig(OffPolicyConfig):
    """Settings of algorithms with deterministic actors."""

    LIBRARY = (
        *OffPolicyConfig.LIBRARY,
        *("learning_rate_actor", "learning_rate_critic", "tau", "start_noise", "end_noise"),
    )

    representation_hidden_size: tuple[Width, ...] = widths(
        (), "Representation", "Widths of the layers of the representation."
    )
    activation: Activation = fields.activation("leaky_relu")
    learning_rate_actor: float = fields.learning_rate(1e-3, "Step size of the actor.", title="Actor's rate")
    learning_rate_critic: float = fields.learning_rate(
        1e-3, "Step size of the critic.", title="Critic's rate"
    )
    actor_hidden_size: tuple[Width, ...] = widths((64, 64), "Actor", "Widths of the actor's layers.")
    critic_hidden_size: tuple[Width, ...] = widths((64, 64), "Critic", "Widths of the critic's layers.")
    tau: float = fields.tau(0.001)
    start_noise: float = noise(1.0, "Initial noise", "start")
    end_noise: float = noise(0.01, "Final noise", "end")

    @property
    def heads(self) -> dict[str, Any]:
        return {"actor_hidden_size": self.actor_hidden_size, "critic_hidden_size": self.critic_hidden_size}


class IDDPGConfig(DDPGConfig):
    """Independent DDPG: each agent learns by itself (Lillicrap et al. 2016)."""


class MADDPGConfig(DDPGConfig):
    """MADDPG: critics see what all agents see and do (Lowe et al. 2017)."""


class TD3Config(DDPGConfig):
    """Settings of TD3 for teams."""

    LIBRARY = (*DDPGConfig.LIBRARY, "actor_update_delay")

    actor_update_delay: int = fields.policy_delay(2)


class ITD3Config(TD3Config):
    """Independent TD3: each agent learns by itself (Fujimoto et al. 2018)."""


class MATD3Config(TD3Config):
    """MATD3: MADDPG with two critics and a slower actor (Ackermann et al. 2019)."""


class SACConfig(DDPGConfig):
    """Settings of soft actor critics for teams."""

    LIBRARY = (
        *OffPolicyConfig.LIBRARY,
        *("learning_rate_actor", "learning_rate_critic", "tau", "alpha", "use_automatic_entropy_tuning"),
    )

    alpha: float = fields.temperature(0.01, ge=0, gt=None, le=100)
    use_automatic_entropy_tuning: bool = fields.tune_temperature(True, "Learn the weight of the entropy.")


class ISACConfig(SACConfig):
    """Independent soft actor critic: each agent learns by itself (Haarnoja et al. 2018)."""


class MASACConfig(SACConfig):
    """Multi-agent soft actor critic: critics see what all agents see and do."""
