"""One slot: between our environment and BALROG's agent, what its evaluator does between these."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from balrog_worker.agent import Agent
from balrog_worker.naming import named, refuse_unsayable
from balrog_worker.settings import ASKS_NOBODY, BalrogSettings
from mosaic_llm_worker.calls import Announce, Caller, DryRun, Unanswered, unannounced, wanted_by
from mosaic_llm_worker.chat_servers.servers import Ask, Completion, Message, Place
from mosaic_llm_worker.server_settings import call_seed
from mosaic_worker.concurrent import AsyncWorker
from mosaic_worker.worker import (
    Actions,
    Decision,
    EpisodeEnd,
    EpisodeStart,
    Invalid,
    Slot,
    StepResults,
)

_USUAL: Final = 10
_USUAL_THOUGHT: Final = 250
"""Tokens of a reply, without and with thoughts, for an estimate."""
_THINKS: Final = frozenset({"cot", "robust_cot", "custom"})
_BALROGS: Final = ("instruction", "long_term_context", "short_term_context")
_FEEDBACK: Final = (
    "\n\nYour previous output did not contain a valid action. Defaulted to action: {played}\n\nObservation:\n"
)
"""BALROG's evaluator, word for word: its agents are to be told what they are told there."""
_LEGAL: Final = "Legal moves:"
_INSTRUCTION: Final = """{briefing}

Name one action at a time, exactly as it is written here:

{actions}.

PLAY!"""
_LISTED: Final = "those that are listed with each observation"


@dataclass
class _Playing:
    """One episode.

    Attributes:
        slot: The slot in the place that it has in it.
        episode: The run's episode.
        agent: BALROG's.
        step: Of its last question; -1 before the first.
        asked_with: What the agent had said before that question.
        said: What it said last.
        unusable: Whether that named no action that could be played.
        played: The action that was played last, in a word.
        tokens: Of the last question: in, out.
    """

    slot: Slot
    episode: int
    agent: Agent
    step: int = -1
    asked_with: str | None = None
    said: str | None = None
    unusable: bool = False
    played: str = ""
    tokens: tuple[int, int] = (0, 0)


