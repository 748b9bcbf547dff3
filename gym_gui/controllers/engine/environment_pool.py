"""Pool of a session's environment instances, which later episodes reuse."""

from __future__ import annotations

from collections.abc import Callable

from gym_gui.controllers.engine.bound_operator import BoundOperator
from gym_gui.envs import Environment


class EnvironmentPool:
    """Pool of environment instances: makes an instance if none is free, and reuses it after its episode.

    While a viewer watches, one episode at a time plays in an instance that can be rendered. An episode that
    has already begun stays in its instance.

    Args:
        bound: The operator, which makes the instances.
    """

    def __init__(self, bound: BoundOperator) -> None:
        self._bound = bound
        self._idle: list[Environment] = []
        self._make_drawn: Callable[[], Environment] | None = None
        self._drawn: list[Environment] = []
        self._drawn_idle: list[Environment] = []

    def draw_with(self, make: Callable[[], Environment] | None) -> None:
        """Set the function that makes instances for watched episodes; ``None`` ends the watching."""
        self._make_drawn = make
        if make is None:
            self._close(self._drawn_idle)

    def is_drawn(self, environment: Environment) -> bool:
        """Return whether an environment instance was made for rendering."""
        return any(each is environment for each in self._drawn)

    def take(self) -> Environment:
        """Return a free or new environment instance for the next episode.

        Raises:
            MosaicError: The instance cannot be made.
        """
        make = self._make_drawn
        if make is None or len(self._drawn) > len(self._drawn_idle):  # one is in use
            return self._idle.pop() if self._idle else self._bound.make_environment()
        if not self._drawn_idle:
            if self._bound.one_world:
                self._close(self._idle)
            environment = make()
            self._drawn.append(environment)
            return environment
        return self._drawn_idle.pop()

    def give_back(self, environment: Environment, *, fit: bool) -> None:
        """Return the environment instance of a finished episode to the pool, or close the instance.

        Args:
            environment: The instance.
            fit: Whether another episode may be played in the instance.
        """
        drawn = self.is_drawn(environment)
        if drawn and self._make_drawn is not None and fit:
            self._drawn_idle.append(environment)
        elif drawn:
            self._drawn = [each for each in self._drawn if each is not environment]
            environment.close()
        elif fit:
            self._idle.append(environment)
        else:
            environment.close()

    def close(self) -> None:
        """Close the environment instances that no episode uses."""
        self._close(self._idle)
        self._close(self._drawn_idle)

    def _close(self, waiting: list[Environment]) -> None:
        for environment in waiting:
            environment.close()
            self._drawn = [each for each in self._drawn if each is not environment]
        waiting.clear()
