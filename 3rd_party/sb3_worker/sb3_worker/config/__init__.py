"""Every setting of every algorithm, with the library's own defaults where they learn."""

from mosaic_worker.learning.training_command import ConfigError
from sb3_worker.config.base import TrainingConfig
from sb3_worker.config.off_policy import (
    DDPGConfig,
    DQNConfig,
    OffPolicyConfig,
    QRDQNConfig,
    SACConfig,
    TD3Config,
    TQCConfig,
)
from sb3_worker.config.on_policy import (
    A2CConfig,
    MaskablePPOConfig,
    OnPolicyConfig,
    PPOConfig,
    RecurrentPPOConfig,
    TRPOConfig,
)

__all__ = [
    "A2CConfig",
    "ConfigError",
    "DDPGConfig",
    "DQNConfig",
    "MaskablePPOConfig",
    "OffPolicyConfig",
    "OnPolicyConfig",
    "PPOConfig",
    "QRDQNConfig",
    "RecurrentPPOConfig",
    "SACConfig",
    "TD3Config",
    "TQCConfig",
    "TRPOConfig",
    "TrainingConfig",
]
