"""Lists the algorithms of this worker, without importing torch or the library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from xuance_worker import config
from xuance_worker.config import TeamConfig


@dataclass(frozen=True)
class Acting:
    """The acting part of an algorithm's policy for one kind of actions.

    Attributes:
        kind: Kind of the head, see :class:`xuance_worker.network.Network`.
        policy: Name of the library's policy.
        representation: Prefix of the representation's parameters.
        head: Prefix of the head's parameters.
    """

    kind: str
    policy: str
    representation: str = "actor_representation"
    head: str = "actor"


@dataclass(frozen=True)
class Algorithm:
    """Entry of the list of algorithms.

    Attributes:
        name: Name for the command line.
        title: Name to show to users; the library's name.
        learner: Name of the library's learner.
        config_class: Class of its settings.
        acting: Acting part of the policy, by kind of actions.
        on_policy: Whether it learns from its own rollouts.
        masks: Whether its policy never plays an action that the action mask forbids.
        recurrent: Whether its policy can remember earlier observations of the episode.
        fixed: Further settings of the library, which are always the same.
        observations: Kinds of observations that it learns from.
    """

    name: str
    title: str
    learner: str
    config_class: type[TeamConfig]
    acting: Mapping[str, Acting]
    on_policy: bool = False
    masks: bool = True
    recurrent: bool = False
    fixed: Mapping[str, Any] = field(default_factory=dict[str, Any])
    observations: tuple[str, ...] = ("vector", "image")

    @property
    def paradigms(self) -> tuple[str, ...]:
        """How agents take turns in its environments."""
        return ("SIMULTANEOUS",)

    @property
    def actions(self) -> tuple[str, ...]:
        """Kinds of actions that it learns."""
        return tuple(self.acting)


_PPO = {
    "discrete": Acting("categorical", "Categorical_MAAC_Policy"),
    "continuous": Acting("gaussian", "Gaussian_MAAC_Policy"),
}
_COUNTED = {"discrete": _PPO["discrete"]}
_ON = {
    "use_gae": True,
    "use_linear_lr_decay": False,
    "end_factor_lr_decay": 0.5,
    "weight_decay": 0,
    "use_value_clip": True,
    "value_clip_range": 0.2,
    "use_huber_loss": True,
    "huber_delta": 10.0,
    "target_kl": 0.25,
}
_PLAIN = {**_ON, "use_value_clip": False, "use_huber_loss": False, "use_value_norm": False}


def _values(policy: str) -> Mapping[str, Acting]:
    return {"discrete": Acting("values", policy, "representation", "eval_Qhead")}


def _real(kind: str, policy: str) -> Mapping[str, Acting]:
    return {"continuous": Acting(kind, policy)}


ALGORITHMS: Mapping[str, Algorithm] = {
    found.name: found
    for found in (
        Algorithm("ippo", "IPPO", "IPPO_Learner", config.IPPOConfig, _PPO, True, recurrent=True, fixed=_ON),
        Algorithm(
            *("mappo", "MAPPO", "MAPPO_Learner", config.MAPPOConfig, _PPO, True),
            recurrent=True,
            fixed={**_ON, "use_global_state": True},  # without it, agents need observations of equal length
        ),
        Algorithm("iac", "IAC", "IAC_Learner", config.IACConfig, _COUNTED, True, fixed=_PLAIN),
        Algorithm(
            *("vdac", "VDAC", "VDAC_Learner", config.VDACConfig, _COUNTED, True),
            fixed={**_PLAIN, "mixer": "VDN", "use_global_state": True},
        ),
        Algorithm(
            *("iql", "IQL", "IQL_Learner", config.IQLConfig, _values("Basic_Q_network_marl")), recurrent=True
        ),
        Algorithm(
            *("vdn", "VDN", "VDN_Learner", config.VDNConfig, _values("Mixing_Q_network")), recurrent=True
        ),
        Algorithm(
            *("qmix", "QMIX", "QMIX_Learner", config.QMIXConfig, _values("Mixing_Q_network")),
            recurrent=True,
            fixed={"use_global_state": True},
        ),
        Algorithm(
            *("owqmix", "OWQMIX", "WQMIX_Learner", config.WQMIXConfig, _values("Weighted_Mixing_Q_network")),
            fixed={"use_global_state": True},
        ),
        Algorithm(
            *("iddpg", "IDDPG", "IDDPG_Learner", config.IDDPGConfig),
            _real("deterministic", "Independent_DDPG_Policy"),
            masks=False,
        ),
        Algorithm(
            *("maddpg", "MADDPG", "MADDPG_Learner", config.MADDPGConfig),
            _real("deterministic", "MADDPG_Policy"),
            masks=False,
        ),
        Algorithm(
            *("itd3", "ITD3", "ITD3_Learner", config.ITD3Config),
            _real("deterministic", "Independent_TD3_Policy"),
            masks=False,
        ),
        Algorithm(
            *("matd3", "MATD3", "MATD3_Learner", config.MATD3Config),
            _real("deterministic", "MATD3_Policy"),
            masks=False,
        ),
        Algorithm(
            *("isac", "ISAC", "ISAC_Learner", config.ISACConfig),
            _real("squashed", "Gaussian_ISAC_Policy"),
            masks=False,
        ),
        Algorithm(
            *("masac", "MASAC", "MASAC_Learner", config.MASACConfig),
            _real("squashed", "Gaussian_MASAC_Policy"),
            masks=False,
        ),
    )
}
