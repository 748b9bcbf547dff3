"""What ``MultiOperatorService`` starts and stops, in this process."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gym_gui.core.config import OperatorConfig
from gym_gui.services.operator import (
    MultiOperatorService,
    OperatorHandle,
    OperatorLauncher,
    OperatorService,
)


class _Noted:
    def __init__(self, handle: OperatorHandle, on_stop: Callable[[], None]) -> None:
        self._handle, self._on_stop = handle, on_stop

    def is_running(self) -> bool:
        return self._handle.is_running()

    def stop(self) -> None:
        self._on_stop()
        self._handle.stop()


class Starts:
    """Notes what services that are made from now on start and stop; all of it happens as without.

    Attributes:
        log: ``start a``, ``stop a`` for an operator ``a``, in order.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log: list[str] = []
        make = MultiOperatorService.__init__

        def noted(
            service: MultiOperatorService,
            launcher: OperatorLauncher,
            operators: OperatorService | None = None,
        ) -> None:
            make(service, lambda config: self._start(launcher, config), operators)

        monkeypatch.setattr(MultiOperatorService, "__init__", noted)

    def _start(self, launcher: OperatorLauncher, config: OperatorConfig) -> OperatorHandle:
        self.log.append(f"start {config.operator_id}")
        return _Noted(launcher(config), lambda: self.log.append(f"stop {config.operator_id}"))
