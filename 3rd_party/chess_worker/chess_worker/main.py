"""Worker that plays chess with a language model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from pydantic import ValidationError

from chess_worker.dialogue import Dialogue
from chess_worker.settings import ChessSettings
from mosaic_llm_worker.calls import Caller, DryRun, NoUsableReply, announced_to, wanted_by
from mosaic_llm_worker.chat_servers.servers import CallId, Completion, ReplyRequest
from mosaic_llm_worker.server_settings import call_seed, errors_sentence
from mosaic_worker.concurrent import AsyncWorker
from mosaic_worker.worker import Actions, Decision, EpisodeEnd, EpisodeStart, Invalid, LoadError, Slot
from stockfish_worker.position import Position, refusal

_KEPT_REPLY: Final = 4_000
_USUAL: Final = 40
"""Usual tokens of a reply, for an estimate of the cost."""


class ChessWorker(AsyncWorker):
    """Plays chess with a language model, with a separate dialogue for each move."""

    inputs = ("text",)
    announces = True

    def __init__(self) -> None:
        self._slots: dict[int, tuple[ChessSettings, Caller]] = {}
        self._seats: dict[tuple[int, int], tuple[str, int]] = {}

    def load(self, slot: Slot) -> str:
        """Check the settings of ``slot`` and that its server can be reached.

        Returns:
            Model and kind of dialogue (``tools`` or ``text``).

        Raises:
            LoadError: A setting is wrong, a key is missing, no server answers, or the game is not chess.
        """
        if no := refusal(slot):
            raise LoadError(no)
        try:
            settings = ChessSettings.model_validate(dict(slot.settings))
        except ValidationError as error:
            raise LoadError(errors_sentence(error)) from None
        caller = Caller(settings, slot.secrets, self.host.record_call, announced_to(self.host, slot))
        caller.find_server()
        self._slots[slot.index] = settings, caller
        return f"{settings.model_id or settings.client_name}:{'tools' if settings.tools else 'text'}"

    def reset(self, slot: Slot, starts: Sequence[EpisodeStart]) -> None:
        for start in starts:
            seat = start.agent_id or slot.agent_id, start.run_episode
            self._seats[slot.index, start.episode] = seat
            self._slots[slot.index][1].begin(start)

    def on_episode_end(self, slot: Slot, ends: Sequence[EpisodeEnd]) -> None:
        for end in ends:
            self._seats.pop((slot.index, end.episode), None)
            self._slots[slot.index][1].end(end.episode)

    async def decide(self, slot: Slot, decision: Decision) -> Any:
        """Conduct the dialogue about one move.

        Raises:
            NoPositionError: The observation is no chess position.
            LimitReached: A budget or a limit of the episode allows no further call.
            Fatal: No call to the server can succeed.
        """
        settings, caller = self._slots[slot.index]
        position = Position.of(decision)
        dialogue = Dialogue(
            position,
            decision.text,
            tools=settings.tools,
            max_turns=settings.max_turns,
            show=settings.show_position,
            hide_legal=settings.hide_legal,
            reason=decision.reason,
        )
        alone = slot.agent_id, decision.episode
        agent, episode = self._seats.get((slot.index, decision.episode), alone)
        until = wanted_by(slot)
        first = CallId(agent, episode, decision.step, decision.attempt, 0, until)
        tokens, reply = {"input": 0, "output": 0}, Completion("")
        for turn in range(settings.max_turns):
            place = replace(first, turn=turn)
            ask = ReplyRequest(
                call_seed(decision.seed, place),
                tools=dialogue.tools if settings.tools else (),
                usual=_USUAL,
                replies=settings.max_turns,
            )
            try:
                reply = await caller.call(place, list(dialogue.messages), ask)
            except NoUsableReply as error:
                return Invalid(_with_tally(str(error), dialogue), reply.text[:_KEPT_REPLY], error.cause)
            except DryRun as error:
                return Invalid(_with_tally(str(error), dialogue))
            tokens = {
                "input": tokens["input"] + reply.input_tokens,
                "output": tokens["output"] + reply.output_tokens,
            }
            move = dialogue.receive(reply)
            if move is not None:
                extras = {"tokens": tokens, "call_ref": place.ref, "dialogue": dialogue.tally.record()}
                return Actions([position.actions[move]], extras=[extras])
            if len(dialogue.tally.illegal) >= settings.max_illegal:
                break
        cause = "illegal" if dialogue.tally.illegal else "unreadable"
        return Invalid(_with_tally("no legal move was made", dialogue), reply.text[:_KEPT_REPLY], cause)

    async def aclose(self) -> None:
        await asyncio.gather(*(caller.aclose() for _, caller in self._slots.values()))


def _with_tally(reason: str, dialogue: Dialogue) -> str:
    words = dialogue.tally.words()
    turns = dialogue.tally.turns
    if not turns:
        return reason
    spent = f"in {turns} replies" if turns > 1 else "in one reply"
    return f"{reason} {spent}" + (f" ({words})" if words else "")
