"""The worker class that the SDK runs."""

from __future__ import annotations

from balrog_worker.player import BalrogPlayer
from balrog_worker.settings import BalrogSettings
from mosaic_llm_worker.main import LlmWorker


class BalrogWorker(LlmWorker):
    """Plays what one of BALROG's agents says."""

    inputs = ("text",)
    settings_type = BalrogSettings
    player_type = BalrogPlayer
