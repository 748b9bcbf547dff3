"""Moves are told in the game's own notation, in the record and of what was weighed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.controllers.engine.game_notation import in_notation
from gym_gui.core.types import Decision


@pytest.mark.parametrize(
    ("task", "offered", "said"),
    [
        ("classic/chess_v6", "e2e4", "e4"),
        ("classic/tictactoe_v3", "column 1 row 1", "top left"),
        ("classic/connect_four_v3", "column 3", "column 3"),
        ("open_spiel/kuhn_poker", "bet", "bet"),
        ("open_spiel/hex", "b1", "b1"),
    ],
)
def test_what_was_offered_is_told_as_the_game_writes_it(task: str, offered: str, said: str) -> None:
    environment = envs.make(envs.resolve(task))
    adapter = environment.adapter
    seen = adapter.reset(seed=1)
    (agent,) = adapter.get_current_agents()
    mask = adapter.action_mask(agent)
    choices = environment.describer(agent).choices(agent, seen[agent], mask)
    if choices:
        legal: dict[str, Any] = {choice.word: choice.action for choice in choices}
    else:
        legal = {word: number for number, word in enumerate(environment.action_meanings(agent))}
    from gym_gui.core.experiment.prompt_inputs import PromptInputs

    shown = environment.show(agent, seen[agent], PromptInputs(text=True), mask)
    decision = Decision(1, 0, 0, agent, agent, 1, seen[agent], (), mask, {}, shown=shown)
    told = in_notation({"scores": {offered: 0.5, "more": 1}, "value": 2}, decision, environment)
    assert told == {"scores": {said: 0.5, "more": 1}, "value": 2}
    assert environment.legal_words()[legal[offered]] == said
    assert mask is None or np.flatnonzero(mask).tolist() == sorted(environment.legal_words())
    adapter.step({agent: legal[offered]})
    assert environment.notation([(agent, legal[offered])]) == (said,)
    environment.close()
