"""MultiGrid's compile cache, filled before its first use."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from gym_gui.envs.registry import make

_WARM_TASK = "MosaicMultiGrid-S-2v2-IndAgObs-v1"


@dataclass(frozen=True)
class Compiling:
    """How far the compiling of MultiGrid is.

    Attributes:
        functions: Names of those that are ready, in their order.
        total: How many there are.
    """

    functions: tuple[str, ...]
    total: int


def warm(progress: Callable[[Compiling], None] | None = None) -> None:
    """Fill MultiGrid's compile cache (numba).

    All its environments share one signature of one function and of what that calls; the first time takes
    about 25 s of one core, beside other work accordingly longer.

    Args:
        progress: Told when it begins to compile, and after each function; never where the cache has all.
    """
    environment = make(_WARM_TASK)
    try:
        with contextlib.nullcontext() if progress is None else _told_of_each(progress):
            adapter = environment.adapter
            adapter.reset(seed=0)
            adapter.step(dict.fromkeys(adapter.get_current_agents(), 0))
    finally:
        environment.close()


@contextlib.contextmanager
def _told_of_each(progress: Callable[[Compiling], None]) -> Generator[None, None, None]:
    """Tell of each function of MultiGrid's that it is compiled; nothing where the cache has them."""
    events: Any = importlib.import_module("numba.core.event")
    names = _compiled_names()
    ready: list[str] = []

    def function_of(event: Any) -> Any:
        return event.data["dispatcher"].py_func

    def is_ours(event: Any) -> bool:
        return function_of(event).__module__.startswith("mosaic_multigrid")

    class Listener(events.Listener):
        def on_start(self, event: Any) -> None:
            if is_ours(event):
                progress(Compiling(tuple(ready), max(len(names), len(ready) + 1)))

        def on_end(self, event: Any) -> None:
            if is_ours(event):
                ready.append(function_of(event).__name__)
                progress(Compiling(tuple(ready), max(len(names), len(ready))))

    with events.install_listener("numba:compile", Listener()):
        yield


def _compiled_names() -> set[str]:
    """The function behind every observation, and those that it calls, and so on."""
    module: Any = importlib.import_module("mosaic_multigrid.utils.obs")
    found: set[str] = set()
    waiting = ["gen_obs_grid_encoding"]
    while waiting:
        name = waiting.pop()
        function = getattr(getattr(module, name, None), "py_func", None)
        if function is not None and name not in found:
            found.add(name)
            waiting += function.__code__.co_names
    return found
