"""Reads recorded replies anew: ``python -m vlm_worker.reread``.

Asked and answered as :mod:`mosaic_llm_worker.reread`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from mosaic_llm_worker import reread as words
from mosaic_llm_worker.preview import main
from vlm_worker.player import SEE


def reread(asked: Mapping[str, Any]) -> dict[str, Any]:
    """What today's reader makes of recorded replies; of what was not told in words, nothing is known.

    Args:
        asked: As :func:`mosaic_llm_worker.reread.reread` takes it.
    """
    if asked.get("settings", {}).get("with_text", True):
        return words.reread(asked)
    return words.reread({**asked, "decisions": [{**each, "text": SEE} for each in asked["decisions"]]})


if __name__ == "__main__":
    sys.exit(main(reread))
