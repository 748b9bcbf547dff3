"""The worker class that the SDK runs."""

from __future__ import annotations

from mosaic_llm_worker.main import LlmWorker
from vlm_worker.player import VlmPlayer
from vlm_worker.settings import VlmSettings


class VlmWorker(LlmWorker):
    """Plays what a vision-language model says of the picture that it is shown."""

    inputs = ("image", "text", "messages")
    settings_type = VlmSettings
    player_type = VlmPlayer
