"""MOSAIC: agents of different kinds in the slots of one environment, compared honestly.

:func:`evaluate` plays episodes from a script or notebook, :func:`aevaluate` does so in a running event loop,
and :func:`tournament` lets a pool of policies meet. Each function is imported on first use, so that
importing the package stays fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gym_gui.lazy_imports import lazy_names
from gym_gui.version import __version__

__all__ = ["__version__", "aevaluate", "evaluate", "tournament"]

if TYPE_CHECKING:
    from gym_gui.evaluation import aevaluate, evaluate
    from gym_gui.tournaments import tournament


__getattr__ = lazy_names(__name__, {"evaluation": ("aevaluate", "evaluate"), "tournaments": ("tournament",)})


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
