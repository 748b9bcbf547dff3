"""Converts the host's plain data to decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mosaic_worker.worker import Decision


def decision_of(data: Mapping[str, Any]) -> Decision:
    """Return a decision from plain data with the keys text, messages, choices, mask and step."""
    mask = data.get("mask")
    return Decision(
        0,
        0,
        int(data.get("step", 0)),
        0,
        None,
        None if mask is None else np.asarray(mask, np.bool_),
        0,
        "",
        str(data.get("text", "")),
        None,
        tuple(data.get("messages", ())),
        tuple((int(action), str(word)) for action, word in data.get("choices", ())),
    )
