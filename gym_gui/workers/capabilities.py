"""Capabilities of a worker, and their comparison with the needs of an environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.spaces import to_space
from gym_gui.workers.patterns import made_for_others

ANY = "any"
"""Entry in a list of kinds that means "any kind"."""

ACTION_KINDS = (
    "discrete", "continuous", "multi_discrete", "multi_binary", "dict", "tuple",
    "text", "sequence", "graph", ANY,
)  # fmt: skip
OBSERVATION_KINDS = (
    "box", "image", "discrete", "multi_discrete", "multi_binary", "dict", "tuple",
    "text", "sequence", "graph", ANY,
)  # fmt: skip

_KIND = {
    "Discrete": "discrete",
    "MultiDiscrete": "multi_discrete",
    "MultiBinary": "multi_binary",
    "Dict": "dict",
    "Tuple": "tuple",
    "OneOf": "tuple",
    "Text": "text",
    "Sequence": "sequence",
    "Graph": "graph",
}


@dataclass(frozen=True)
class WorkerCapabilities:
    """Environments and spaces that a worker supports, as its manifest declares them.

    Paradigms, ``max_agents`` and the GPU fields limit *training*: the environments in which the worker may
    learn. Whether the worker can play a slot is decided with the slot and the environment
    (:func:`gym_gui.services.compatibility.fit`).

    Attributes:
        worker_type: The worker's id.
        paradigm: Primary paradigm.
        supported_paradigms: All supported paradigms; the primary one if empty.
        env_types: ``"gymnasium"``, ``"pettingzoo"``, … or ``"any"``.
        action_spaces: Kinds from :data:`ACTION_KINDS`.
        observation_spaces: Kinds from :data:`OBSERVATION_KINDS`.
        environments: Patterns (``*chess*``) of the environments that the worker can play; empty: all.
        max_agents: Number of agents that can be trained together; 1 for single-agent algorithms.
        supports_self_play: Whether the worker can train against itself.
        supports_population: Whether the worker can train a population.
        requires_gpu: Whether the worker prefers a GPU; without a GPU, it still starts.
        gpu_memory_mb: Requested GPU memory in MB, or ``None``.
        cpu_cores: Requested number of cores for training.

    Raises:
        ValueError: A count is too small, or the paradigm is not among the supported ones.
    """

    worker_type: str
    paradigm: SteppingParadigm = SteppingParadigm.SINGLE_AGENT
    supported_paradigms: Sequence[SteppingParadigm] = ()
    env_types: Sequence[str] = ("gymnasium",)
    action_spaces: Sequence[str] = ("discrete",)
    observation_spaces: Sequence[str] = ("box",)
    environments: Sequence[str] = ()
    max_agents: int = 1
    supports_self_play: bool = False
    supports_population: bool = False
    requires_gpu: bool = False
    gpu_memory_mb: int | None = None
    cpu_cores: int = 1

    def __post_init__(self) -> None:
        for name in (
            "supported_paradigms",
            "env_types",
            "action_spaces",
            "observation_spaces",
            "environments",
        ):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not self.supported_paradigms:
            object.__setattr__(self, "supported_paradigms", (self.paradigm,))
        if self.paradigm not in self.supported_paradigms:
            raise ValueError(f"paradigm {self.paradigm.name} is not among the supported_paradigms")
        for name, least in (("max_agents", 1), ("cpu_cores", 1), ("gpu_memory_mb", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name} is {value}, but must be at least {least}")

    def made_for_others(self, env_id: str) -> str:
        """Return text such as ``made for chess, not for CartPole-v1``; ``""`` if it does not apply."""
        return made_for_others(env_id, self.environments)

    def acts_in(self, kind: str) -> bool:
        """Return whether the worker can choose actions of this kind of space."""
        return bool({kind, ANY} & set(self.action_spaces))

    def observes(self, *kinds: str) -> bool:
        """Return whether the worker supports at least one of these kinds of observation spaces."""
        return bool({*kinds, ANY} & set(self.observation_spaces))

    def incompatibilities(
        self,
        *,
        env_id: str = "",
        paradigm: SteppingParadigm | None = None,
        env_type: str | None = None,
        action_space: str | None = None,
        observation_space: str | None = None,
        agents: int | None = None,
    ) -> list[str]:
        """Return the reasons why the worker cannot train in an environment, as sentences; empty if it can.

        Empty if it can.

        Arguments that are not given are not compared.
        """
        others = self.made_for_others(env_id)
        found = [f"the worker is {others}"] if others else []
        if paradigm is not None and paradigm not in self.supported_paradigms:
            ours = ", ".join(p.name for p in self.supported_paradigms)
            found.append(f"the environment steps {paradigm.name}, the worker supports {ours}")
        for what, wanted, ours, can in (
            ("environment type", env_type, self.env_types, self._steps_through),
            ("action space", action_space, self.action_spaces, self.acts_in),
            ("observation space", observation_space, self.observation_spaces, self.observes),
        ):
            if wanted is not None and not can(wanted):
                found.append(f"the {what} is {wanted}, the worker supports {', '.join(ours)}")
        if agents is not None and agents > self.max_agents:
            found.append(f"there are {agents} agents, the worker trains at most {self.max_agents}")
        return found

    def _steps_through(self, env_type: str) -> bool:
        return bool({env_type, ANY} & set(self.env_types))


def action_kind(space: Any) -> str:
    """Return the kind of an action space from :data:`ACTION_KINDS`; ``"custom"`` for any other."""
    kind = to_space(space).kind
    return "continuous" if kind == "Box" else _KIND.get(kind, "custom")


def observation_kinds(space: Any) -> tuple[str, ...]:
    """Return the kinds of an observation space, most specific first.

    An image (``uint8`` array of height x width x 1, 3 or 4) is a ``box``, too.
    """
    described = to_space(space)
    if described.kind != "Box":
        return (_KIND.get(described.kind, "custom"),)
    shape = described.shape
    is_image = described.dtype == np.uint8 and len(shape) == 3 and shape[-1] in (1, 3, 4)
    return ("image", "box") if is_image else ("box",)
