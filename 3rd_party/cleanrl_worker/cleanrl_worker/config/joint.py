"""Settings of trainings in which several agents learn together."""

from __future__ import annotations

from pydantic import Field, model_validator

from cleanrl_worker.config.base import MAIN
from cleanrl_worker.config.ppo import OnPolicyConfig, epochs, rollout, scaled, values_held
from mosaic_worker.learning.training_settings import num_envs_field, rate


class JointConfig(OnPolicyConfig):
    """What every algorithm for several agents can be told.

    Values are those with which simple_spread is learnt in some hundred thousand steps. The value loss is
    not clipped: rewards are scaled and not centred, so that values begin several units from where they
    belong, and at 0.2 an update the policy learns next to nothing until they are there.
    """

    env_id: str = Field(
        "simple_spread_v3",
        title="Environment",
        description="An environment whose agents act at once, or module:factory of a PettingZoo ParallelEnv.",
    )
    num_envs: int = num_envs_field(32)
    num_steps: int = rollout(50)
    learning_rate: float = rate(5e-4, "Adam's step size at the start.")
    gamma: float = Field(
        0.95,
        ge=0,
        le=1,
        title="Discount factor",
        description="What a reward counts for each step that it comes later.",
        json_schema_extra=MAIN,
    )
    update_epochs: int = epochs(10)
    share_parameters: bool = Field(
        True,
        title="Share parameters",
        description="Agents that see and act alike have one network, and are told which of them they are; "
        "else each has its own.",
        json_schema_extra=MAIN,
    )
    lstm_size: int = Field(
        0,
        ge=0,
        le=4096,
        title="LSTM size",
        description="Numbers that each agent remembers of its episode; 0: it remembers nothing.",
    )
    clip_vloss: bool = values_held(False)
    normalize_rewards: bool = scaled(True)
    async_envs: bool = Field(
        default=True,
        title="Environments on all cores",
        description="Divide them among processes, one for each core that it may use; the same bits.",
    )

    @model_validator(mode="after")
    def _check_copies(self) -> JointConfig:
        if self.lstm_size and self.num_envs % self.minibatches:
            raise ValueError(
                f"a minibatch holds whole environments: num_envs = {self.num_envs} cannot be split into "
                f"num_minibatches = {self.minibatches}; change one of them"
            )
        return self


class IPPOConfig(JointConfig):
    """Independent PPO: each agent learns by itself from what it sees and earns."""


class MAPPOConfig(JointConfig):
    """Multi-agent PPO: as IPPO, with values that are learnt from what all agents see together."""
