"""What trainings of this worker can be told; names are the library's where it has one."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from mosaic_worker.learning.training_settings import MAIN, TrainingSettings, num_envs_field, rate, steps

Width = Annotated[int, Field(ge=1, le=65_536)]


def widths(default: tuple[int, ...], title: str, description: str) -> Any:
    """Of layers."""
    return Field(default, max_length=8, title=title, description=description)


class TeamConfig(TrainingSettings):
    """What every algorithm can be told."""

    LIBRARY: ClassVar[tuple[str, ...]] = ()
    """Settings that the library gets under their own names."""

    env_id: str = Field(
        "simple_spread_v3",
        title="Environment",
        description="An environment whose agents act at once, or module:factory of a PettingZoo ParallelEnv.",
    )
    # The library hands it to generators that take no more.
    seed: int = Field(1, ge=0, lt=2**31, title="Seed", description="Everything random derives from it.")
    total_steps: int = steps(200_000)
    num_envs: int = num_envs_field(16)
    use_parameter_sharing: bool | None = Field(
        None,
        title="Share parameters",
        description="One network for all agents, who are told which of them they are; none: where all see "
        "and act alike, and else one each.",
        json_schema_extra=MAIN,
    )
    use_rnn: bool = Field(
        False,
        title="Recurrent network",
        description="Agents remember what they have seen of the episode.",
        json_schema_extra=MAIN,
    )
    rnn: Literal["GRU", "LSTM"] = Field("GRU", title="Recurrent cell", description="What remembers.")
    recurrent_hidden_size: Width = Field(
        64, title="Recurrent layer size", description="Numbers that are remembered."
    )
    representation_hidden_size: tuple[Width, ...] = widths(
        (64,), "Representation", "Widths of the layers that see; before the memory, where there is one."
    )
    activation: Literal["relu", "leaky_relu", "tanh", "elu"] = Field(
        "relu", title="Activation", description="Between layers."
    )
    layer_norm: bool = Field(False, title="Layer norm", description="Normalise what comes out of layers.")
    use_grad_clip: bool = Field(False, title="Clip gradients", description="Clip gradients to a norm.")
    grad_clip_norm: float = Field(
        10.0, gt=0, le=1000, title="Max gradient norm", description="Norm to which gradients are clipped."
    )
    normalize_observations: bool = Field(
        False,
        title="Normalise observations",
        description="Divide observations by their running deviation; the statistics stay with the policy.",
    )
    max_episode_steps: int | None = Field(
        None,
        ge=1,
        le=100_000,
        title="Longest episode",
        description="Episodes are cut off there; none: where the environment says, else at 1,000.",
    )

    @property
    def heads(self) -> dict[str, Any]:
        """Widths of the library's heads, by its names."""
        return {}

    @model_validator(mode="after")
    def _check_memory(self) -> TeamConfig:
        if self.use_rnn and not self.representation_hidden_size:
            raise ValueError(
                "use_rnn needs a layer before the memory; give representation_hidden_size one width"
            )
        return self


class OnPolicyConfig(TeamConfig):
    """What algorithms that learn from their own rollouts can be told."""

    LIBRARY = ("n_epochs", "n_minibatch", "learning_rate", "vf_coef", "ent_coef", "gae_lambda", "use_advnorm")

    learning_rate: float = rate(7e-4, "Step size of the optimizer.")
    gamma: float = Field(
        0.99,
        ge=0,
        le=1,
        title="Discount factor",
        description="What a reward counts for each step that it comes later.",
        json_schema_extra=MAIN,
    )
    n_steps: int = Field(
        128,
        ge=1,
        le=100_000,
        title="Rollout length",
        description="Steps of each environment between two updates; if recurrent, whole episodes.",
        json_schema_extra=MAIN,
    )
    n_epochs: int = Field(10, ge=1, le=1000, title="Epochs", description="Passes over each rollout.")
    n_minibatch: int = Field(
        1, ge=1, le=1024, title="Minibatches", description="Parts of a rollout, one gradient step each."
    )
    actor_hidden_size: tuple[Width, ...] = widths((64,), "Actor", "Widths of what acts, behind what sees.")
    critic_hidden_size: tuple[Width, ...] = widths(
        (64,), "Critic", "Widths of what values, behind what sees."
    )
    vf_coef: float = Field(
        0.5, ge=0, le=100, title="Value coefficient", description="Weight of the value loss."
    )
    ent_coef: float = Field(
        0.01,
        ge=0,
        le=100,
        title="Entropy coefficient",
        description="Weight of the entropy bonus.",
        json_schema_extra=MAIN,
    )
    gae_lambda: float = Field(
        0.95, ge=0, le=1, title="GAE lambda", description="Lambda of generalised advantage estimation."
    )
    use_advnorm: bool = Field(True, title="Normalise advantages", description="Of each rollout.")
    use_grad_clip: bool = Field(True, title="Clip gradients", description="Clip gradients to a norm.")

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
    """What PPO for teams can be told."""

    LIBRARY = (*OnPolicyConfig.LIBRARY, "clip_range", "use_value_norm")

    clip_range: float = Field(
        0.2, gt=0, le=10, title="Clip range", description="How far the probability ratio may move."
    )
    use_value_norm: bool = Field(
        True, title="Normalise values", description="Learn values with mean 0 and variance 1."
    )


