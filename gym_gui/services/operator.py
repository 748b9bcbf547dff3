"""Services that hold operators, give them a shared seed schedule, and start and stop them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from typing import Protocol

from gym_gui.core.config import LinkGroup, OperatorConfig, WorkerAssignment
from gym_gui.core.errors import MosaicError, UnknownNameError, UsageError, WorkerLaunchError
from gym_gui.core.experiment.execution import EpisodePlan, ExecutionConfig
from gym_gui.core.protocols import Operator, OperatorController
from gym_gui.core.seeding import check_seed

__all__ = [
    "LinkGroup",
    "MultiOperatorService",
    "Operator",
    "OperatorConfig",
    "OperatorController",
    "OperatorHandle",
    "OperatorLauncher",
    "OperatorService",
    "WorkerAssignment",
]

_log = logging.getLogger(__name__)


class OperatorService:
    """The operators of an experiment and their shared seeds.

    Seeds depend only on the episode's index, not on the operator. So all operators play the same episodes,
    whatever their order, number or speed.
    """

    def __init__(self) -> None:
        self._operators: dict[str, OperatorConfig] = {}
        self._execution = ExecutionConfig()

    def register(self, config: OperatorConfig) -> None:
        """Add an operator.

        Raises:
            UsageError: The operator's id is taken.
        """
        if config.operator_id in self._operators:
            raise UsageError(
                f"operator {config.operator_id!r} exists already", fix="Give it another operator_id"
            )
        self._operators[config.operator_id] = config

    def unregister(self, operator_id: str) -> None:
        """Remove an operator.

        Raises:
            UnknownNameError: No operator has that id.
        """
        self.get(operator_id)
        del self._operators[operator_id]

    def get(self, operator_id: str) -> OperatorConfig:
        """Return one operator's configuration.

        Raises:
            UnknownNameError: No operator has that id.
        """
        try:
            return self._operators[operator_id]
        except KeyError:
            raise UnknownNameError("operator", operator_id, self._operators) from None

    def operators(self) -> list[OperatorConfig]:
        """Return all operators in the order in which they were added."""
        return list(self._operators.values())

    def seed(self, n: int) -> None:
        """Set the first seed of all operators, also of those added later.

        Args:
            n: Environment seed of the first episode. Each next episode adds 1.

        Raises:
            UsageError: The seed is negative or exceeds 2**63 - 1.
        """
        self.follow(ExecutionConfig(seeds=check_seed(n)))

    def follow(self, execution: ExecutionConfig) -> None:
        """Use the episodes and seeds of an experiment for all operators, also for those added later."""
        self._execution = execution

    def schedule(
        self, operator_id: str, seatings: int = 1, only: Collection[int] | None = None
    ) -> list[EpisodePlan]:
        """Return the episodes of an operator in order.

        Args:
            operator_id: Id of the operator.
            seatings: Number of rotations of the teams; 1 if seats are fixed.
            only: Indices of the episodes to return; all by default.

        Raises:
            UnknownNameError: No operator has that id.
            ConfigError: The experiment has fewer seeds than needed.
        """
        self.get(operator_id)
        return self._execution.schedule(seatings, only)


class OperatorHandle(Protocol):
    """A started operator, which has one session in the window and one or more in a run."""

    def is_running(self) -> bool:
        """Return whether the operator is still running."""
        ...

    def stop(self) -> None:
        """Stop the operator. A second call has no effect. Stopping may continue after the return."""
        ...


OperatorLauncher = Callable[[OperatorConfig], OperatorHandle]
"""Type of a function that starts the first session of an operator, or raises a :class:`MosaicError`.
Starting may continue after the return."""


class MultiOperatorService:
    """Starts and stops the operators of the window and of runs.

    Operators run in parallel, each with its own environment, on shared seeds.

    Args:
        launcher: Starts one operator. The service itself starts no process.
        operators: Holds the configurations; by default, a new service.
    """

    def __init__(self, launcher: OperatorLauncher, operators: OperatorService | None = None) -> None:
        self._launcher = launcher
        self.operators = operators or OperatorService()
        self._handles: dict[str, OperatorHandle] = {}

    def add_operator(self, config: OperatorConfig, handle: OperatorHandle | None = None) -> None:
        """Add an operator. The next :meth:`start_all` starts it.

        Args:
            config: The operator.
            handle: Handle of the operator if it has been started already.

        Raises:
            UsageError: The operator's id is taken.
        """
        self.operators.register(config)
        if handle is not None:
            self._handles[config.operator_id] = handle

    def remove_operator(self, operator_id: str, *, stop: bool = True) -> None:
        """Remove an operator.

        Args:
            operator_id: Its id.
            stop: Whether to stop the operator if it is running. Otherwise the code that started it stops it.

        Raises:
            UnknownNameError: No operator has that id.
        """
        self.operators.get(operator_id)
        handle = self._handles.pop(operator_id, None)
        # Removed even if stopping fails, because a half-removed operator could not be added again.
        self.operators.unregister(operator_id)
        if handle is not None and stop:
            handle.stop()

    def get_active_operators(self) -> list[OperatorConfig]:
        """Return the operators that were added and not removed, in the order in which they were added."""
        return self.operators.operators()

    def running(self) -> list[str]:
        """Return the ids of the operators that are running."""
        return [operator_id for operator_id, handle in self._handles.items() if handle.is_running()]

    def start(self, operator_id: str) -> None:
        """Start an operator that is not running.

        Raises:
            UnknownNameError: No operator has that id.
            MosaicError: The operator could not start.
        """
        config, handle = self.operators.get(operator_id), self._handles.get(operator_id)
        if handle is None or not handle.is_running():
            self._handles[operator_id] = self._launcher(config)

    def start_all(self) -> None:
        """Start every operator that is not running.

        If one operator cannot start, the others are started nevertheless.

        Raises:
            WorkerLaunchError: Some operators could not start. The message names each with its reason.
        """
        failures: dict[str, MosaicError] = {}
        for config in self.operators.operators():
            try:
                self.start(config.operator_id)
            except MosaicError as error:
                _log.warning("operator %s did not start: %s", config.operator_id, error)
                failures[config.operator_id] = error
        _raise_together("did not start", failures)

    def stop(self, operator_id: str) -> None:
        """Stop an operator. :meth:`start` can start it again.

        Raises:
            UnknownNameError: No operator has that id.
            MosaicError: The operator did not stop correctly.
        """
        self.operators.get(operator_id)
        handle = self._handles.pop(operator_id, None)
        if handle is not None:
            handle.stop()

    def stop_all(self) -> None:
        """Stop every operator.

        If one operator does not stop correctly, the others are stopped nevertheless.

        Raises:
            WorkerLaunchError: Some operators could not be stopped. The message names each with its reason.
        """
        failures: dict[str, MosaicError] = {}
        while self._handles:
            operator_id = next(reversed(self._handles))
            try:
                self.stop(operator_id)
            except MosaicError as error:
                _log.warning("operator %s did not stop: %s", operator_id, error)
                failures[operator_id] = error
        _raise_together("did not stop", failures)


def _raise_together(what: str, failures: dict[str, MosaicError]) -> None:
    if len(failures) == 1:
        ((operator_id, error),) = failures.items()
        raise WorkerLaunchError(f"operator {operator_id!r} {what}: {error.message}", fix=error.fix) from error
    if failures:
        reasons = "; ".join(f"{operator_id!r}: {error.message}" for operator_id, error in failures.items())
        raise WorkerLaunchError(f"{len(failures)} operators {what}: {reasons}")
