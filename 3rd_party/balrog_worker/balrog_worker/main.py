"""Worker that plays with BALROG's agents."""

from __future__ import annotations

from balrog_worker.player import BalrogPlayer
from balrog_worker.settings import BalrogSettings
from mosaic_llm_worker.main import LlmWorker


class BalrogWorker(LlmWorker):
    """Plays the actions that one of BALROG's agents chooses."""

    inputs = ("text",)
    settings_type = BalrogSettings
    player_type = BalrogPlayer
