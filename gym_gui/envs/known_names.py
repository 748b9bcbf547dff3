"""Names of environments whose family may not be installed, so that they can be found and installed.

``known_names.json`` is written by ``scripts/pages/known_names.py`` from the packages' own registries.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).with_name("known_names.json")


@lru_cache(maxsize=1)
def known_names() -> Mapping[str, Mapping[str, str]]:
    """Titles of environments by id, by family; the newest version of each environment."""
    if not FILE.exists():
        return {}
    return json.loads(FILE.read_text())
