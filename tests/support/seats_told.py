"""An episode in this process, and all that a language model in one of its seats would be sent."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Collection, Mapping
from typing import Any, Self

import numpy as np

from gym_gui.controllers.engine.bound_operator import read_slots
from gym_gui.controllers.engine.episode import Episode
from gym_gui.controllers.engine.episode_rows import SeatCodecs
from gym_gui.core.experiment.execution import EpisodePlan
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.core.spaces import sample_legal, space_to_spec, to_space
from gym_gui.core.types import AgentID, Answer, Decision
from gym_gui.envs import Environment
from mosaic_llm_worker.player import Player
from mosaic_llm_worker.settings import LlmSettings
from mosaic_worker import worker as sdk
from mosaic_worker.spaces import Space
from tests.support.fake_model_server import FakeModelServer

LATE = "no answer within 5 s"
"""As a slot with a deadline is refused."""
_BRACKETED = re.compile(r"\[(?!GAME|Player \d)[^\[\]\n]{1,40}\]")
Moves = Mapping[AgentID, Any]
_SETTINGS = {"client_name": "custom", "base_url": "http://127.0.0.1:9/v1", "model_id": "m", "history": 3}


class Reader:
    """A language model in one seat, asked as in a dry run: its prompts are written, and no model answers.

    Args:
        environment: What is played; asked once, before any episode.
        seat: The agent.
        settings: Of its slot, over those of the driver.
        server: Answers in place of a model, with replies that cannot be played; each question is then asked
            four times more, the last time because no answer came in time.
    """

    def __init__(
        self,
        environment: Environment,
        seat: AgentID,
        settings: Mapping[str, Any] | None = None,
        server: FakeModelServer | None = None,
    ) -> None:
        given = {**_SETTINGS, "dry_run": server is None, "retries": 0, **(settings or {})}
        if server is not None:
            given["base_url"] = server.url
        inputs = ["text", "messages"]
        if environment.describer(seat).can_state(seat):
            inputs.append("facts")
        if "egocentric" in environment.pictures(seat):
            inputs.append("image")
        view = PromptInputs.of(inputs, given)
        assert view is not None
        self.seat, self.view = seat, view
        adapter = environment.adapter
        team, mates, others = environment.team_and_others(seat)
        slot = sdk.Slot(
            0,
            seat,
            environment.spec.id,
            _space(adapter.observation_space(seat)),
            _space(adapter.action_space(seat)),
            given,
            environment.action_meanings(seat),
            briefing=environment.briefing(seat, view),
            team=team,
            teammates=mates,
            opponents=others,
        )
        self._prompts: list[dict[str, Any]] = []
        self._player = Player(slot, LlmSettings.model_validate(given), self._prompts.append)
        self._episodes = itertools.count()
        self._server, self._runner = server, asyncio.Runner()
        self._words = environment.action_meanings(seat)
        self.attempts = 1 if server is None else 5

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._player.caller.aclose())
        self._runner.close()

    def begin(self) -> int:
        """Another episode; its number."""
        episode = next(self._episodes)
        self._player.reset(sdk.EpisodeStart(episode, 7, self.seat))
        return episode

    def told(self, episode: int, decision: Decision) -> tuple[bytes, str]:
        """All that the model gets with a question, prompts and picture; why its answer cannot be played."""
        shown = decision.shown
        assert shown is not None
        question = sdk.Decision(
            decision.id,
            episode,
            decision.step,
            decision.seed,
            None,
            None if decision.action_mask is None else np.asarray(decision.action_mask) != 0,
            decision.attempt,
            decision.reason,
            shown.text,
            (shown.image, "image/png") if shown.image else None,
            shown.messages,
            shown.choices,
        )
        before = len(self._prompts), len(self._server.requests) if self._server else 0
        refused = self._runner.run(self._decided(question, decision))
        prompts = [prompt["messages"] for prompt in self._prompts[before[0] :]]
        sent = [request.body for request in self._server.requests[before[1] :]] if self._server else []
        facts = "\n".join(shown.facts).encode()
        return b"".join((json.dumps(prompts).encode(), *sent, shown.image, facts)), refused.reason

    async def _decided(self, question: sdk.Decision, decision: Decision) -> sdk.Invalid:
        """One question, answered with what cannot be played: many words, no action, an illegal one."""
        if self._server is not None:
            replies = ("I wonder what others hide.", "<action>99</action>", self._illegal(decision))
            reply = replies[min(decision.attempt, len(replies) - 1)]
            self._server.script = lambda _: reply
        refused = await self._player.decide(question)
        assert isinstance(refused, sdk.Invalid)
        return refused

    def _illegal(self, decision: Decision) -> str:
        """An action that is none now; where all are, one that there is not."""
        mask, shown = decision.action_mask, decision.shown
        hidden = [] if mask is None else [number for number, legal in enumerate(mask) if not legal]
        if not hidden:
            return "<action>-1</action>"
        words = {number: word for number, word in enumerate(self._words) if word}
        if shown is not None:
            words |= {choice.action: choice.word for choice in shown.choices}
        return f"<action>{words.get(hidden[0], hidden[0])}</action>"

    def learn(self, episode: int, step: int, action: Any, reward: float) -> None:
        """Tell the player the result of an action."""
        no = np.array([False])
        results = (self._player.slot, [episode], [step], [None], [action], np.array([reward]), no, no)
        self._player.learn(sdk.StepResults(*results))


class Table:
    """One episode with a reader in one seat.

    Args:
        environment: Will be reset.
        reader: Who is told.
        seed: Of the episode.
    """

    def __init__(self, environment: Environment, reader: Reader, seed: int) -> None:
        self.environment, self.view = environment, reader.view
        self._reader, self._number = reader, reader.begin()
        self._slots = slots = read_slots(environment)
        self._episode = Episode(
            EpisodePlan(0, seed, 0),
            environment,
            SeatCodecs(slots, {agent: agent for agent in slots}),
            None,
            itertools.count().__next__,
            views={reader.seat: reader.view},
        )
        self._episode.trajectory.wants_results = frozenset({reader.seat})
        self._episode.open()

    @property
    def asked(self) -> Collection[Decision]:
        """What its agents are asked now."""
        return self._episode.asked.values()

    @property
    def question(self) -> Decision | None:
        """What the seat is asked now."""
        return next((each for each in self.asked if each.agent_id == self._reader.seat), None)

    def ask_anew(self) -> None:
        """The seat is asked as things are now."""
        question = self.question
        assert question is not None
        self._episode.ask_another(question)

    def told(self) -> bytes:
        """All that the seat is told with its question, and with it again when its answer was refused."""
        told: list[bytes] = []
        while (question := self.question) is not None:
            said, reason = self._reader.told(self._number, question)
            told.append(said)
            if len(told) == self._reader.attempts:
                break
            late = len(told) == self._reader.attempts - 1 > 0
            self._episode.ask_again(question, LATE if late else reason)
        assert told, "it is asked nothing"
        return b"".join(told)

    def moves(self, draw: np.random.Generator) -> Moves:
        """A random legal move of everybody who is asked."""
        spaces = {each.agent_id: to_space(self._slots[each.agent_id].action_space) for each in self.asked}
        return {
            each.agent_id: _written(str(each.observation), draw)
            if spaces[each.agent_id].kind == "Text"
            else sample_legal(spaces[each.agent_id], each.action_mask, int(draw.integers(2**31)))
            for each in self.asked
        }

    def may_play(self, moves: Moves) -> bool:
        """Whether these are legal moves of just those who are asked."""
        return {each.agent_id for each in self.asked} == moves.keys() and all(
            each.action_mask is None or each.action_mask[int(moves[each.agent_id])] for each in self.asked
        )

    def play(self, moves: Moves) -> None:
        """Everybody who is asked moves."""
        for decision in self.asked:
            said = {"said": f"I have chosen, says {decision.agent_id}."}
            self._episode.accept(Answer(decision, moves[decision.agent_id], extras=said), "policy")
        self._episode.advance()
        for came in self._episode.trajectory.outcomes(self._episode.asked):
            self._reader.learn(self._number, came.step, came.action, came.reward)


def _written(text: str, draw: np.random.Generator) -> str:
    """A move as a game of words has shown it, in brackets; those of the last line are what it takes now."""
    lines = [shown for line in text.splitlines() if (shown := _BRACKETED.findall(line))]
    if not lines:
        return "[0]"
    return str(draw.choice(lines[-1] if draw.random() < 0.7 else [each for line in lines for each in line]))


def _space(space: Any) -> Space:
    return Space.from_json(space_to_spec(to_space(space)))
