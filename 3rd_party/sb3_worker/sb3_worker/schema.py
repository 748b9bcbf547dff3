"""``python -m sb3_worker.schema`` writes ``train_schema.json``: what each algorithm can be told."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from sb3_worker.algorithms import ALGORITHMS, Algorithm

FILE = Path(__file__).resolve().parent.parent / "train_schema.json"
_KEPT = (
    "type",
    "items",
    "enum",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "maxItems",
    "default",
)


def text() -> str:
    """What the file should hold."""
    schemas = {name: schema_of(algorithm) for name, algorithm in ALGORITHMS.items()}
    return json.dumps({"algorithms": schemas}, indent=1, ensure_ascii=False) + "\n"


def schema_of(algorithm: Algorithm) -> dict[str, Any]:
    """What one algorithm can be told, as JSON Schema, the settings that matter most first."""
    made: dict[str, dict[str, Any]] = algorithm.config.model_json_schema()["properties"]
    properties = {name: _property(found) for name, found in made.items() if name not in ("env_id", "seed")}
    ordered = sorted(properties, key=lambda name: properties[name]["x-group"] != "main")
    return {
        "title": algorithm.title,
        "description": (algorithm.config.__doc__ or "").strip(),
        "actions": list(algorithm.actions),
        "observations": ["vector", "image"],
        "masks": algorithm.masks,
        "recurrent": algorithm.recurrent,
        "properties": {name: properties[name] for name in ordered},
    }


def _property(found: dict[str, Any]) -> dict[str, Any]:
    """One setting, with ``"type": ["number", "null"]`` where pydantic writes two alternatives."""
    flat = dict(found)
    for alternative in found.get("anyOf", ()):
        if alternative["type"] != "null":
            flat = {**alternative, **flat, "type": [alternative["type"], "null"]}
    kept = {key: flat[key] for key in _KEPT if key in flat}
    return {
        "title": found["title"],
        "description": found["description"],
        **kept,
        "x-group": found.get("x-group", "more"),
    }


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    print(FILE)
    sys.exit(0)
