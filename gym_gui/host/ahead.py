"""A host process that is started before it is known what it will play.

What it imports takes as long as a command takes to read and check an experiment: on two cores
one is done beside the other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from gym_gui.core.errors import MosaicError
from gym_gui.host.program import HostProgram

if TYPE_CHECKING:
    from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
    from gym_gui.controllers.engine.session_events import OnSessionEvent
    from gym_gui.controllers.engine.session_interface import Session, SessionSettings

_T = TypeVar("_T")


class SpareHost:
    """At most one host process that nobody uses yet; who wants one may have it.

    Args:
        pictures: Whether it shares memory for pictures, for sessions that are watched.
    """

    def __init__(self, *, pictures: bool = False) -> None:
        self._pictures = pictures
        self._program: HostProgram | None = None
        self.taken = asyncio.Event()
        """Set when somebody wanted it, whether there was one or not, and when it is ended."""

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
    """A spare host of a command, and the event loop that it is heard in.

    A context: on entry the process is started, on exit it has ended, unless a session has taken it.

    Args:
        wanted: Whether anything will be played; else there is a loop and no process.
    """

    def __init__(self, *, wanted: bool = True) -> None:
        self._runner = asyncio.Runner()
        self._wanted = wanted
        self._spare = SpareHost()

    def __enter__(self) -> Self:
        self._runner.__enter__()
        if self._wanted:
            try:
                self._runner.run(self._spare.start())
            except MosaicError:
                pass  # whoever needs one tries again, and says what is wrong
            except BaseException:
                self._runner.close()
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._runner.run(self._spare.close())
        finally:
            self._runner.close()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine in the loop, as :func:`asyncio.run` would."""
        return self._runner.run(work)

    def open_session(
        self, resolved: ResolvedOperator, settings: SessionSettings, on_event: OnSessionEvent
    ) -> Session:
        """A session in a host process: the first that is started gets this one."""
        from gym_gui.host.host_client import HostSession

        return HostSession(resolved, settings, on_event, take=self._spare.take)


async def _ended(program: HostProgram) -> None:
    await program.child.end(reason="it was not needed")
    await program.release()
