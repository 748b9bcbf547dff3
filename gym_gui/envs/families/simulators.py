"""Base class of families whose worlds are engines that the user starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from gym_gui.envs.families.served import OwnPythonFamily
from gym_gui.envs.spec import EnvSpec

if TYPE_CHECKING:
    from gym_gui.envs.remote_env import Wanted

_CALLS = 8
"""Calls of one step, each of which may use its whole time limit."""


class SimulatorFamily(OwnPythonFamily):
    """Environments whose server talks to an engine and waits for it with separate time limits.

    Attributes:
        port: Default port of the engine.
    """

    port: ClassVar[int]

    def world(self, spec: EnvSpec, env_kwargs: Mapping[str, Any]) -> str:
        """Return the name of the engine with its host and port."""
        return f"{self.name} {env_kwargs.get('host', '127.0.0.1')}:{env_kwargs.get('port', self.port)}"

    def wanted(self, spec: EnvSpec, arguments: Mapping[str, Any]) -> Wanted:
        """Return the request with limits long enough that the server itself can report a silent engine."""
        wanted = super().wanted(spec, arguments)
        longest = _CALLS * (_seconds(arguments.get("timeout_s")) + _seconds(arguments.get("step_s")))
        return replace(wanted, begin_s=max(wanted.begin_s, longest), step_s=max(wanted.step_s, longest))


def _seconds(value: Any) -> float:
    """Return a setting if it is a valid number, else 0; the environment reports what is wrong with it."""
    return float(value) if isinstance(value, int | float) and 0 < value < 1e6 else 0.0
