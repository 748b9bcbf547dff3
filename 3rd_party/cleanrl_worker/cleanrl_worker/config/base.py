"""What every training of this worker can be told."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.learning.training_settings import MAIN, TrainingSettings

__all__ = ["MAIN", "ConfigError", "TrainingConfig", "Width", "widths"]

Width = Annotated[int, Field(ge=1, le=65_536)]
"""Of a layer."""


def widths(default: tuple[int, ...], description: str) -> Any:
    """``hidden``."""
    return Field(default, title="Hidden layer sizes", description=description, min_length=1, max_length=16)


class TrainingConfig(TrainingSettings):
    """What every algorithm can be told."""

    hidden: tuple[Width, ...] = widths((64, 64), "Widths of the hidden layers.")
