"""Writes ``train_schema.json``: what each algorithm can be told, for programs that do not import it.

``python -m cleanrl_worker.schema`` writes the file beside ``worker.toml``; with ``--check`` it only
says whether the file is what would be written.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from cleanrl_worker.registry import ALGORITHMS, Algorithm

FILE = Path(__file__).resolve().parents[1] / "train_schema.json"
_OWN_FLAGS = ("env_id", "seed")
"""Settings that every training has; they are asked for by themselves."""
_KEPT = (
    *("type", "title", "description", "default", "enum", "items", "x-group"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"),
)


def schema() -> dict[str, Any]:
    """What the file says."""
    return {"algorithms": {name: _described(algorithm) for name, algorithm in ALGORITHMS.items()}}


def text() -> str:
    """Content of the file."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


def _described(algorithm: Algorithm) -> dict[str, Any]:
    model = algorithm.config_class
    found = model.model_json_schema()["properties"]
    names = sorted((n for n in found if n not in _OWN_FLAGS), key=lambda n: not _is_main(found[n]))
    return {
        "title": algorithm.title,
        "description": _first_paragraph(model.__doc__ or ""),
        "actions": list(algorithm.actions),
        "observations": list(algorithm.observations),
        "masks": algorithm.masks,
        "recurrent": algorithm.recurrent,
        "properties": {name: _property(found[name]) for name in names},
    }


def _is_main(setting: Mapping[str, Any]) -> bool:
    return setting.get("x-group") == "main"


def _property(setting: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {"x-group": "more", **setting}
    choices = cast("Sequence[Mapping[str, Any]]", flat.pop("anyOf", ()))
    if choices:  # a value, or null
        (value,) = (choice for choice in choices if choice["type"] != "null")
        flat = {**value, **flat, "type": [value["type"], "null"]}
    return {key: flat[key] for key in _KEPT if key in flat}


def _first_paragraph(doc: str) -> str:
    return " ".join(inspect.cleandoc(doc).split("\n\n")[0].split())


def main(argv: Sequence[str] | None = None) -> int:
    """Write the file, or check it; the exit status."""
    if "--check" in (sys.argv[1:] if argv is None else argv):
        fresh = FILE.exists() and FILE.read_text("utf-8") == text()
        print("up to date" if fresh else f"{FILE} is stale: run python -m cleanrl_worker.schema")
        return 0 if fresh else 1
    FILE.write_text(text(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
