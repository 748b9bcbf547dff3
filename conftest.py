"""Puts the worker packages of the checkout on the path, as their processes find them."""

from __future__ import annotations

import sys
from pathlib import Path

_THIRD_PARTY = Path(__file__).resolve().parent / "3rd_party"

for _folder in sorted([_THIRD_PARTY / "mosaic_worker_sdk", *_THIRD_PARTY.glob("*_worker")]):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))
