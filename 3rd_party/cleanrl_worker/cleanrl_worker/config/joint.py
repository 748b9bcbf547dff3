"""Settings of trainings in which several agents learn together."""

from __future__ import annotations

from pydantic import Field, model_validator

from cleanrl_worker.config.ppo import OnPolicyConfig, clip_vloss
from mosaic_worker.learning import training_fields as fields


class JointConfig(OnPolicyConfig):
    """Settings of every algorithm for several agents.

    The defaults learn simple_spread in some hundred thousand steps. The value loss is not clipped: rewards
    are scaled but not centered, so values begin several units away from the returns. If values could change
    by at most 0.2 per update, the policy would hardly learn until the values are near the returns.
    """

    env_id: str = fields.team("simple_spread_v3")
    num_envs: int = fields.num_envs(32)
    num_steps: int = fields.rollout_length(50, main=True)
    learning_rate: float = fields.learning_rate(5e-4, "Adam's step size at the start.")
    gamma: float = fields.discount(0.95)
    update_epochs: int = fields.epochs(10)
    share_parameters: bool = fields.share_parameters(True)
    lstm_size: int = fields.lstm_size(
        0, "Size of the LSTM's hidden state for each agent; 0: no LSTM.", ge=0, le=4096
    )
    clip_vloss: bool = clip_vloss(False)
    normalize_rewards: bool = fields.normalize_rewards(True)
    async_envs: bool = Field(
        default=True,
        title="Environments on all cores",
        description="Divide the environments among processes, one per available core; the results are "
        "bit-identical.",
    )

    @model_validator(mode="after")
    def _check_copies(self) -> JointConfig:
        if self.lstm_size and self.num_envs % self.minibatches:
            raise ValueError(
                f"a minibatch has whole environments: num_envs = {self.num_envs} cannot be split into "
                f"num_minibatches = {self.minibatches}; change one of them"
            )
        return self


class IPPOConfig(JointConfig):
    """Independent PPO: each agent learns separately from its own observations and rewards."""


class MAPPOConfig(JointConfig):
    """Multi-agent PPO: like IPPO, with a value function that uses the observations of all agents."""
