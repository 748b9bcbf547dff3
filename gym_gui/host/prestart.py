"""A host process that is started before it is known what it will play, and what commands ask of environments.

What it imports takes as long as a command takes to read and check an experiment: on two cores
one is done beside the other. No environment is made in the command itself: a process that looks at
environments (:mod:`gym_gui.controllers.setup.environment_probe`) is asked who can sit where.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from gym_gui.core.errors import MosaicError
from gym_gui.host.host_program import HostProgram

if TYPE_CHECKING:
    from gym_gui.controllers.engine.environment_seats import EnvironmentSeats
    from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
    from gym_gui.controllers.engine.session_events import OnSessionEvent
    from gym_gui.controllers.engine.session_interface import Session, SessionSettings
    from gym_gui.controllers.setup.environment_info_cache import EnvironmentInfos
    from gym_gui.controllers.setup.environment_probe import EnvironmentProbe
    from gym_gui.core.config import OperatorConfig
    from gym_gui.core.experiment.matrix_expansion import Places

_T = TypeVar("_T")
LONGEST_LOOK_S: Final = 600.0
"""Packages may download or compile when their environment is made for the first time."""


class SpareHost:
    """At most one started host process that no session uses yet; the next session may take it.

    Args:
        pictures: Whether it shares memory for pictures, for sessions that are watched.
    """

    def __init__(self, *, pictures: bool = False) -> None:
        self._pictures = pictures
        self._program: HostProgram | None = None
        self.taken = asyncio.Event()
        """Set when a session asks for the process, whether there is one or not, and when it is ended."""

    @property
    def pid(self) -> int:
        """Its process id; 0 where there is none."""
        return self._program.child.pid if self._program is not None else 0

    async def start(self) -> None:
        """Have one, where there is none.

        Raises:
            ChildStartError: It cannot be started.
        """
        if self._program is None:
            self._program = await HostProgram.start("the session process", pictures=self._pictures)

    async def take(self, variables: Collection[str]) -> HostProgram | None:
        """The process, for good; ``None`` where there is none of use.

        Args:
            variables: Names of all the environment variables that it may have. One that began with
                more, since withheld for an experiment's sake, is ended.
        """
        self.taken.set()
        program, self._program = self._program, None
        if program is None or (program.child.running and program.variables <= {*variables}):
            return program
        await _ended(program)
        return None

    async def close(self) -> None:
        """End it, where there is one."""
        self.taken.set()
        program, self._program = self._program, None
        if program is not None:
            await _ended(program)


class HostAhead:
    """A spare host of a command, what looks at environments for it, and the event loop of both.

    A context: on entry the host is started, on exit both have ended, unless a session has taken the host.

    Args:
        wanted: Whether anything will be played; else no host is started.
        longest_s: Seconds after which an environment that does not answer counts as hanging.
    """

    def __init__(self, *, wanted: bool = True, longest_s: float = LONGEST_LOOK_S) -> None:
        self._runner = asyncio.Runner()
        self._wanted, self._longest_s = wanted, longest_s
        self._spare = SpareHost()
        self._probe: EnvironmentProbe | None = None
        self._env_infos: EnvironmentInfos | None = None

    def __enter__(self) -> Self:
        self._runner.__enter__()
        if self._wanted:
            try:
                self._runner.run(self._spare.start())
            except MosaicError:
                pass  # the session that needs one tries again, and reports what is wrong
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
        await self._spare.close()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine in the loop, as :func:`asyncio.run` would."""
        return self._runner.run(work)

    def seats(self, operator: OperatorConfig) -> EnvironmentSeats:
        """Who can sit where in an operator's environment, asked once for each; not while :meth:`run` runs.

        Raises:
            NotAllowedError: A file names code that the person has not allowed.
            UsageError: It is unknown, not installed, cannot be made, or has not answered.
        """
        if self._env_infos is None:
            from gym_gui.controllers.setup.environment_info_cache import SHEETS_FOLDER, EnvironmentInfos
            from gym_gui.controllers.setup.environment_probe import EnvironmentProbe
            from gym_gui.services.store import Store

            self._probe = EnvironmentProbe(longest_s=self._longest_s)
            self._env_infos = EnvironmentInfos(Store().cache_dir(SHEETS_FOLDER), self._probe)
        return self.run(self._env_infos.seats(operator))

    def places(self, operator: OperatorConfig) -> Places:
        """The same for a matrix, which has no players yet."""
        from gym_gui.core.experiment.matrix_expansion import Places

        seats = self.seats(operator)
        return Places(tuple(seats.slots), seats.teams if operator.teams is None else operator.teams)

    def open_session(
        self, resolved: ResolvedOperator, settings: SessionSettings, on_event: OnSessionEvent
    ) -> Session:
        """A session in a host process: the first that is started gets this one."""
        from gym_gui.host.host_client import HostSession

        if self._probe is not None:
            self._probe.cancel()  # all have been looked at, and it holds as much memory as a host
        return HostSession(resolved, settings, on_event, take=self._spare.take)


async def _ended(program: HostProgram) -> None:
    await program.child.end(reason="it was not needed")
    await program.release()
