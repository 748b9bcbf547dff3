"""One episode in this process, and all that a language model in each of its seats would be sent."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from gym_gui.controllers.episode import Episode
from gym_gui.controllers.lineup import read_slots
from gym_gui.controllers.rows import SeatCodecs
from gym_gui.core.execution import EpisodePlan
from gym_gui.core.spaces import sample_legal, space_to_spec, to_space
from gym_gui.core.types import AgentID, Answer, Decision
from gym_gui.core.view import View
from gym_gui.envs import Environment
from mosaic_llm_worker.player import Player
from mosaic_llm_worker.settings import LlmSettings
from mosaic_worker import worker as sdk
from mosaic_worker.spaces import Space

_SETTINGS = {"client_name": "custom", "base_url": "http://127.0.0.1:9/v1", "model_id": "m", "history": 3}


class Table:
    """Seats at which language models sit, asked as in a dry run: their prompts are written, nobody answers.

    Args:
        environment: Not yet reset.
        seed: Of the episode.
        settings: Of all seats, over those of the driver.
        inputs: What their worker wants beside the observation.
    """

    def __init__(
        self,
        environment: Environment,
        seed: int = 0,
        settings: Mapping[str, Any] | None = None,
        inputs: tuple[str, ...] = ("text", "messages"),
    ) -> None:
        self.environment = environment
        given = {**_SETTINGS, **(settings or {})}
        slots = self._slots = read_slots(environment)
        self.view = view = View.of(inputs, given)
        assert view is not None
        self._episode = Episode(
            EpisodePlan(0, seed, 0),
            environment,
            SeatCodecs(slots, {agent: agent for agent in slots}),
            None,
            itertools.count().__next__,
            views=dict.fromkeys(slots, view),
        )
        self._episode.wants_results = frozenset(slots)
        self._prompts: dict[AgentID, list[dict[str, Any]]] = {agent: [] for agent in slots}
        self._players = {agent: self._seat(agent, given) for agent in slots}
        self.asked: list[Decision] = []

    def open(self) -> None:
        """Begin the episode."""
        self.asked = self._episode.open()

    def _seat(self, agent: AgentID, given: Mapping[str, Any]) -> Player:
        info = self._slots[agent]
        team, mates, others = self.environment.company(agent)
        slot = sdk.Slot(
            0,
            agent,
            self.environment.spec.id,
            _space(info.observation_space),
            _space(info.action_space),
            given,
            info.action_meanings,
            briefing=self.environment.describer(agent).briefing(agent),
            team=team,
            teammates=mates,
            opponents=others,
        )
        settings = LlmSettings.model_validate({**given, "dry_run": True})
        player = Player(slot, settings, self._prompts[agent].append)
        player.reset(sdk.EpisodeStart(0, 7, agent))
        return player

    def decision(self, agent: AgentID) -> Decision | None:
        """The open question of a seat."""
        return next((each for each in self.asked if each.agent_id == agent), None)

    def told(self, agent: AgentID) -> bytes:
        """All that the model in a seat gets with its open question: the whole prompt, pictures too."""
        decision = self.decision(agent)
        assert decision is not None and decision.shown is not None
        mask = None if decision.action_mask is None else np.asarray(decision.action_mask) != 0
        shown = decision.shown
        question = sdk.Decision(
            decision.id,
            0,
            decision.step,
            decision.seed,
            None,
            mask,
            decision.attempt,
            decision.reason,
            shown.text,
            (shown.image, "image/png") if shown.image else None,
            shown.messages,
            shown.choices,
        )
        asyncio.run(self._players[agent].decide(question))
        return json.dumps(self._prompts[agent][-1]["messages"]).encode() + shown.image

    def moves(self, draw: np.random.Generator) -> dict[AgentID, Any]:
        """A random legal move of everybody who is asked."""
        return {
            each.agent_id: sample_legal(
                to_space(self._slots[each.agent_id].action_space),
                each.action_mask,
                int(draw.integers(2**31)),
            )
            for each in self.asked
        }

    def play(self, moves: Mapping[AgentID, Any]) -> None:
        """Everybody who is asked moves."""
        for decision in self.asked:
            self._episode.accept(Answer(decision, moves[decision.agent_id]), "policy")
        self.asked = self._episode.advance()
        for came in self._episode.outcomes():
            player = self._players[came.agent_id]
            ended, cut = np.array([came.terminated]), np.array([came.truncated])
            player.learn(
                sdk.StepResults(
                    player.slot, [0], [came.step], [None], [came.action], np.array([came.reward]), ended, cut
                )
            )

    def close(self) -> None:
        """Let go of the environment."""
        self.environment.close()


def _space(space: Any) -> Space:
    return Space.from_json(space_to_spec(to_space(space)))
