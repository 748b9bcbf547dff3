"""Settings of trainings: one model per algorithm, read without torch."""

from cleanrl_worker.config.base import MAIN, ConfigError, TrainingConfig
from cleanrl_worker.config.ppo import PPOConfig, PPOLSTMConfig

__all__ = ["MAIN", "ConfigError", "PPOConfig", "PPOLSTMConfig", "TrainingConfig"]