class IPPOConfig(PPOConfig):
    """Independent PPO: each agent learns by itself from what it sees and earns (de Witt et al. 2020)."""


class MAPPOConfig(PPOConfig):
    """Multi-agent PPO: values are learnt from what all agents see together (Yu et al. 2022)."""


class IACConfig(OnPolicyConfig):
    """Independent actor critic: each agent learns by itself (Foerster et al. 2018)."""

    learning_rate: float = rate(5e-4, "Step size of the optimizer.")
    n_epochs: int = Field(1, ge=1, le=1000, title="Epochs", description="Passes over each rollout.")


class VDACConfig(IACConfig):
    """Value-decomposition actor critic: the team's value is the sum of its agents' (Su et al. 2021)."""


class OffPolicyConfig(TeamConfig):
    """What algorithms that learn from remembered steps can be told."""

    LIBRARY = ("buffer_size", "batch_size", "start_training", "training_frequency")

    gamma: float = Field(
        0.95,
        ge=0,
        le=1,
        title="Discount factor",
        description="What a reward counts for each step that it comes later.",
        json_schema_extra=MAIN,
    )
    buffer_size: int = Field(
        100_000,
        ge=1,
        le=100_000_000,
        title="Replay buffer size",
        description="Steps that are remembered; with a memory, whole episodes (1,000 do).",
        json_schema_extra=MAIN,
    )
    batch_size: int = Field(
        256,
        ge=1,
        le=1_000_000,
        title="Minibatch size",
        description="Steps (with a memory: episodes) of a gradient step.",
    )
    start_training: int = Field(
        1000, ge=0, le=100_000_000, title="Learning starts", description="Steps before learning begins."
    )
    training_frequency: int = Field(
        32,
        ge=1,
        le=1_000_000,
        title="Train frequency",
        description="Steps, over all parallel environments, between two updates.",
    )

    @model_validator(mode="after")
    def _check_frequency(self) -> OffPolicyConfig:
        # The library compares steps, which grow by the number of copies.
        if not self.use_rnn and self.training_frequency % self.num_envs:
            raise ValueError(
                f"training_frequency = {self.training_frequency} must be a multiple of "
                f"num_envs = {self.num_envs}"
            )
        if self.buffer_size < self.num_envs:
            raise ValueError(f"buffer_size = {self.buffer_size} is less than num_envs = {self.num_envs}")
        return self


class QConfig(OffPolicyConfig):
    """What algorithms that value actions can be told."""

    LIBRARY = (
        *OffPolicyConfig.LIBRARY,
        *("learning_rate", "start_greedy", "end_greedy", "decay_step_greedy", "sync_frequency", "double_q"),
    )

    learning_rate: float = rate(1e-3, "Step size of the optimizer.")
    q_hidden_size: tuple[Width, ...] = widths(
        (64,), "Values", "Widths of what values actions, behind what sees."
    )
    start_greedy: float = Field(
        1.0, ge=0, le=1, title="Initial epsilon", description="Part of random actions at the start."
    )
    end_greedy: float = Field(
        0.05, ge=0, le=1, title="Final epsilon", description="Part of random actions in the end."
    )
    decay_step_greedy: int = Field(
        100_000,
        ge=1,
        title="Exploration steps",
        description="Steps over which exploration falls.",
        json_schema_extra=MAIN,
    )
    sync_frequency: int = Field(
        100,
        ge=1,
        le=1_000_000,
        title="Target update interval",
        description="Updates between two of the target network.",
    )
    double_q: bool = Field(True, title="Double Q", description="Choose and value the next action apart.")

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
        32, title="Mixing network width", description="Width of what mixes values."
    )
    hidden_dim_hyper_net: Width = Field(
        64, title="Hypernetwork width", description="Width of what makes the mixer's weights."
    )


