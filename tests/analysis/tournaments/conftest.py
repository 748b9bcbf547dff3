"""Writes run folders of tournaments whose games are drawn from known strengths."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SEATS = ("first", "second")
WORDS = {1.0: ("win", "loss"), 0.5: ("draw", "draw"), 0.0: ("loss", "win")}
Result = Callable[[str, str, int], float | None]
"""Points of who sits first: (first, second, seed) -> 1, 0.5 or 0; None: the game fails at the second."""


def write_tournament(
    folder: Path,
    policies: Sequence[str],
    result: Result,
    seeds: Sequence[int],
    pairings: Sequence[tuple[str, str]] | None = None,
    *,
    status: str = "completed",
    identical: bool = False,
    name: str = "01TOURNAMENT",
) -> Path:
    met = list(pairings or combinations(policies, 2))
    ids = {f"{a}_vs_{b}": (a, b) for a, b in met}
    run = folder / name
    header = {
        "format": 1,
        "run_id": run.name,
        "status": status,
        "experiment": {
            "operators": [{"id": key, "name": key, "task": "game", "seats": "swap"} for key in ids],
            "execution": {"seeds": list(seeds)},
        },
        "episodes": {key: 2 * len(seeds) for key in ids},
        "tournament": {
            "task": "game",
            "schedule": "round_robin",
            "policies": dict.fromkeys(policies),
            "sides": {seat: [seat] for seat in SEATS},
            "pairings": {key: list(pair) for key, pair in ids.items()},
        },
    }
    run.mkdir(parents=True)
    (run / "run.json").write_text(json.dumps(header))
    for key, pair in ids.items():
        rows = [
            _row(key, 2 * i + turn, seed, pair if not turn else pair[::-1], turn, result, identical)
            for i, seed in enumerate(seeds)
            for turn in (0, 1)
        ]
        place = run / "operators" / key
        place.mkdir(parents=True)
        (place / "steps.jsonl").touch()
        (place / "episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return run


def _row(
    key: str, index: int, seed: int, seated: tuple[str, ...], turn: int, result: Result, identical: bool
) -> dict[str, Any]:
    points = result(seated[0], seated[1], seed)
    slots = SEATS if not turn else SEATS[::-1]
    row: dict[str, Any] = {
        "operator_id": key,
        "episode_index": index,
        "seed": seed,
        "status": "completed",
        "length": 3,
        "agents": {
            seat: {"worker_id": "w", "worker_type": "baseline", "policy": name, "slot": slot}
            for seat, name, slot in zip(SEATS, seated, slots, strict=True)
        },
        "returns": dict.fromkeys(SEATS, 0.0),
        "total_reward": 0.0,
        "teams": {seat: {"agents": [seat], "return": 0.0, "score": None} for seat in SEATS},
        "trajectory_sha256": hashlib.sha256(f"{key}:{turn}:{0 if identical else index}".encode()).hexdigest(),
    }
    if points is None:
        return row | {"status": "failed", "error": "second: ZeroDivisionError: division by zero", "teams": {}}
    return row | {"outcome": dict(zip(SEATS, WORDS[points], strict=True))}


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def make(*args: Any, **options: Any) -> Path:
        return write_tournament(tmp_path, *args, **options)

    return make


def by_strength(
    strengths: Mapping[str, float], seat: float = 0.0, draw: float = 0.3, random_seed: int = 0
) -> Result:
    """Davidson's model: ``seat`` is what the first seat is worth, ``draw`` how usual draws are."""
    rng = np.random.default_rng(random_seed)

    def result(first: str, second: str, seed: int) -> float:
        d = strengths[first] - strengths[second] + seat
        odds = np.array([np.exp(d / 2), draw, np.exp(-d / 2)])
        return float(rng.choice([1.0, 0.5, 0.0], p=odds / odds.sum()))

    return result
