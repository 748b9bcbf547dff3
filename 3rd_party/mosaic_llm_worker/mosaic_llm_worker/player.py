"""Plays one slot with a language model: makes the calls, reads the replies and keeps the memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import nan
from typing import Any, Final, NamedTuple

from mosaic_llm_worker.budget import most_tokens
from mosaic_llm_worker.calls import Announce, Caller, CostSoFar, DryRun, NoUsableReply, unannounced, wanted_by
from mosaic_llm_worker.chat_servers.servers import CallId, Completion, Message, ReplyRequest
from mosaic_llm_worker.forms import answer_text, schema, written
from mosaic_llm_worker.judging import SUMMARY_TURN, action_name, judge
from mosaic_llm_worker.memory import Memory, RefusedAnswer, Turn
from mosaic_llm_worker.parsing import Reader
from mosaic_llm_worker.prompt import Prompter
from mosaic_llm_worker.server_settings import call_seed
from mosaic_llm_worker.settings import LlmSettings
from mosaic_llm_worker.templates import PromptError
from mosaic_worker.worker import (
    Actions,
    Decision,
    EpisodeEnd,
    EpisodeStart,
    Invalid,
    LoadError,
    Slot,
    StepResults,
)

_KEPT_REPLY: Final = 4_000
"""Largest number of characters of a refused reply in the next prompt and in the decision's record."""
_LONGEST_SAID: Final = 300
_USUAL: Final = {"naive": 5, "structured": 20, "few_shot": 60, "robust": 80, "chain_of_thought": 250}
"""Usual tokens of a reply by strategy, for an estimate before the first paid call."""
_USUAL_NOTES: Final = 150
_AROUND_A_TURN: Final = 500
_TALK: Final = 4_000
"""Largest number of tokens of all messages of teammates between two turns."""


class _Sample(NamedTuple):
    """One of the model's replies to a prompt, with the place of its call."""

    place: CallId
    reply: Completion


