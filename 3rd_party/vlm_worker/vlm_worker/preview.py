"""Shows the prompt that a slot would send now: ``python -m vlm_worker.preview``.

Input and output are those of :mod:`mosaic_llm_worker.preview`, with a placeholder for the image. The
estimate leaves out the tokens of the image, because they depend on how the provider counts pixels.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from pydantic import ValidationError

from mosaic_llm_worker import preview as words
from mosaic_llm_worker.server_settings import errors_sentence
from mosaic_llm_worker.settings import LlmSettings
from vlm_worker.player import SEE, about_picture
from vlm_worker.settings import VlmSettings

_PICTURE: Final = "[the picture]"


def preview(asked: dict[str, Any]) -> dict[str, Any]:
    """Return the prompt of a first turn.

    Args:
        asked: Request as for :func:`mosaic_llm_worker.preview.preview`.

    Returns:
        The messages and an estimate of the tokens of their text, or the error.
    """
    given: dict[str, Any] = {**asked.get("settings", {}), "dry_run": True, "cassette": "off"}
    try:
        settings = VlmSettings.model_validate(given)
    except ValidationError as error:
        return {"error": errors_sentence(error)}
    known = {name: value for name, value in given.items() if name in LlmSettings.model_fields}
    decision: dict[str, Any] = dict(asked.get("decision", {}))
    if not (settings.with_text and decision.get("text")):
        decision["text"] = SEE
    answer = words.preview({**asked, "settings": known, "decision": decision})
    if "messages" in answer:
        first, *_, last = answer["messages"]
        first["content"] = f"{first['content']}\n\n{about_picture(settings)}"
        last["content"] = f"{_PICTURE}\n{last['content']}"
    return answer


if __name__ == "__main__":
    sys.exit(words.main(preview))
