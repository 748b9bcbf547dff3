"""Kinds of networks with the library's class for each; imports no large package."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

FAMILIES: Mapping[str, str] = {
    "actor_critic": "stable_baselines3.common.policies:ActorCriticPolicy",
    "maskable_actor_critic": "sb3_contrib.common.maskable.policies:MaskableActorCriticPolicy",
    "recurrent_actor_critic": "sb3_contrib.common.recurrent.policies:RecurrentActorCriticPolicy",
    "dqn": "stable_baselines3.dqn.policies:DQNPolicy",
    "qrdqn": "sb3_contrib.qrdqn.policies:QRDQNPolicy",
    "sac": "stable_baselines3.sac.policies:SACPolicy",
    "td3": "stable_baselines3.td3.policies:TD3Policy",
    "tqc": "sb3_contrib.tqc.policies:TQCPolicy",
}
"""The library's class for vector observations, by the kind's name in ``policy.json``."""


def load(path: str) -> Any:
    """Import and return the object that ``module:name`` names."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)
