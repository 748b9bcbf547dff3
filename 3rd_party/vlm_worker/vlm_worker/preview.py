"""Shows the prompt that a slot would send now: ``python -m vlm_worker.preview``.

Asked and answered as :mod:`mosaic_llm_worker.preview`; where the picture goes, a mark stands for it. Its
tokens are not in the estimate: they depend on how the provider counts pixels.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from pydantic import ValidationError

from mosaic_llm_worker import preview as words
from mosaic_llm_worker.server_settings import said
from mosaic_llm_worker.settings import LlmSettings
from vlm_worker.player import SEE, about_picture
from vlm_worker.settings import VlmSettings

_PICTURE: Final = "[the picture]"


def preview(asked: dict[str, Any]) -> dict[str, Any]:
    """The prompt of a first turn.

    Args:
        asked: As :func:`mosaic_llm_worker.preview.preview` takes it.

    Returns:
        The messages and about how many tokens their words have, or why there are none.
    """
    given: dict[str, Any] = {**asked.get("settings", {}), "dry_run": True, "cassette": "off"}
    try:
        settings = VlmSettings.model_validate(given)
    except ValidationError as error:
        return {"error": said(error)}
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
