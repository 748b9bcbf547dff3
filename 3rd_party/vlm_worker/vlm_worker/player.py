"""Plays one slot with a model whose prompts contain images."""

from __future__ import annotations

import base64
from typing import Any, Final

from mosaic_llm_worker.chat_servers.servers import Message
from mosaic_llm_worker.memory import Memory, Turn
from mosaic_llm_worker.player import Player
from mosaic_worker.worker import Decision, Invalid
from vlm_worker.settings import VlmSettings

SEE: Final = "The picture shows it."
"""Replaces the text of an observation if there is none or the settings omit it."""

_VIEWS: Final = {"whole": "of the whole game", "egocentric": "of what you see yourself"}
_GRID: Final = (
    "The lines over it are a grid, whose numbers count columns to the right and rows downward from 0; "
    "its cells need not be those of the game."
)


def about_picture(settings: VlmSettings) -> str:
    """Return the sentences about images for the system prompt."""
    told = f"Every turn comes with a picture {_VIEWS[settings.image_view]}."
    return f"{told} {_GRID}" if settings.image_grid else told


class VlmPlayer(Player):
    """Plays one slot as the language model worker does, with an image in the prompt of each turn.

    Of earlier turns, only the last ``image_history`` have their image again, because each image costs
    tokens in every call that repeats it.
    """

    settings: VlmSettings

    async def decide(self, decision: Decision) -> Any:
        """Make one decision, without the text of the observation if ``with_text`` is off.

        Raises:
            LimitReached: A budget or a limit of the episode allows no further call.
            Fatal: No call to the server can succeed.
        """
        if decision.image is None:
            return Invalid("there was no image for the model")
        return await super().decide(self._shown(decision))

    def _system(self, memory: Memory) -> Message:
        message = super()._system(memory)
        return {**message, "content": f"{message['content']}\n\n{about_picture(self.settings)}"}

    def _shown(self, decision: Decision) -> Decision:
        if self.settings.with_text and decision.text:
            return decision
        return decision._replace(text=SEE)

    def content(self, decision: Decision, text: str) -> Any:
        """Return the image and the text as parts of one message."""
        return self._beside(decision.image, text)

    def recalled(self, turn: Turn, text: str) -> Any:
        """Return the text of an earlier turn, after its image if the image is repeated."""
        return self._beside(turn.picture, text)

    def _fresh(self, agent: str, episode: int) -> Memory:
        settings = self.settings
        return Memory(agent, settings.history, settings.summary, settings.image_history, episode)

    def _beside(self, image: tuple[bytes, str] | None, text: str) -> Any:
        return text if image is None else [self._picture(*image), {"type": "text", "text": text}]

    def _picture(self, data: bytes, mime: str) -> dict[str, Any]:
        picture = {"url": f"data:{mime};base64,{base64.b64encode(data).decode('ascii')}"}
        if self.settings.image_detail != "auto":
            picture["detail"] = self.settings.image_detail
        return {"type": "image_url", "image_url": picture}
