"""MOSAIC: agents of different kinds in the slots of one environment, compared honestly.

The package imports nothing heavy by itself; :func:`evaluate` is the one-line
entry for notebooks and is loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = ["__version__", "evaluate"]

if TYPE_CHECKING:
    from gym_gui.evaluation import evaluate


def __getattr__(name: str) -> object:
    if name == "evaluate":
        from gym_gui.evaluation import evaluate

        return evaluate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
