"""Writes the settings of each algorithm to a JSON file, for programs that do not import the algorithm.

``python -m mosaic_worker.learning.training_schema WORKER [--check]`` writes ``train_schema.json`` beside the
package ``WORKER``, or with ``--check`` says whether the file is stale. ``main`` of ``WORKER.train`` must be a
:class:`mosaic_worker.learning.train_main.TrainMain`.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from pathlib import Path
from typing import Any, Dict, Mapping, Protocol, Sequence, cast

_OWN_OPTIONS = ("env_id", "seed")
"""Settings of every training; they have command line options of their own and are left out here."""
_KEPT = (
    *("type", "title", "description", "default", "enum", "items", "x-group"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"),
)


class DescribedAlgorithm(Protocol):
    """Attributes of an algorithm that are written to the file; see ``docs/training_protocol.md``."""

    @property
    def title(self) -> str: ...
    @property
    def config_class(self) -> Any: ...
    @property
    def actions(self) -> Sequence[str]: ...
    @property
    def observations(self) -> Sequence[str]: ...
    @property
    def masks(self) -> bool: ...
    @property
    def recurrent(self) -> bool: ...
    @property
    def paradigms(self) -> Sequence[str]: ...


def schema_text(algorithms: Mapping[str, DescribedAlgorithm]) -> str:
    """Return the content of the file."""
    schema = {"algorithms": {name: schema_of(algorithm) for name, algorithm in algorithms.items()}}
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def schema_of(algorithm: DescribedAlgorithm) -> Dict[str, Any]:
    """Return the settings of one algorithm as JSON Schema, those of the group ``main`` first."""
    model = algorithm.config_class
    found: Dict[str, Dict[str, Any]] = model.model_json_schema()["properties"]
    names = sorted(
        (n for n in found if n not in _OWN_OPTIONS), key=lambda n: found[n].get("x-group") != "main"
    )
    return {
        "title": algorithm.title,
        "description": " ".join(inspect.cleandoc(model.__doc__ or "").split("\n\n")[0].split()),
        "actions": list(algorithm.actions),
        "observations": list(algorithm.observations),
        "masks": algorithm.masks,
        "recurrent": algorithm.recurrent,
        "paradigms": list(algorithm.paradigms),
        "properties": {name: _property(found[name]) for name in names},
    }


def schema_file(package: str) -> Path:
    """Return the path of the schema file of a worker's package."""
    (folder,) = importlib.import_module(package).__path__
    return Path(folder).parent / "train_schema.json"


def write_schema(file: Path, algorithms: Mapping[str, DescribedAlgorithm], arguments: Sequence[str]) -> int:
    """Write the file, or with ``--check`` in ``arguments`` print whether the file is up to date.

    Returns:
        The exit status.
    """
    text = schema_text(algorithms)
    if "--check" in arguments:
        fresh = file.exists() and file.read_text("utf-8") == text
        print("up to date" if fresh else f"{file} is stale: write it anew, without --check")
        return 0 if fresh else 1
    file.write_text(text, "utf-8")
    return 0


def _property(setting: Mapping[str, Any]) -> Dict[str, Any]:
    """Return the schema of one setting; two alternatives of pydantic become ``["number", "null"]``."""
    flat: Dict[str, Any] = {"x-group": "more", **setting}
    choices = cast("Sequence[Mapping[str, Any]]", flat.pop("anyOf", ()))
    if choices:
        (value,) = (choice for choice in choices if choice["type"] != "null")
        flat = {**value, **flat, "type": [value["type"], "null"]}
    return {key: flat[key] for key in _KEPT if key in flat}


if __name__ == "__main__":
    worker, *options = sys.argv[1:]
    trained = importlib.import_module(f"{worker}.train").main.algorithms
    sys.exit(write_schema(schema_file(worker), trained, options))
