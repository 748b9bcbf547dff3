"""Reads recorded replies again with the current code: ``python -m vlm_worker.reread``.

Input and output are those of :mod:`mosaic_llm_worker.reread`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from mosaic_llm_worker import reread as words
from mosaic_llm_worker.preview import main
from vlm_worker.player import SEE


def reread(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the actions that the current reader finds in recorded replies.

    If the run had ``with_text`` off, the reader does not get the text of the observations.

    Args:
        asked: Request as for :func:`mosaic_llm_worker.reread.reread`.
    """
    if asked.get("settings", {}).get("with_text", True):
        return words.reread(asked)
    return words.reread({**asked, "decisions": [{**each, "text": SEE} for each in asked["decisions"]]})


if __name__ == "__main__":
    sys.exit(main(reread))
