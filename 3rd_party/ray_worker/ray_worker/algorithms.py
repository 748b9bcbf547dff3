"""Lists the algorithms of this worker, without importing Ray or torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ray_worker.settings import APPOConfig, DQNConfig, IMPALAConfig, PPOConfig, RayConfig, SACConfig

_ANY = ("discrete", "multi_discrete", "continuous")


@dataclass(frozen=True)
class Algorithm:
    """Entry of the list of algorithms.

    Attributes:
        name: Name for the command line.
        title: Name to show to users.
        config: ``module:Class`` of RLlib's configuration.
        config_class: Class of its settings.
        actions: Kinds of actions that it learns.
        masks: Whether its policy never plays an action that the action mask forbids.
        recurrent: Whether its policy remembers earlier observations of the episode.
        observations: Kinds of observations that it learns from.
        paradigms: How agents may take turns in its environments.
    """

    name: str
    title: str
    config: str
    config_class: type[RayConfig]
    actions: tuple[str, ...]
    masks: bool = False
    recurrent: bool = False
    observations: tuple[str, ...] = ("vector", "image")
    paradigms: tuple[str, ...] = ("SINGLE_AGENT", "SIMULTANEOUS")


ALGORITHMS: Mapping[str, Algorithm] = {
    found.name: found
    for found in (
        Algorithm("ppo", "PPO", "ray.rllib.algorithms.ppo:PPOConfig", PPOConfig, _ANY),
        Algorithm("appo", "APPO", "ray.rllib.algorithms.appo:APPOConfig", APPOConfig, _ANY),
        Algorithm("impala", "IMPALA", "ray.rllib.algorithms.impala:IMPALAConfig", IMPALAConfig, _ANY),
        Algorithm("dqn", "DQN", "ray.rllib.algorithms.dqn:DQNConfig", DQNConfig, ("discrete",)),
        Algorithm("sac", "SAC", "ray.rllib.algorithms.sac:SACConfig", SACConfig, ("continuous",)),
    )
}
