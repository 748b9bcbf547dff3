"""Settings of every training of this worker."""

from __future__ import annotations

from mosaic_worker.learning import training_fields as fields
from mosaic_worker.learning.training_settings import TrainingSettings, Width


class TrainingConfig(TrainingSettings):
    """Settings of every algorithm."""

    hidden: tuple[Width, ...] = fields.hidden((64, 64), min_length=1)
