"""Host process that is started ahead of its session, and queries of environments for commands.

The host's imports take as long as a command takes to read and check an experiment; on two cores both happen
at the same time. The command itself makes no environment: a separate process
(:mod:`gym_gui.controllers.setup.environment_probe`) reads the seats of environments.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from gym_gui.core.errors import MosaicError
from gym_gui.host.host_program import HostProgram
from gym_gui.host.idle_hosts import IdleHosts

if TYPE_CHECKING:
    from gym_gui.controllers.engine.environment_seats import EnvironmentSeats
    from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
    from gym_gui.controllers.engine.session_events import OnSessionEvent
    from gym_gui.controllers.engine.session_interface import Session, SessionSettings
    from gym_gui.controllers.setup.environment_info_cache import EnvironmentInfos
    from gym_gui.controllers.setup.environment_probe import EnvironmentProbe
    from gym_gui.core.config import OperatorConfig
    from gym_gui.core.experiment.matrix_expansion import SlotsAndTeams

_T = TypeVar("_T")
LONGEST_LOOK_S: Final = 600.0
"""Longest wait in seconds for an environment. Packages may download or compile at first use."""


class SpareHost:
    """At most one started host process that no session uses yet; the next session takes it.

    Args:
        pictures: Whether the host shares memory for pictures, for sessions that are watched.
    """

    def __init__(self, *, pictures: bool = False) -> None:
        self._pictures = pictures
        self._program: HostProgram | None = None
        self.taken = asyncio.Event()
        """Event that is set when a session requests the host, even if none is running, and at the end."""

    @property
    def pid(self) -> int:
        """Process id of the spare host; 0 if none is running."""
        return self._program.child.pid if self._program is not None else 0

    async def start(self) -> None:
        """Start a spare host if none is running.

        Raises:
            ChildStartError: The host cannot be started.
        """
        if self._program is None:
            self._program = await HostProgram.start("the session process", pictures=self._pictures)

    async def take(self, variables: Collection[str]) -> HostProgram | None:
        """Return the spare host, which the caller owns from now on; ``None`` if none is suitable.

        Args:
            variables: Names of all environment variables that the host may have. A host that was started
                with any other variable is ended.
        """
        self.taken.set()
        program, self._program = self._program, None
        if program is None or (program.child.running and program.variables <= {*variables}):
            return program
        await _ended(program)
        return None

    async def close(self) -> None:
        """End the spare host, if one is running."""
        self.taken.set()
        program, self._program = self._program, None
        if program is not None:
            await _ended(program)


class CommandHosts:
    """A command's spare host, its process for environment queries, and the event loop of both.

    This context manager starts the host on entry and ends both processes on exit, except a host that a
    session uses.

    Args:
        wanted: Whether anything will be played; otherwise no host is started.
        longest_s: Seconds after which an environment that does not answer counts as hung.
    """

    def __init__(self, *, wanted: bool = True, longest_s: float = LONGEST_LOOK_S) -> None:
        self._runner = asyncio.Runner()
        self._wanted, self._longest_s = wanted, longest_s
        self._spare, self._idle_hosts = SpareHost(), IdleHosts()
        self._probe: EnvironmentProbe | None = None
        self._env_infos: EnvironmentInfos | None = None

    def __enter__(self) -> Self:
        self._runner.__enter__()
        if self._wanted:
            try:
                self._runner.run(self._spare.start())
            except MosaicError:
                pass  # the session that needs a host tries again and reports the error
            except BaseException:
                self._runner.close()
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._runner.run(self._close())
        finally:
            self._runner.close()

    async def _close(self) -> None:
        if self._probe is not None:
            await self._probe.close()
        await asyncio.gather(self._spare.close(), self._idle_hosts.close())

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine in the event loop, as :func:`asyncio.run` does."""
        return self._runner.run(work)

    async def host_taken(self) -> None:
        """Wait until a session has taken the spare host and waits for its answers."""
        await self._spare.taken.wait()

    def seats(self, operator: OperatorConfig) -> EnvironmentSeats:
        """Return the seats of an operator's environment; do not call this while :meth:`run` runs.

        Raises:
            NotAllowedError: A file names code that the user has not allowed.
            UsageError: The environment is unknown, not installed, cannot be made, or has not answered.
        """
        if self._env_infos is None:
            from gym_gui.controllers.setup.environment_info_cache import SHEETS_FOLDER, EnvironmentInfos
            from gym_gui.controllers.setup.environment_probe import EnvironmentProbe
            from gym_gui.services.store import Store

            self._probe = EnvironmentProbe(longest_s=self._longest_s)
            self._env_infos = EnvironmentInfos(Store().cache_dir(SHEETS_FOLDER), self._probe)
        return self.run(self._env_infos.seats(operator))

    def places(self, operator: OperatorConfig) -> SlotsAndTeams:
        """Return slots and teams of the environment of a matrix row, which has no players yet."""
        from gym_gui.core.experiment.matrix_expansion import SlotsAndTeams

        seats = self.seats(operator)
        return SlotsAndTeams(tuple(seats.slots), seats.teams if operator.teams is None else operator.teams)

    def open_session(
        self, resolved: ResolvedOperator, settings: SessionSettings, on_event: OnSessionEvent
    ) -> Session:
        """Return a session in a host process.

        The first session that is started takes the spare host. A later one takes the host of a session that
        has ended, if that has played the same environment.
        """
        from gym_gui.host.host_client import HostSession

        if self._probe is not None:
            self._probe.cancel()  # all queries are answered, and the process uses as much memory as a host
        idle_hosts = self._idle_hosts
        return HostSession(resolved, settings, on_event, take=self._spare.take, idle_hosts=idle_hosts)


async def _ended(program: HostProgram) -> None:
    await program.child.end(reason="it was not needed")
    await program.release()
