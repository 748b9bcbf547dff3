"""Lists the algorithms of this worker; a new algorithm needs an entry here and a module.

Modules are named as strings and imported only when they are used, so that settings can be read without torch.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mosaic_worker.learning.training_command import named

if TYPE_CHECKING:  # playing does not need pydantic, whose import takes a third of a second
    from cleanrl_worker.config.base import TrainingConfig


@dataclass(frozen=True)
class Algorithm:
    """Entry of the list of algorithms.

    Attributes:
        name: Name for the command line.
        title: Name to show to users.
        actions: Kinds of actions that it learns: ``discrete``, ``multi_discrete``, ``continuous``.
        observations: Kinds of observations that it learns from: ``vector``, ``image``.
        masks: Whether its policy never plays an action that the action mask forbids.
        recurrent: Whether its policy remembers earlier observations of the episode.
        config: ``module:Class`` of its settings.
        train: ``module:function`` with the signature of :func:`cleanrl_worker.algorithms.ppo.train`.
        paradigms: How agents take turns in its environments: ``SINGLE_AGENT``, ``SIMULTANEOUS``,
            ``SEQUENTIAL``.
        joint: Whether several agents learn, separately or together.
        networks: ``module:Class`` of the player for each ``network["type"]`` of ``policy.json``.
    """

    name: str
    title: str
    config: str
    train: str
    networks: Mapping[str, str] = field(default_factory=dict[str, str])
    actions: tuple[str, ...] = ("discrete",)
    observations: tuple[str, ...] = ("vector", "image")
    masks: bool = False
    recurrent: bool = False
    paradigms: tuple[str, ...] = ("SINGLE_AGENT",)
    joint: bool = False

    @property
    def config_class(self) -> type[TrainingConfig]:
        """Class of the algorithm's settings."""
        return load(self.config)


_ACTOR_CRITIC = {
    "actor_critic": "cleanrl_worker.players:ActorCriticPlayer",
    "mlp": "cleanrl_worker.players:ActorCriticPlayer",  # name in format 1
}
_JOINT = {
    **{f"actor{critic}": "cleanrl_worker.players:ActorCriticPlayer" for critic in ("", "_critic")},
    **{f"actor{critic}_lstm": "cleanrl_worker.players:RecurrentPlayer" for critic in ("", "_critic")},
}
_DETERMINISTIC = {"deterministic_actor": "cleanrl_worker.off_policy_players:ActorPlayer"}

ALGORITHMS: Mapping[str, Algorithm] = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm(
            "ppo",
            "PPO",
            config="cleanrl_worker.config.ppo:PPOConfig",
            train="cleanrl_worker.algorithms.ppo:train",
            networks=_ACTOR_CRITIC,
            actions=("discrete", "multi_discrete", "continuous"),
            masks=True,
        ),
        Algorithm(
            "ppo_lstm",
            "PPO with LSTM",
            config="cleanrl_worker.config.ppo:PPOLSTMConfig",
            train="cleanrl_worker.algorithms.ppo_lstm:train",
            networks={"actor_critic_lstm": "cleanrl_worker.players:RecurrentPlayer"},
            actions=("discrete", "multi_discrete", "continuous"),
            masks=True,
            recurrent=True,
        ),
        Algorithm(
            "ippo",
            "IPPO",
            config="cleanrl_worker.config.joint:IPPOConfig",
            train="cleanrl_worker.algorithms.ippo:train",
            networks=_JOINT,
            actions=("discrete", "multi_discrete", "continuous"),
            masks=True,
            paradigms=("SIMULTANEOUS",),
            joint=True,
        ),
        Algorithm(
            "mappo",
            "MAPPO",
            config="cleanrl_worker.config.joint:MAPPOConfig",
            train="cleanrl_worker.algorithms.mappo:train",
            networks=_JOINT,
            actions=("discrete", "multi_discrete", "continuous"),
            observations=("vector",),
            masks=True,
            paradigms=("SIMULTANEOUS",),
            joint=True,
        ),
        Algorithm(
            "self_play",
            "Self-play",
            config="cleanrl_worker.config.self_play:SelfPlayConfig",
            train="cleanrl_worker.algorithms.self_play:train",
            networks=_ACTOR_CRITIC,
            masks=True,
            paradigms=("SEQUENTIAL", "SIMULTANEOUS"),
        ),
        Algorithm(
            "dqn",
            "DQN",
            config="cleanrl_worker.config.dqn:DQNConfig",
            train="cleanrl_worker.algorithms.dqn:train",
            networks={"q_network": "cleanrl_worker.off_policy_players:QPlayer"},
            masks=True,
        ),
        Algorithm(
            "c51",
            "C51",
            config="cleanrl_worker.config.dqn:C51Config",
            train="cleanrl_worker.algorithms.c51:train",
            networks={"categorical_q_network": "cleanrl_worker.off_policy_players:QPlayer"},
            masks=True,
        ),
        Algorithm(
            "ddpg",
            "DDPG",
            config="cleanrl_worker.config.continuous:DDPGConfig",
            train="cleanrl_worker.algorithms.ddpg:train",
            networks=_DETERMINISTIC,
            actions=("continuous",),
            observations=("vector",),
        ),
        Algorithm(
            "td3",
            "TD3",
            config="cleanrl_worker.config.continuous:TD3Config",
            train="cleanrl_worker.algorithms.td3:train",
            networks=_DETERMINISTIC,
            actions=("continuous",),
            observations=("vector",),
        ),
        Algorithm(
            "sac",
            "SAC",
            config="cleanrl_worker.config.continuous:SACConfig",
            train="cleanrl_worker.algorithms.sac:train",
            networks={"gaussian_actor": "cleanrl_worker.off_policy_players:ActorPlayer"},
            actions=("continuous",),
            observations=("vector",),
        ),
    )
}


def algorithm(name: str) -> Algorithm:
    """Find an algorithm by name, ignoring case.

    Raises:
        ConfigError: No algorithm has this name; the message names the nearest.
    """
    return named(name, ALGORITHMS)


def player_class(network: str) -> Any:
    """Return the class that plays networks of this type.

    Raises:
        ValueError: No algorithm writes networks of this type.
    """
    for algorithm in ALGORITHMS.values():
        if network in algorithm.networks:
            return load(algorithm.networks[network])
    raise ValueError(f"its network is of an unknown kind: {network!r}")


def load(path: str) -> Any:
    """Import and return the object that ``module:name`` names."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)
