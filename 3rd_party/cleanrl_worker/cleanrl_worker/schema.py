"""``python -m cleanrl_worker.schema [--check]`` writes ``train_schema.json``, or says whether it is stale."""

from __future__ import annotations

import sys
from pathlib import Path

from cleanrl_worker.registry import ALGORITHMS
from mosaic_worker.learning.training_schema import write_schema

FILE = Path(__file__).resolve().parents[1] / "train_schema.json"

if __name__ == "__main__":
    sys.exit(write_schema(FILE, ALGORITHMS, sys.argv[1:]))