class Player:
    """Plays one slot. Subclasses may add content to the prompt (:meth:`content`).

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
        settings: LlmSettings,
        record: Callable[[dict[str, Any]], None],
        announce: Announce = unannounced,
    ) -> None:
        self.slot, self.settings = slot, settings
        try:
            self.reader = Reader(
                slot.action_space,
                slot.action_meanings,
                slot.env_id,
                numbered=False,  # a list without numbers does not say whether counting begins at 0 or 1
                hides_legal=settings.hide_legal,
            )
            # One per agent that the slot may play, because after a seat swap, sides and aims differ.
            self._prompters = {
                seat: Prompter(slot.at(seat), settings, self.reader) for seat in (slot.agent_id, *slot.seats)
            }
        except (ValueError, PromptError) as exc:
            raise LoadError(str(exc)) from None
        self.caller = Caller(settings, slot.secrets, record, announce)
        self._episodes: dict[int, Memory] = {}
        self._joined: dict[tuple[int, str], Prompter] = {}

    def prompter(self, memory: Memory) -> Prompter:
        """Return the prompter of the agent and the episode that a memory belongs to."""
        usual = self._prompters[self.slot.agent_id]
        joined = self._joined.get((memory.episode, memory.agent))
        return joined or self._prompters.get(memory.agent, usual)

    @property
    def policy(self) -> str:
        """Name of the policy in tables: the model and the strategy."""
        model = self.settings.model_id or self.settings.client_name
        return f"{model}:{self.settings.strategy}"

    @property
    def spent(self) -> CostSoFar:
        """Cost of the calls so far."""
        return self.caller.spent

    # --- episodes ---------------------------------------------------------------------------

    def reset(self, start: EpisodeStart) -> None:
        """Begin an episode with an empty memory."""
        self.caller.begin(start)
        agent = start.agent_id or self.slot.agent_id
        self._episodes[start.episode] = self._fresh(agent, start.run_episode)
        if start.seat is not None:
            slot = self.slot.at(agent, start.seat)
            told = Prompter(slot, self.settings, self.reader, self.slot.agent_id)
            self._joined[start.run_episode, agent] = told

    def forget(self, end: EpisodeEnd) -> None:
        """End an episode and drop its memory."""
        memory = self._episodes.pop(end.episode, None)
        if memory is not None:
            self._joined.pop((memory.episode, memory.agent), None)
        self.caller.end(end.episode)

    def learn(self, results: StepResults) -> None:
        """Add the results of earlier actions to the memories of their episodes."""
        for episode, step, action, reward in zip(
            results.episodes, results.steps, results.actions, results.rewards, strict=True
        ):
            memory = self._episodes.get(episode)
            if memory is not None:
                memory.result(step, self._named(memory, step, action), float(reward))

    def _fresh(self, agent: str, episode: int) -> Memory:
        return Memory(agent, self.settings.history, self.settings.summary, episode=episode)

    def _memory(self, episode: int) -> Memory:
        return self._episodes.setdefault(episode, self._fresh(self.slot.agent_id, episode))

    def _named(self, memory: Memory, step: int, action: Any) -> str:
        turn = memory.turn(step)
        return action_name(self.reader, action, turn.choices if turn is not None else ())

    # --- decisions --------------------------------------------------------------------------

    async def decide(self, decision: Decision) -> Any:
        """Make one decision with the model.

        Raises:
            LimitReached: A budget or a limit of the episode allows no further call.
            Fatal: No call to the server can succeed.
        """
        memory = self._memory(decision.episode)
        memory.begin(decision.step, decision.text, decision.choices, decision.image, decision.messages)
        until = wanted_by(self.slot)
        place = CallId(memory.agent, memory.episode, decision.step, decision.attempt, 0, until)
        try:
            await self._sum_up(decision, memory, place)
            refused, memory.refused = memory.refused, None
            messages = self.messages(decision, memory, refused)
            replies = await self._sample(decision, memory, place, messages)
        except NoUsableReply as exc:
            return Invalid(str(exc), cause=exc.cause)
        except DryRun as exc:
            return Invalid(str(exc))
        return self._answer(decision, memory, replies)

    async def _sample(
        self, decision: Decision, memory: Memory, place: CallId, messages: list[Message]
    ) -> list[_Sample]:
        """Send the prompt as often as the setting ``samples`` says, in parallel.

        Returns:
            The replies in the order of their calls; calls without a reply are left out.

        Raises:
            Unanswered: No call has a reply.
            DryRun: No model is called in a dry run.
            BudgetSpent: The budget allows no further call.
            Fatal: No call to the server can succeed.
        """
        form = self._form(decision, memory)
        # The call for the notes is also part of the decision and keeps its own number.
        turns = [0, *range(SUMMARY_TURN + 1, SUMMARY_TURN + self.settings.samples)]
        places = [replace(place, turn=turn) for turn in turns]
        calls = [self._call(decision, memory, each, messages, form) for each in places]
        results = await asyncio.gather(*calls, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, NoUsableReply):
                raise result
        replies = [_Sample(p, r) for p, r in zip(places, results, strict=True) if isinstance(r, Completion)]
        if not replies:
            raise next(result for result in results if isinstance(result, NoUsableReply))
        return replies

    def _answer(self, decision: Decision, memory: Memory, replies: list[_Sample]) -> Any:
        """Return the action that most replies name, or the problem of a reply if no reply is usable."""
        judged = judge(
            self.reader,
            decision,
            [sample.reply for sample in replies],
            lambda action: self._named(memory, decision.step, action),
        )
        reading, chosen = judged.reading, replies[judged.at]
        if reading.problem:
            reply = chosen.reply.text[:_KEPT_REPLY]
            memory.refused = RefusedAnswer(decision.step, reply)
            return Invalid(reading.problem, reply, "illegal" if reading.illegal else "unreadable")
        place, votes = chosen.place, judged.votes
        memory.answered(decision.step, judged.name, self.reader.notes(chosen.reply.text))
        extras: dict[str, Any] = {"tokens": memory.spent(decision.step), "call_ref": place.ref}
        if self.settings.samples > 1:
            extras["votes"] = votes
            extras["no_vote"] = self.settings.samples - sum(votes.values())
        if reading.said and self.prompter(memory).talks:
            extras["said"] = reading.said[:_LONGEST_SAID]
        return Actions([reading.action], extras=[extras])

    async def _call(
        self, decision: Decision, memory: Memory, place: CallId, messages: list[Message], form: Any
    ) -> Completion:
        notes = place.turn == SUMMARY_TURN
        ask = ReplyRequest(
            call_seed(decision.seed, place),
            form,
            "answer",
            stable=1 if notes else 1 + len(self._demonstrated[0]),
            usual=_USUAL_NOTES if notes else _USUAL[self.settings.strategy],
            to_come=self._to_come(messages, memory, decision.step) if self.settings.dry_run else 0,
        )
        reply = await self.caller.call(place, messages, ask)
        memory.add_tokens(decision.step, reply.input_tokens, reply.output_tokens)
        return reply

    def _to_come(self, messages: list[Message], memory: Memory, step: int) -> int:
        """Return the additional tokens of a prompt once the memory is full and a reply was refused."""
        settings = self.settings
        a_turn = 2 * most_tokens(messages[-1:]) + _AROUND_A_TURN + settings.longest_reply
        missing = max(0, settings.history - len(memory.before(step)))
        refused = settings.longest_reply + _AROUND_A_TURN
        return missing * a_turn + refused + settings.longest_reply * settings.summary + _TALK * settings.talk

    def _form(self, decision: Decision, memory: Memory) -> Mapping[str, Any] | None:
        if self.settings.strategy != "structured":
            return None
        space, vocabulary = self.slot.action_space, None
        if space.kind == "Discrete":
            mask = None if self.settings.hide_legal else decision.action_mask
            vocabulary = self.reader.vocabulary(mask, decision.choices, decision.text)
        told = not (self.settings.hide_legal and decision.choices)
        return schema(space, vocabulary, self.prompter(memory).talks, told)

    async def _sum_up(self, decision: Decision, memory: Memory, place: CallId) -> None:
        """Let the model summarize the turns so far in notes, if a summary is due."""
        turns = memory.to_sum_up(decision.step)
        if not turns:
            return
        messages = [self._system(memory), *self._earlier(self.prompter(memory), turns)]
        notes = f"Your notes so far:\n{memory.notes}\n\n" if memory.notes else ""
        messages.append({"role": "user", "content": f"{notes}{self.prompter(memory).summary}"})
        second = CallId(place.agent, place.episode, place.step, place.attempt, SUMMARY_TURN, place.until)
        try:
            reply = await self._call(decision, memory, second, messages, None)
        except (NoUsableReply, DryRun):
            memory.sum_up(decision.step, "")
        else:
            memory.sum_up(decision.step, self.reader.notes(reply.text))

    # --- what the model is shown ----------------------------------------------------------------

    def messages(
        self, decision: Decision, memory: Memory, refused: RefusedAnswer | None = None
    ) -> list[Message]:
        """Return the complete prompt of a decision."""
        last = memory.last(decision.step)
        shown, opening = self._demonstrated
        prompter = self.prompter(memory)
        earlier = self._earlier(prompter, memory.before(decision.step), opening)
        messages = [self._system(memory), *shown, *earlier]
        turn = prompter.turn(
            decision, memory.number(decision.step), memory.notes, last.news if last is not None else ""
        )
        if opening and not earlier:
            turn = f"{opening}\n\n{turn}"
        if refused is None or refused.step != decision.step or not decision.reason:
            return [*messages, {"role": "user", "content": self.content(decision, turn)}]
        again = prompter.again(decision.reason)
        if not refused.reply.strip():
            return [*messages, {"role": "user", "content": self.content(decision, f"{turn}\n\n{again}")}]
        return [
            *messages,
            {"role": "user", "content": self.content(decision, turn)},
            {"role": "assistant", "content": refused.reply},
            {"role": "user", "content": again},
        ]

    def content(self, decision: Decision, text: str) -> Any:
        """Return the content of a turn's message: text, or in subclasses a list of parts with images."""
        return text

    def recalled(self, turn: Turn, text: str) -> Any:
        """Return the content of an earlier turn's message, in the same form as :meth:`content`."""
        return text

    def _system(self, memory: Memory) -> Message:
        return {"role": "system", "content": self.prompter(memory).system}

    @cached_property
    def _demonstrated(self) -> tuple[list[Message], str]:
        """Return the messages of the demonstrated episodes, and the text before the slot's own episode.

        Both are the same for each agent that the slot plays.
        """
        episodes: Sequence[Sequence[Mapping[str, Any]]] = self.settings.demonstrations.get("episodes", ())
        messages: list[Message] = []
        prompter, before = self._prompters[self.slot.agent_id], ""
        for number, recorded in enumerate(episodes, 1):
            turns = [self._turn(at, told) for at, told in enumerate(recorded, 1)]
            opening = "\n\n".join(filter(None, (before, prompter.example(number, len(episodes)))))
            messages += self._earlier(prompter, turns, opening)
            before = turns[-1].news if turns else before
        return messages, "\n\n".join(filter(None, (before, prompter.own))) if messages else ""

    def _turn(self, number: int, told: Mapping[str, Any]) -> Turn:
        """Make a turn of a demonstrated episode from the data that the host sends."""
        action, words = told["action"], {int(a): str(word) for a, word in told["choices"]}
        if self.slot.action_space.kind == "Discrete":
            said = words.get(int(action)) or self.reader.vocabulary().name(int(action))
        else:
            said = written(action)
        reward = nan if told["reward"] is None else float(told["reward"])
        return Turn(int(told["step"]), number, str(told["text"]), said, played=said, reward=reward)

    def _earlier(self, prompter: Prompter, turns: Any, opening: str = "") -> list[Message]:
        """Return earlier turns as a conversation; ``opening`` precedes the text of the first turn."""
        messages: list[Message] = []
        news = opening
        for turn in turns:
            seen = prompter.seen(turn.number, turn.seen, news, turn.heard)
            answer = turn.answer or turn.played or "(no answer)"
            messages.append({"role": "user", "content": self.recalled(turn, seen)})
            spoken = answer_text(self.settings.strategy, self.slot.action_space, answer)
            messages.append({"role": "assistant", "content": turn.words or spoken})
            news = turn.news
        return messages
