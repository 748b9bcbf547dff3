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
    from gym_gui.controllers.resolved_operator import ResolvedOperator
    from gym_gui.controllers.session_events import OnSessionEvent
    from gym_gui.controllers.session_interface import Session, SessionSettings

_T = TypeVar("_T")


class HostAhead:
    """One host process, and the event loop that it is heard in.

    A context: on entry the process is started, on exit it has ended, unless a session has taken it.

    Args:
        wanted: Whether anything will be played; else there is a loop and no process.
    """

    def __init__(self, *, wanted: bool = True) -> None:
        self._runner = asyncio.Runner()
        self._wanted = wanted
        self._program: HostProgram | None = None

    def __enter__(self) -> Self:
        self._runner.__enter__()
        if self._wanted:
            try:
                self._program = self._runner.run(HostProgram.start("the session process"))
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
            if (program := self._handed_over()) is not None:
                self._runner.run(_ended(program))
        finally:
            self._runner.close()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine in the loop, as :func:`asyncio.run` would."""
        return self._runner.run(work)

    def open_session(
        self, resolved: ResolvedOperator, settings: SessionSettings, on_event: OnSessionEvent
    ) -> Session:
        """A session in a host process: the first that is started gets this one."""
        from gym_gui.host.client import HostSession

        return HostSession(resolved, settings, on_event, take=self.take)

    async def take(self, variables: Collection[str]) -> HostProgram | None:
        """The process, for good; ``None`` where there is none of use.

        Args:
            variables: Names of all the environment variables that it may have. One that began with
                more, since withheld for an experiment's sake, is ended.
        """
        program = self._handed_over()
        if program is None or (program.child.running and program.variables <= {*variables}):
            return program
        await _ended(program)
        return None

    def _handed_over(self) -> HostProgram | None:
        program, self._program = self._program, None
        return program


async def _ended(program: HostProgram) -> None:
    await program.child.end(reason="it was not needed")
