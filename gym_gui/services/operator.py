"""Operators side by side: the shared seed schedule, and starting and stopping them."""

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
    """The operators of an experiment and the seeds they share.

    Seeds depend on the episode's index alone, never on the operator, so that all
    operators meet the same episodes whatever their order, number or speed.
    """

    def __init__(self) -> None:
        self._operators: dict[str, OperatorConfig] = {}
        self._execution = ExecutionConfig()

    def register(self, config: OperatorConfig) -> None:
        """Add an operator.

        Raises:
            UsageError: Its id is taken.
        """
        if config.operator_id in self._operators:
            raise UsageError(
                f"operator {config.operator_id!r} is there already", fix="Give it another operator_id"
            )
        self._operators[config.operator_id] = config

    def unregister(self, operator_id: str) -> None:
        """Remove an operator.

        Raises:
            UnknownNameError: There is none of that id.
        """
        self.get(operator_id)
        del self._operators[operator_id]

    def get(self, operator_id: str) -> OperatorConfig:
        """One operator.

        Raises:
            UnknownNameError: There is none of that id.
        """
        try:
            return self._operators[operator_id]
        except KeyError:
            raise UnknownNameError("operator", operator_id, self._operators) from None

    def operators(self) -> list[OperatorConfig]:
        """All operators, in the order they were added."""
        return list(self._operators.values())

    def seed(self, n: int) -> None:
        """Seed the schedule of every operator, also of those added later.

        Args:
            n: Environment seed of the first episode; the next ones count up from it.

        Raises:
            UsageError: It is negative or exceeds 2**63 - 1.
        """
        self.follow(ExecutionConfig(seeds=check_seed(n)))

    def follow(self, execution: ExecutionConfig) -> None:
        """Have every operator play the episodes of an experiment, also those added later."""
        self._execution = execution

    def schedule(
        self, operator_id: str, seatings: int = 1, only: Collection[int] | None = None
    ) -> list[EpisodePlan]:
        """The episodes of an operator, in order.

        Args:
            operator_id: Which.
            seatings: How many rotations of the teams there are; 1 when seats are fixed.
            only: Indices of those that are wanted; all of them by default.

        Raises:
            UnknownNameError: There is no such operator.
            ConfigError: Fewer seeds than are needed.
        """
        self.get(operator_id)
        return self._execution.schedule(seatings, only)


class OperatorHandle(Protocol):
    """A started operator: it has one session in the window, and one or more in a run."""

    def is_running(self) -> bool:
        """Whether it is still at work."""
        ...

    def stop(self) -> None:
        """End it; safe to call twice. Where ending takes time, it goes on after the return."""
        ...


OperatorLauncher = Callable[[OperatorConfig], OperatorHandle]
"""Starts an operator's first session; raises a :class:`MosaicError` when it cannot.

Where starting takes time, it goes on after the return."""


class MultiOperatorService:
    """Starts and stops the operators of the window and of runs.

    They play in parallel, each with its own environment, on shared seeds.

    Args:
        launcher: Starts one operator. The service itself starts no process.
        operators: Where configurations are kept; one of its own by default.
    """

    def __init__(self, launcher: OperatorLauncher, operators: OperatorService | None = None) -> None:
        self._launcher = launcher
        self.operators = operators or OperatorService()
        self._handles: dict[str, OperatorHandle] = {}

    def add_operator(self, config: OperatorConfig, handle: OperatorHandle | None = None) -> None:
        """Add an operator; it is started by the next :meth:`start_all`.

        Args:
            config: The operator.
            handle: Where it has been started already, what it is stopped by.

        Raises:
            UsageError: Its id is taken.
        """
        self.operators.register(config)
        if handle is not None:
            self._handles[config.operator_id] = handle

    def remove_operator(self, operator_id: str, *, stop: bool = True) -> None:
        """Remove an operator.

        Args:
            operator_id: Its id.
            stop: Stop it if it is running; ``False``: the code that started it stops it.

        Raises:
            UnknownNameError: There is no operator of that id.
        """
        self.operators.get(operator_id)
        handle = self._handles.pop(operator_id, None)
        # Removed even when stopping fails: an operator in limbo could not be added again.
        self.operators.unregister(operator_id)
        if handle is not None and stop:
            handle.stop()

    def get_active_operators(self) -> list[OperatorConfig]:
        """Operators that take part (added and not removed), in the order they were added."""
        return self.operators.operators()

    def running(self) -> list[str]:
        """Ids of operators that are at work now."""
        return [operator_id for operator_id, handle in self._handles.items() if handle.is_running()]

    def start(self, operator_id: str) -> None:
        """Start an operator that is not running.

        Raises:
            UnknownNameError: There is none of that id.
            MosaicError: It could not start.
        """
        config, handle = self.operators.get(operator_id), self._handles.get(operator_id)
        if handle is None or not handle.is_running():
            self._handles[operator_id] = self._launcher(config)

    def start_all(self) -> None:
        """Start every operator that is not running.

        One that cannot start does not keep the others from starting.

        Raises:
            WorkerLaunchError: Some could not start; names each with its reason.
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
        """Stop an operator; :meth:`start` starts it again.

        Raises:
            UnknownNameError: There is none of that id.
            MosaicError: It did not stop as it should.
        """
        self.operators.get(operator_id)
        handle = self._handles.pop(operator_id, None)
        if handle is not None:
            handle.stop()

    def stop_all(self) -> None:
        """Stop every operator.

        One that does not stop as it should does not keep the others from stopping.

        Raises:
            WorkerLaunchError: Some could not be stopped; names each with its reason.
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
