"""MOSAIC: agents of different kinds in the slots of one environment, compared honestly.

The package imports nothing heavy by itself; :func:`evaluate` is the one-line
entry for notebooks and, as :func:`aevaluate`, for running event loops; :func:`tournament` lets a
pool of policies meet. They are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gym_gui.version import __version__

__all__ = ["__version__", "aevaluate", "evaluate", "tournament"]

if TYPE_CHECKING:
    from gym_gui.evaluation import aevaluate, evaluate
    from gym_gui.tournaments import tournament


def __getattr__(name: str) -> object:
    if name in ("aevaluate", "evaluate"):
        from gym_gui import evaluation

        return getattr(evaluation, name)
    if name == "tournament":
        from gym_gui import tournaments

        return tournaments.tournament
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
