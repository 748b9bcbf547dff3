"""Plays one slot: connects MOSAIC's environment to a BALROG agent, as BALROG's evaluator does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from balrog_worker.agent import Agent
from balrog_worker.naming import named, refuse_unsayable
from balrog_worker.settings import ASKS_NOBODY, BalrogSettings
from mosaic_llm_worker.calls import Announce, Caller, DryRun, NoUsableReply, unannounced, wanted_by
from mosaic_llm_worker.chat_servers.servers import CallId, Completion, Message, ReplyRequest
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
"""Usual tokens of a reply with a chain of thought (``_USUAL``: without), for an estimate of the cost."""
_THINKS: Final = frozenset({"cot", "robust_cot", "custom"})
_BALROGS: Final = ("instruction", "long_term_context", "short_term_context")
_FEEDBACK: Final = (
    "\n\nYour previous output did not contain a valid action. Defaulted to action: {played}\n\nObservation:\n"
)
"""Feedback text of BALROG's evaluator, unchanged, so that its agents get the same prompts as there."""
_LEGAL: Final = "Legal moves:"
_INSTRUCTION: Final = """{briefing}

Name one action at a time, exactly as it is written here:

{actions}.

PLAY!"""
_LISTED: Final = "those that are listed with each observation"


@dataclass
class _Playing:
    """State of one running episode.

    Attributes:
        slot: The slot with the agent that it plays in this episode.
        episode: Number of the run's episode.
        agent: BALROG's agent.
        step: Step of the last decision; -1 before the first.
        asked_with: The agent's action before the last decision.
        said: The agent's last action as text.
        unusable: Whether the last reply named no action that could be played.
        played: Word of the action that was played last.
        tokens: Input and output tokens of the last decision.
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
        slot: The slot to play.
        settings: Checked settings of the slot.
        record: Writes the record of a call.
        announce: Announces a request before it is sent.

    Raises:
        LoadError: The slot cannot be played with these settings.
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
        """Name of the policy in tables: the model and BALROG's agent."""
        if self._settings.agent == ASKS_NOBODY:
            return "balrog:dummy"
        return f"{self._settings.model_id or self._settings.client_name}:balrog {self._settings.agent}"

    # -- episodes

    def reset(self, start: EpisodeStart) -> None:
        """Begin an episode with a new agent."""
        self.caller.begin(start)
        agent = Agent(self._settings, self._shown)
        slot = self._slot.at(start.agent_id or self._slot.agent_id, start.seat)
        self._episodes[start.episode] = _Playing(slot, start.run_episode, agent)

    def forget(self, end: EpisodeEnd) -> None:
        """End an episode and drop its agent."""
        self._episodes.pop(end.episode, None)
        self.caller.end(end.episode)

    def learn(self, results: StepResults) -> None:
        """Store the actions that were really played, for the feedback after replies without an action."""
        for episode, action in zip(results.episodes, results.actions, strict=True):
            playing = self._episodes.get(episode)
            if playing is not None:
                playing.played = self._word(action)

    # -- decisions

    async def decide(self, decision: Decision) -> Any:
        """Let the agent make one decision.

        Raises:
            LimitReached: A budget or a limit of the episode allows no further call.
            Fatal: No call to the server can succeed.
        """
        playing = self._episodes[decision.episode]
        if decision.step == playing.step:
            playing.agent.restore()
        else:
            playing.agent.save_state()
            playing.step, playing.asked_with, playing.tokens = decision.step, playing.said, (0, 0)
        instruction, long, short = self._seen(decision, playing)
        playing.agent.instruct(instruction)
        until = wanted_by(self._slot)
        place = CallId(playing.slot.agent_id, playing.episode, decision.step, decision.attempt, 0, until)
        try:
            said, reply = await self._act(playing, decision, place, long, short)
        except NoUsableReply as error:
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
        self, playing: _Playing, decision: Decision, place: CallId, long: str, short: str
    ) -> tuple[str | None, str]:
        """Let the agent act in a thread, because BALROG's agents block until the reply.

        The call is canceled together with the decision.
        """
        loop, sent = asyncio.get_running_loop(), list[Any]()
        usual = _USUAL_THOUGHT if self._settings.agent in _THINKS else _USUAL
        ask = ReplyRequest(call_seed(decision.seed, place), usual=usual)

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

    # -- observation

    def _seen(self, decision: Decision, playing: _Playing) -> tuple[str, str, str]:
        """Return the instruction and the long-term and short-term parts of the observation."""
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
            if limited and _LEGAL not in long:  # chess lists the legal moves itself
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
        """Return a recorded episode as turns of (observation, action)."""
        turns: list[tuple[str, str]] = []
        for turn in episode:
            named = {int(action): str(word) for action, word in turn["choices"]}
            done = named.get(turn["action"]) if isinstance(turn["action"], int) else None
            turns.append((str(turn["text"]), done or self._word(turn["action"])))
        return turns
