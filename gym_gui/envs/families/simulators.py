"""What families have in common whose worlds are engines that the user starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from gym_gui.envs.families.served import OwnPythonFamily
from gym_gui.envs.spec import EnvSpec

if TYPE_CHECKING:
    from gym_gui.envs.remote_env import Wanted

_CALLS = 8
"""Calls of one step, each of which may take its whole time."""


class SimulatorFamily(OwnPythonFamily):
    """Environments whose server speaks to an engine, and waits for it with time limits of its own.

    Attributes:
        port: Where its engines listen, unless it is said.
    """

    port: ClassVar[int]

    def world(self, spec: EnvSpec, env_kwargs: Mapping[str, Any]) -> str:
        """The engine."""
        return f"{self.name} {env_kwargs.get('host', '127.0.0.1')}:{env_kwargs.get('port', self.port)}"

    def wanted(self, spec: EnvSpec, arguments: Mapping[str, Any]) -> Wanted:
        """Give the server the time in which it says itself that the engine does not answer."""
        wanted = super().wanted(spec, arguments)
        longest = _CALLS * (_seconds(arguments.get("timeout_s")) + _seconds(arguments.get("step_s")))
        return replace(wanted, begin_s=max(wanted.begin_s, longest), step_s=max(wanted.step_s, longest))


def _seconds(value: Any) -> float:
    """A setting, where it is a number; what else is wrong with it the environment says."""
    return float(value) if isinstance(value, int | float) and 0 < value < 1e6 else 0.0
