"""Description of an environment that is known before the environment's package is imported."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.paradigms.select import APIS

DISTRIBUTION = "mosaic-gym-gui"
_VERSION = re.compile(r"^(?P<base>.+?)[-_]v(?P<version>\d+)$")


@dataclass(frozen=True)
class EnvSpec:
    """Description of one environment, from its own package's registry.

    Attributes:
        id: Canonical id, for example ``"CartPole-v1"`` or ``"classic/chess_v6"``.
        family: Name of the environment's family.
        api: Interface of the environment: ``"gymnasium"``, ``"aec"`` or ``"parallel"``.
        apis: All interfaces that the environment can have, the native one first.
        package: Import name of the package that contains the environment.
        extra: Extra of this distribution that installs the package.
        entry_point: ``"module:attribute"`` as the package registers it, or a callable.
        max_episode_steps: Step limit that the package sets, or ``None``.
        requirements: Packages that the environment needs in addition to ``extra``, as pip requirements.
        traits: Further facts about the environment that its family stores.
    """

    id: str
    family: str
    api: str
    apis: tuple[str, ...]
    package: str
    extra: str = ""
    entry_point: str | Callable[..., Any] = ""
    max_episode_steps: int | None = None
    requirements: tuple[str, ...] = ()
    traits: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        if self.api not in APIS or self.api not in self.apis:
            raise ValueError(f"{self.id}: api {self.api!r} is not one of {self.apis}")

    @property
    def install(self) -> str:
        """Command that installs what the environment needs; ``""`` if only its author knows that."""
        if not self.extra and not self.requirements:
            return ""
        return f"mosaic envs install {self.id if self.requirements else self.family}"

    @property
    def paradigm(self) -> SteppingParadigm:
        """How the agents take turns, derived from ``api``."""
        return {
            "gymnasium": SteppingParadigm.SINGLE_AGENT,
            "aec": SteppingParadigm.SEQUENTIAL,
            "parallel": SteppingParadigm.SIMULTANEOUS,
        }[self.api]

    @property
    def short_id(self) -> str:
        """Part of the id after the family's name: ``balance`` for ``vmas/balance``."""
        return self.id.partition("/")[2]

    @property
    def env_type(self) -> str:
        """Kind of interface in the capabilities of worker types: ``"gymnasium"`` or ``"pettingzoo"``."""
        return "gymnasium" if self.api == "gymnasium" else "pettingzoo"

    @property
    def module(self) -> str:
        """Module part of the entry point; ``""`` for a callable."""
        return self.entry_point.partition(":")[0] if isinstance(self.entry_point, str) else ""

    def load(self) -> Callable[..., Any]:
        """Import and return the class or function that the entry point names."""
        return resolve_name(self.entry_point) if isinstance(self.entry_point, str) else self.entry_point


def split_version(env_id: str) -> tuple[str, int | None]:
    """Split an id into name and version: ``"Taxi-v3"`` into ``("Taxi", 3)``; the version may be ``None``."""
    match = _VERSION.match(env_id)
    return (match["base"], int(match["version"])) if match else (env_id, None)


def newest_of(env_id: str, known: Iterable[str]) -> str | None:
    """Return the newest known id that differs from ``env_id`` only in the version; ``None`` without one."""
    base = split_version(env_id)[0].lower()
    same = [(split_version(k)[1] or 0, k) for k in known if split_version(k)[0].lower() == base]
    return max(same)[1] if same else None
