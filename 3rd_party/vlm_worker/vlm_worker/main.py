"""Worker that plays with a vision-language model."""

from __future__ import annotations

from mosaic_llm_worker.main import LlmWorker
from vlm_worker.player import VlmPlayer
from vlm_worker.settings import VlmSettings


class VlmWorker(LlmWorker):
    """Plays the actions that a vision-language model chooses from an image of the environment."""

    inputs = ("image", "text", "messages")
    settings_type = VlmSettings
    player_type = VlmPlayer
