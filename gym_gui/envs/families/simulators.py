"""Base class of families whose environments run in an engine that the user starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from gym_gui.envs.families.served import OwnPythonFamily
from gym_gui.envs.spec import EnvSpec

if TYPE_CHECKING:
    from gym_gui.envs.remote_env import InstanceRequest

_CALLS = 8
"""Maximum number of calls to the engine in one step; each may take its whole time limit."""


class SimulatorFamily(OwnPythonFamily):
    """Family whose server exchanges messages with an engine and limits the time of each call.

    Attributes:
        port: Default TCP port of the engine.
    """

    port: ClassVar[int]

    def world(self, spec: EnvSpec, env_kwargs: Mapping[str, Any]) -> str:
        """Return the family's name with the engine's host and port.

        The engine runs one environment at a time.
        """
        return f"{self.name} {env_kwargs.get('host', '127.0.0.1')}:{env_kwargs.get('port', self.port)}"

    def wanted(self, spec: EnvSpec, arguments: Mapping[str, Any]) -> InstanceRequest:
        """Return the request to the server, with time limits longer than all of its calls to the engine.

        So the server itself can report an engine that does not answer.
        """
        wanted = super().wanted(spec, arguments)
        longest = _CALLS * (_seconds(arguments.get("timeout_s")) + _seconds(arguments.get("step_s")))
        return replace(wanted, begin_s=max(wanted.begin_s, longest), step_s=max(wanted.step_s, longest))


def _seconds(value: Any) -> float:
    """Return a setting as a number; 0 if it is invalid, which the environment then reports."""
    return float(value) if isinstance(value, int | float) and 0 < value < 1e6 else 0.0
