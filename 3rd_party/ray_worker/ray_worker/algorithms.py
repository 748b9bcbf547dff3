"""The algorithms of this worker. Nothing of Ray or torch is imported before it is needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ray_worker.settings import APPOConfig, DQNConfig, IMPALAConfig, PPOConfig, RayConfig, SACConfig

_ANY = ("discrete", "multi_discrete", "continuous")


@dataclass(frozen=True)
class Algorithm:
    """One algorithm.

    Attributes:
        name: As it is asked for.
        title: As people know it.
        config: ``module:Class`` of RLlib's configuration.
        config_class: Its settings.
        actions: Kinds of action it learns.
        masks: Whether it never plays what an action mask forbids.
        recurrent: Whether it remembers earlier observations of the episode.
        observations: Kinds of observation it learns from.
        paradigms: How agents may take turns where it learns.
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
