"""Where legal actions are not told, the form that a server holds answers to does not tell them either."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mosaic_llm_worker.player import Player
from mosaic_llm_worker.settings import LlmSettings
from mosaic_worker.spaces import Space
from mosaic_worker.worker import Actions, Decision, EpisodeStart, Slot
from tests.support.fake_model_server import FakeModelServer

MASK = np.array([True, False, True])


async def sent(words: tuple[str, ...], reply: str, hide: bool, **question: Any) -> tuple[str, Any]:
    """The text of the request, and the worker's answer after the reply."""
    with FakeModelServer(lambda _: f'{{"action": "{reply}"}}') as server:
        given = {"client_name": "custom", "base_url": server.url, "model_id": "m", "strategy": "structured"}
        size = Space.from_json({"kind": "Discrete", "dtype": "int64", "n": len(words) or 9, "start": 0})
        slot = Slot(0, "player_0", "chess_v6", size, size, given, words)
        settings = LlmSettings.model_validate({**given, "hide_legal": hide})
        player = Player(slot, settings, lambda _: None)
        player.reset(EpisodeStart(0, 7))
        answer = await player.decide(Decision(1, 0, 0, 7, None, None, 0, "", "A board.")._replace(**question))
        await player.caller.aclose()
        return str(server.requests[0].json), answer


@pytest.mark.parametrize("hide", [False, True])
async def test_words_of_all_actions_are_in_the_form_or_those_of_the_legal_ones(hide: bool) -> None:
    request, answer = await sent(("left", "pickup", "drop"), "drop", hide, action_mask=MASK)
    assert ("pickup" in request) == hide and ("Legal moves" in request) != hide
    assert isinstance(answer, Actions) and answer.actions == [2]


@pytest.mark.parametrize("hide", [False, True])
async def test_moves_of_a_position_are_not_in_it_where_they_are_hidden(hide: bool) -> None:
    request, answer = await sent((), "e2e4", hide, choices=((7, "e2e4"), (8, "g1f3")))
    assert ("g1f3" in request) != hide
    assert isinstance(answer, Actions) and answer.actions == [7]
