"""Names of environments that may not be installed, so that users can find and install them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).with_name("known_names.json")


@lru_cache(maxsize=1)
def known_names() -> Mapping[str, Mapping[str, str]]:
    """Return titles of environments by family and id, only of the newest version of each."""
    if not FILE.exists():
        return {}
    return json.loads(FILE.read_text())