class BalrogPlayer:
    """Plays one slot.

    Args:
        slot: What it plays.
        settings: Of the slot, checked.
        record: Writes the record of a call.
        announce: Says that a request is about to be sent.

    Raises:
        LoadError: It cannot be played with these settings.
    """

    def __init__(
        self,
        slot: Slot,
        settings: BalrogSettings,
        record: Callable[[dict[str, Any]], None],
        announce: Announce = unannounced,
    ) -> None:
        self._slot, self._settings = slot, settings
        refuse_unsayable(slot, settings)
        silent = settings.agent == ASKS_NOBODY
        asks = settings.model_copy(update={"dry_run": True}) if silent else settings
        self.caller = Caller(asks, slot.secrets, record, announce)
        space = slot.observation_space
        self._is_balrogs = space.kind == "Dict" and set(_BALROGS) <= set(space.spaces)
        self._shown = [self._told(episode) for episode in settings.demonstrations.get("episodes", ())]
        self._episodes: dict[int, _Playing] = {}
        self._threads = ThreadPoolExecutor(AsyncWorker.in_flight, "agent")

    @property
    def policy(self) -> str:
        """How it is called in tables."""
        if self._settings.agent == ASKS_NOBODY:
            return "balrog:dummy"
        return f"{self._settings.model_id or self._settings.client_name}:balrog {self._settings.agent}"

    # -- episodes

    def reset(self, start: EpisodeStart) -> None:
        """An episode begins, with an agent of its own."""
        self.caller.begin(start)
        agent = Agent(self._settings, self._shown)
        slot = self._slot.at(start.agent_id or self._slot.agent_id, start.seat)
        self._episodes[start.episode] = _Playing(slot, start.run_episode, agent)

    def forget(self, end: EpisodeEnd) -> None:
        """An episode is over."""
        self._episodes.pop(end.episode, None)
        self.caller.end(end.episode)

    def learn(self, results: StepResults) -> None:
        """What was played in place of replies that named no action."""
        for episode, action in zip(results.episodes, results.actions, strict=True):
            playing = self._episodes.get(episode)
            if playing is not None:
                playing.played = self._word(action)

    # -- decisions

    async def decide(self, decision: Decision) -> Any:
        """Have the agent act once.

        Raises:
            LimitReached: A budget or a limit of the episode holds no further call.
            Fatal: The server will answer none.
        """
        playing = self._episodes[decision.episode]
        if decision.step == playing.step:
            playing.agent.restore()
        else:
            playing.agent.keep()
            playing.step, playing.asked_with, playing.tokens = decision.step, playing.said, (0, 0)
        instruction, long, short = self._seen(decision, playing)
        playing.agent.instruct(instruction)
        until = wanted_by(self._slot)
        place = Place(playing.slot.agent_id, playing.episode, decision.step, decision.attempt, 0, until)
        try:
            said, reply = await self._act(playing, decision, place, long, short)
        except Unanswered as error:
            playing.unusable = True
            return Invalid(str(error), cause=error.cause)
        except DryRun as error:
            playing.unusable = True
            return Invalid(str(error))
        playing.said = said
        answer = named(self._slot, decision, said, reply)
        playing.unusable = isinstance(answer, Invalid)
        extras: dict[str, Any] = {}
        if self._settings.agent != ASKS_NOBODY:
            tokens = dict(zip(("input", "output"), playing.tokens, strict=True))
            extras = {"tokens": tokens, "call_ref": place.ref}
        return Actions([answer], extras=[extras])

    async def _act(
        self, playing: _Playing, decision: Decision, place: Place, long: str, short: str
    ) -> tuple[str | None, str]:
        """In a thread, for BALROG's agents wait for the reply; given up with the decision."""
        loop, sent = asyncio.get_running_loop(), list[Any]()
        usual = _USUAL_THOUGHT if self._settings.agent in _THINKS else _USUAL
        ask = Ask(call_seed(decision.seed, place), usual=usual)

        def send(messages: Sequence[Message]) -> Completion:
            waited = asyncio.run_coroutine_threadsafe(self.caller.call(place, messages, ask), loop)
            sent.append(waited)
            reply = waited.result()
            before = playing.tokens
            playing.tokens = before[0] + reply.input_tokens, before[1] + reply.output_tokens
            return reply

        try:
            return await loop.run_in_executor(
                self._threads, playing.agent.act, long, short, playing.asked_with, send
            )
        except asyncio.CancelledError:
            for waited in sent:
                waited.cancel()
            raise

    # -- what it is shown

    def _seen(self, decision: Decision, playing: _Playing) -> tuple[str, str, str]:
        """Instruction, what stays in its memory, what does not."""
        if self._is_balrogs:
            instruction, long, short = (str(decision.observation[name]) for name in _BALROGS)
        else:
            slot = playing.slot
            words = [word for word in slot.action_meanings if word]
            instruction = _INSTRUCTION.format(
                briefing=slot.briefing.strip(), actions=",\n".join(words) or _LISTED
            )
            long, short = decision.text, ""
            limited = decision.choices or decision.action_mask is not None
            if limited and _LEGAL not in long:  # chess lists them itself
                long += f"\n\n{_LEGAL} {', '.join(slot.legal_words(decision))}"
        if playing.unusable and playing.played and self._settings.feedback_on_invalid_action:
            long = _FEEDBACK.format(played=playing.played) + long
        return instruction, long, short

    def _word(self, action: Any) -> str:
        if self._slot.action_space.kind == "Text":
            return str(action)
        words, place = self._slot.action_meanings, int(action) - self._slot.action_space.start
        return words[place] if 0 <= place < len(words) and words[place] else str(action)

    def _told(self, episode: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
        """A recorded episode, as (what was seen, what was done)."""
        turns: list[tuple[str, str]] = []
        for turn in episode:
            named = {int(action): str(word) for action, word in turn["choices"]}
            done = named.get(turn["action"]) if isinstance(turn["action"], int) else None
            turns.append((str(turn["text"]), done or self._word(turn["action"])))
        return turns
