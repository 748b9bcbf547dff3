"""Connection to the child process that talks to a Ray cluster (:mod:`.ray_driver`)."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import sys
from asyncio.subprocess import PIPE
from typing import Any, Final

from gym_gui.core.errors import MissingDependencyError, UsageError
from gym_gui.core.inherited_environment import inherited
from gym_gui.processes.child import ChildStartError, ManagedChild, read_line
from gym_gui.services.submissions.submission_errors import (
    HostFailedError,
    HostUnreachableError,
    LocalMachineError,
)

_ANSWER_S: Final = 240.0
_END_S: Final = 5.0


def require_ray() -> None:
    """Raise an error if Ray is not installed. Ray is not imported.

    Raises:
        MissingDependencyError: Ray is missing. The error contains the install command.
    """
    if importlib.util.find_spec("ray") is None:
        raise MissingDependencyError("Ray", "mosaic install ray")


class RayLink:
    """Child process that talks to a Ray cluster and answers one request at a time."""

    def __init__(self) -> None:
        self._child: ManagedChild | None = None

    @property
    def is_open(self) -> bool:
        """Whether the process is running."""
        return self._child is not None and self._child.running

    async def open(self) -> None:
        """Start the process.

        Raises:
            MissingDependencyError: Ray is not installed here.
            HostAwayError: The process cannot be started.
        """
        require_ray()
        await self.close()
        # Ray reads its access to the cluster, including a token, from variables. The process gets no other
        # keys.
        own = {key: value for key, value in os.environ.items() if key.startswith("RAY_")}
        quiet = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
        try:
            self._child = await ManagedChild.start(
                *(sys.executable, "-P", "-m", "gym_gui.services.submissions.ray.ray_driver"),
                name="ray",
                environment=inherited() | quiet | own,
                stdin=PIPE,
                stdout=PIPE,
            )
        except ChildStartError as error:
            raise HostUnreachableError(str(error)) from error

    async def ask(self, what: str, **about: Any) -> Any:
        """Call a method of the driver process, and return its result.

        Args:
            what: A method of :class:`.ray_driver.Driver`.
            about: The method's arguments.

        Raises:
            HostAwayError: The cluster does not answer.
            HostFailedError: The cluster answers but cannot do what was asked.
            HereError: There is no space here for the result.
            UsageError: The cluster refuses the request or cannot be reached from here.
        """
        child = self._child
        if child is None or child.stdin is None:
            raise HostUnreachableError("the cluster is not connected")
        answer = b""
        try:
            async with asyncio.timeout(_ANSWER_S):
                child.stdin.write(json.dumps({"do": what, **about}).encode() + b"\n")
                await child.stdin.drain()
                while not answer.endswith(b"\n") and (piece := await read_line(_given(child.stdout))):
                    answer += piece
        except (TimeoutError, ConnectionError):
            answer = b""
        except asyncio.CancelledError:
            await self.close()  # a late answer would be taken for the next request's
            raise
        if not answer.endswith(b"\n"):
            outcome = await child.end(reason="did not answer")
            raise HostUnreachableError(f"the process that talks to Ray {outcome.words}")
        told: dict[str, Any] = json.loads(answer)
        if "done" in told:
            return told["done"]
        message = str(told.get("message")).rstrip(".")
        kinds = {"away": HostUnreachableError, "failed": HostFailedError, "full": LocalMachineError}
        raise kinds.get(str(told.get("trouble")), UsageError)(message)

    async def close(self) -> None:
        """End the process. Shards on the cluster continue."""
        if self._child is not None:
            if self._child.stdin is not None:
                self._child.stdin.close()
            await self._child.end(_END_S)
            self._child = None


def _given(stream: asyncio.StreamReader | None) -> asyncio.StreamReader:
    assert stream is not None, "it was asked for"
    return stream
