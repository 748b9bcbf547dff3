"""Lists the algorithms of this worker, without importing torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sb3_worker.config import (
    A2CConfig,
    DDPGConfig,
    DQNConfig,
    MaskablePPOConfig,
    PPOConfig,
    QRDQNConfig,
    RecurrentPPOConfig,
    SACConfig,
    TD3Config,
    TQCConfig,
    TrainingConfig,
    TRPOConfig,
)

_DISCRETE = ("discrete", "multi_discrete", "multi_binary")
_ANY = (*_DISCRETE, "continuous")


@dataclass(frozen=True)
class Algorithm:
    """Entry of the list of algorithms.

    Attributes:
        name: Name for the command line.
        title: Name to show to users.
        model: ``module:Class`` of the library's algorithm.
        family: Kind of network that it trains, see :mod:`sb3_worker.families`.
        config_class: Class of its settings.
        actions: Kinds of actions that it learns.
        masks: Whether its policy never plays an action that the action mask forbids.
        recurrent: Whether its policy remembers earlier observations of the episode.
        observations: Kinds of observations that it learns from.
    """

    name: str
    title: str
    model: str
    family: str
    config_class: type[TrainingConfig]
    actions: tuple[str, ...]
    masks: bool = False
    recurrent: bool = False
    observations: tuple[str, ...] = ("vector", "image")

    @property
    def paradigms(self) -> tuple[str, ...]:
        """How agents take turns in its environments: the library supports only one agent."""
        return ("SINGLE_AGENT",)


ALGORITHMS: Mapping[str, Algorithm] = {
    found.name: found
    for found in (
        Algorithm("ppo", "PPO", "stable_baselines3:PPO", "actor_critic", PPOConfig, _ANY),
        Algorithm("a2c", "A2C", "stable_baselines3:A2C", "actor_critic", A2CConfig, _ANY),
        Algorithm("trpo", "TRPO", "sb3_contrib:TRPO", "actor_critic", TRPOConfig, _ANY),
        Algorithm(
            "maskable_ppo",
            "Maskable PPO",
            "sb3_contrib:MaskablePPO",
            "maskable_actor_critic",
            MaskablePPOConfig,
            _DISCRETE,
            masks=True,
        ),
        Algorithm(
            "recurrent_ppo",
            "Recurrent PPO",
            "sb3_contrib:RecurrentPPO",
            "recurrent_actor_critic",
            RecurrentPPOConfig,
            _ANY,
            recurrent=True,
        ),
        Algorithm("dqn", "DQN", "stable_baselines3:DQN", "dqn", DQNConfig, ("discrete",)),
        Algorithm("qrdqn", "QR-DQN", "sb3_contrib:QRDQN", "qrdqn", QRDQNConfig, ("discrete",)),
        Algorithm("sac", "SAC", "stable_baselines3:SAC", "sac", SACConfig, ("continuous",)),
        Algorithm("td3", "TD3", "stable_baselines3:TD3", "td3", TD3Config, ("continuous",)),
        Algorithm("ddpg", "DDPG", "stable_baselines3:DDPG", "td3", DDPGConfig, ("continuous",)),
        Algorithm("tqc", "TQC", "sb3_contrib:TQC", "tqc", TQCConfig, ("continuous",)),
    )
}
