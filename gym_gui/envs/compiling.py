"""Compiles a package's numba functions at the first use of its environments, and reports the progress.

The compiled functions are cached in the package's folder or in ``NUMBA_CACHE_DIR``, so that each machine
compiles them only once.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Generator, Iterable
from typing import Any

from gym_gui.core.live import Compiling
from gym_gui.envs.environment import Environment

OnCompiling = Callable[[Compiling], None]


def compile_environment(environment: Environment, progress: OnCompiling | None = None) -> None:
    """Compile all numba functions that an environment needs, and close the environment.

    All environments of a family share functions and signatures. The first call takes about 25 s on one idle
    core for each of the two MultiGrids; later calls take no time.

    Args:
        environment: A new environment; only closed if its family compiles nothing.
        progress: Called at the start of compilation and after each function; never if all are cached.
    """
    family = environment.family
    try:
        if family.compiled:
            with _reporting(family.title, family.compiled, progress):
                adapter = environment.adapter
                adapter.reset(seed=0)
    finally:
        environment.close()


@contextlib.contextmanager
def _reporting(
    title: str, compiled: Iterable[str], progress: OnCompiling | None
) -> Generator[None, None, None]:
    """Report each function that is compiled while the context is open; cached functions are not reported."""
    if progress is None:
        yield
        return
    events: Any = importlib.import_module("numba.core.event")
    waiting = _with_those_called(compiled)
    total = len(waiting)
    ready: list[str] = []

    def tell() -> None:
        progress(Compiling(title, tuple(ready), max(total, len(ready))))

    class Listener(events.Listener):
        def on_start(self, event: Any) -> None:
            if _name_of(event) in waiting:
                tell()

        def on_end(self, event: Any) -> None:
            name = _name_of(event)
            if name in waiting:
                waiting.discard(name)
                ready.append(name[1])
                tell()

    with events.install_listener("numba:compile", Listener()):
        yield


def _name_of(event: Any) -> tuple[str, str]:
    function = event.data["dispatcher"].py_func
    return function.__module__, function.__name__


def _with_those_called(compiled: Iterable[str]) -> set[tuple[str, str]]:
    """Return module and name of the given functions (``module:function``) and of all that they call."""
    found: set[tuple[str, str]] = set()
    waiting = [tuple(each.split(":")) for each in compiled]
    while waiting:
        module, name = waiting.pop()
        function = getattr(getattr(importlib.import_module(module), name, None), "py_func", None)
        if function is not None and (module, name) not in found:
            found.add((module, name))
            waiting += [(module, called) for called in function.__code__.co_names]
    return found
