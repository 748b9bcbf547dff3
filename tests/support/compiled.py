"""An environment that has something compiled before its first episode, and how far that is."""

from __future__ import annotations

from typing import Any, ClassVar

import numba

from gym_gui.envs.families.custom import CustomFamily
from tests.support.arenas import Corridor


@numba.njit  # type: ignore[misc]
def doubled(number: int) -> int:
    return 2 * number


@numba.njit  # type: ignore[misc]
def quadrupled(number: int) -> int:
    return doubled(doubled(number))


class Compiled(Corridor):
    """Counts in fours."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        assert quadrupled(1) == 4
        return super().reset(seed=seed, options=options)


class CompiledFamily(CustomFamily):
    """Knows what is compiled."""

    title: ClassVar[str] = "Fours"
    compiled: ClassVar[tuple[str, ...]] = ("tests.support.compiled:quadrupled",)