class WQMIXConfig(QMIXConfig):
    """Weighted QMIX: mixtures that overrate the best joint action less (Rashid et al. 2020)."""

    LIBRARY = (*QMIXConfig.LIBRARY, "alpha", "hidden_dim_ff_mix_net")

    alpha: float = Field(
        0.1, gt=0, le=1, title="Weight", description="Of joint actions that are thought to be worse."
    )
    hidden_dim_ff_mix_net: Width = Field(
        256, title="Unrestricted mixer", description="Width of the mixer that is not monotonic."
    )


class DDPGConfig(OffPolicyConfig):
    """What algorithms with deterministic actors can be told."""

    LIBRARY = (
        *OffPolicyConfig.LIBRARY,
        *("learning_rate_actor", "learning_rate_critic", "tau", "start_noise", "end_noise"),
    )

    representation_hidden_size: tuple[Width, ...] = widths(
        (), "Representation", "Widths of the layers that see."
    )
    activation: Literal["relu", "leaky_relu", "tanh", "elu"] = Field(
        "leaky_relu", title="Activation", description="Between layers."
    )
    learning_rate_actor: float = rate(1e-3, "Step size of what acts.", "Actor's rate")
    learning_rate_critic: float = rate(1e-3, "Step size of what values.", "Critic's rate")
    actor_hidden_size: tuple[Width, ...] = widths((64, 64), "Actor", "Widths of what acts.")
    critic_hidden_size: tuple[Width, ...] = widths((64, 64), "Critic", "Widths of what values.")
    tau: float = Field(0.001, gt=0, le=1, title="Tau", description="Part of the network that targets take.")
    start_noise: float = Field(
        1.0, ge=0, le=10, title="Initial noise", description="Deviation of the noise on actions at the start."
    )
    end_noise: float = Field(
        0.01, ge=0, le=10, title="Final noise", description="Deviation of the noise on actions in the end."
    )

    @property
    def heads(self) -> dict[str, Any]:
        return {"actor_hidden_size": self.actor_hidden_size, "critic_hidden_size": self.critic_hidden_size}


class IDDPGConfig(DDPGConfig):
    """Independent DDPG: each agent learns by itself (Lillicrap et al. 2016)."""


class MADDPGConfig(DDPGConfig):
    """MADDPG: critics see what all agents see and do (Lowe et al. 2017)."""


class TD3Config(DDPGConfig):
    """What TD3 for teams can be told."""

    LIBRARY = (*DDPGConfig.LIBRARY, "actor_update_delay")

    actor_update_delay: int = Field(
        2, ge=1, le=1000, title="Policy delay", description="Updates of critics for one of the actor."
    )


class ITD3Config(TD3Config):
    """Independent TD3: each agent learns by itself (Fujimoto et al. 2018)."""


class MATD3Config(TD3Config):
    """MATD3: MADDPG with two critics and a slower actor (Ackermann et al. 2019)."""


class SACConfig(DDPGConfig):
    """What soft actor critics for teams can be told."""

    LIBRARY = (
        *OffPolicyConfig.LIBRARY,
        *("learning_rate_actor", "learning_rate_critic", "tau", "alpha", "use_automatic_entropy_tuning"),
    )

    alpha: float = Field(
        0.01, ge=0, le=100, title="Entropy coefficient", description="Weight of the entropy, or its first."
    )
    use_automatic_entropy_tuning: bool = Field(
        True, title="Tune the entropy coefficient", description="Learn the weight of the entropy."
    )


class ISACConfig(SACConfig):
    """Independent soft actor critic: each agent learns by itself (Haarnoja et al. 2018)."""


class MASACConfig(SACConfig):
    """Multi-agent soft actor critic: critics see what all agents see and do."""
