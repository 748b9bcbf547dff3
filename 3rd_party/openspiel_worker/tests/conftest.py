"""A seat in a game of OpenSpiel, asked as the SDK's runtime would ask it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyspiel
import pytest

from mosaic_worker.spaces import Space
from mosaic_worker.worker import Decision, Slot


def make_slot(name: str, player: int = 0, **settings: Any) -> Slot:
    """A slot of ``open_spiel/NAME`` as its environment has it."""
    game = pyspiel.load_game(name)
    kind = game.get_type()
    shape = (
        game.observation_tensor_shape()
        if kind.provides_observation_tensor
        else game.information_state_tensor_shape()
    )
    seen = Space.from_json({"kind": "Box", "dtype": "float64", "shape": shape, "low": -1e30, "high": 1e30})
    does = Space.from_json(
        {"kind": "Discrete", "dtype": "int64", "n": game.num_distinct_actions(), "start": 0}
    )
    return Slot(0, f"player_{player}", f"open_spiel/{name.partition('(')[0]}", seen, does, settings)


def shown(state: Any, player: int, step: int, seed: int = 5) -> Decision:
    """What a player is shown in a state, and nothing else of it."""
    mask = np.zeros(state.num_distinct_actions(), np.bool_)
    mask[state.legal_actions(player)] = True
    return Decision(0, 0, step, seed, np.array(state.observation_tensor(player)), mask, 0, "")


@pytest.fixture
def new_slot() -> Callable[..., Slot]:
    return make_slot


@pytest.fixture
def look() -> Callable[..., Decision]:
    return shown
