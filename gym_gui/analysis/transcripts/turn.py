"""Defines a turn of a transcript: a call to a language model, or a decision with recorded details."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import orjson

from gym_gui.analysis.transcripts import bdi_thoughts
from gym_gui.analysis.transcripts.action_scores import Score, scores_of
from gym_gui.analysis.transcripts.bdi_thoughts import BdiChanges, thought_of
from gym_gui.analysis.transcripts.decision_rows import CONSIDERED, DECISION, SCORES, is_own_turn
from gym_gui.analysis.transcripts.plan_values import PlanValues, planned_of
from gym_gui.analysis.transcripts.search_values import ActionSearchResult, considered_of
from gym_gui.analysis.words import wording
from gym_gui.core.enums import FALLBACKS
from gym_gui.core.record_fields import count, items, mapping, number, text
from gym_gui.core.types import PLANNED, REFUSED, WORD

CHAT, DRY = "chat", "dry"
"""Kinds of turns that are calls: a call that was answered or failed, and one that a dry run did not send."""


class Message(NamedTuple):
    """Message of a prompt.

    Attributes:
        role: ``system``, ``user``, ``assistant`` or ``tool``.
        text: Text of the message, with pictures and tool calls described in brackets.
    """

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """Call to a model, or decision with details, with its outcome.

    Attributes:
        agent: Agent that decided; with swapped seats, the agent in whose seat the slot played.
        episode: Index of the episode.
        step: Environment step of the decision.
        attempt: 0 for the first attempt, k for the k-th retry.
        turn: Number of the call within its decision, from 0.
        ref: Name of the call in ``calls.jsonl``, by which step rows refer to it.
        kind: ``chat``, ``dry`` if nothing was sent, or ``decision``.
        provider: Name of the API's provider.
        model: Requested model.
        model_reported: Model that answered, as the server reports it; empty if it does not.
        fallback: Model that was finally requested instead of ``model``; empty if none was.
        messages: Messages of the prompt.
        reply: Text of the model's reply, unchanged.
        thinking: The model's reasoning, if the server returns it.
        tools: Tool calls in the reply, as text.
        finish: Reason why the reply ended, as returned by the server.
        input_tokens: Number of input tokens.
        cached_tokens: Number of input tokens that were in the server's cache.
        output_tokens: Number of output tokens.
        usd: Price in US dollars; ``None`` if it is unknown.
        latency_ms: Milliseconds until the reply arrived; ``None`` without a reply.
        error: Reason why there is no reply; empty if there is one.
        retries: How often the request was repeated before it succeeded or was given up.
        replayed: Whether the reply comes from a cassette (recorded replies), so that nothing was sent.
        action: Action that was played afterwards; only valid if ``source`` is not empty.
        word: The action as text, in the game's own notation if there is one; empty if unknown.
        source: Source of the action (``policy``, ``retry``, ``noop``, …); empty if another call followed in
            the same decision, or if the step row is missing.
        said: Message of the agent to its team.
        refused: Whether the reply was not a valid action, so that the model was asked again or another action
            was played.
        why_refused: Reason for this, if another action was played and the step row has the reason.
        slot: Name of the slot that was in the agent's seat; empty if unknown.
        thought: Beliefs, goals and plan of a BDI program; ``None`` if no BDI program decided.
        scores: Scores of the actions, best first; empty if none were recorded.
        considered: Results of a search, by action; empty if none were recorded.
        planned: Predicted course of the plan whose first action was played; ``None`` if none was recorded.
    """

    agent: str
    episode: int
    step: int
    attempt: int = 0
    turn: int = 0
    ref: str = ""
    kind: str = CHAT
    provider: str = ""
    model: str = ""
    model_reported: str = ""
    fallback: str = ""
    messages: tuple[Message, ...] = ()
    reply: str = ""
    thinking: str = ""
    tools: tuple[str, ...] = ()
    finish: str = ""
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    latency_ms: float | None = None
    error: str = ""
    retries: int = 0
    replayed: bool = False
    action: Any = None
    word: str = ""
    source: str = ""
    said: str = ""
    refused: bool = False
    why_refused: str = ""
    slot: str = ""
    thought: BdiChanges | None = None
    scores: tuple[Score, ...] = ()
    considered: Mapping[str, ActionSearchResult] = field(default_factory=dict[str, ActionSearchResult])
    planned: PlanValues | None = None

    @property
    def is_decision(self) -> bool:
        """Whether the turn is a decision instead of a call to a model."""
        return self.kind == DECISION

    @property
    def answered_by(self) -> str:
        """The requested model as text, with the answering model if it differs."""
        return wording.answered_by(self.model, self.model_reported or self.fallback)

    @property
    def failed(self) -> bool:
        """Whether there was no reply, or one that was not a valid action."""
        return bool(self.error) or self.refused

    def contains(self, wanted: str) -> bool:
        """Return whether a text occurs anywhere in the turn, ignoring case."""
        words = wanted.casefold()
        places = (
            self.reply,
            self.thinking,
            self.error,
            self.said,
            self.word if self.is_decision else "",
            *self.tools,
            *(m.text for m in self.messages),
            *(piece for _, piece in (self.thought.pieces() if self.thought is not None else ())),
        )
        return any(words in place.casefold() for place in places)


def turn_of(call: Mapping[str, Any]) -> Turn:
    """Return the turn for a row of ``calls.jsonl``, or of ``steps.jsonl`` with details; also for live rows.

    Values that are missing or have a wrong type are left empty, because third-party workers may write rows.
    """
    if is_own_turn(call):
        return _decided(call)
    tokens = mapping(call.get("tokens")) or {}
    return Turn(
        agent=text(call.get("agent")) or "",
        episode=count(call.get("episode")) or 0,
        step=count(call.get("step")) or 0,
        attempt=count(call.get("attempt")) or 0,
        turn=count(call.get("turn")) or 0,
        ref=text(call.get("ref")) or "",
        kind=text(call.get("kind")) or CHAT,
        provider=text(call.get("provider")) or "",
        model=text(call.get("model")) or "",
        model_reported=text(call.get("model_reported")) or "",
        fallback=text(call.get("fallback")) or "",
        messages=tuple(_messages(call.get("messages"))),
        reply=text(call.get("reply")) or "",
        thinking=text(call.get("thinking")) or "",
        tools=tuple(_tools(call.get("tool_calls"))),
        finish=text(call.get("finish")) or "",
        input_tokens=count(tokens.get("input")) or 0,
        cached_tokens=count(tokens.get("cached")) or 0,
        output_tokens=count(tokens.get("output")) or 0,
        usd=number(call.get("usd")),
        latency_ms=number(call.get("latency_ms")),
        error=text(call.get("error")) or "",
        retries=count(call.get("retries")) or 0,
        replayed=call.get("replayed") is True,
    )


def _decided(row: Mapping[str, Any]) -> Turn:
    agent, episode = text(row.get("agent_id")) or "", count(row.get("episode_index")) or 0
    step = count(row.get("step_index")) or 0
    turn = Turn(
        agent,
        episode,
        step,
        ref=f"{agent}/{episode}/{step}",
        kind=DECISION,
        latency_ms=number(row.get("latency_ms")),
        thought=thought_of(row.get(bdi_thoughts.FIELD)),
    )
    return with_row(turn, row)


def with_row(turn: Turn, row: Mapping[str, Any]) -> Turn:
    """Return a copy of a turn with the outcome of its decision.

    Args:
        turn: Last call of the last attempt at a decision, or the decision itself.
        row: Row of ``steps.jsonl`` for the same agent, episode and step.
    """
    source = text(row.get("action_source")) or ""
    return replace(
        turn,
        action=row.get("action"),
        word=text(row.get(WORD)) or "",
        source=source,
        said=text(row.get("said")) or "",
        refused=source in FALLBACKS,
        why_refused=text(row.get(REFUSED)) or "",
        scores=scores_of(row.get(SCORES), row.get(CONSIDERED)),
        considered=considered_of(row.get(CONSIDERED)),
        planned=planned_of(row.get(PLANNED)),
    )


def _messages(given: Any) -> Iterator[Message]:
    for entry in items(given) or ():
        message = mapping(entry) or {}
        words = _content_text(message.get("content"))
        called = "\n".join(_tools(message.get("tool_calls")))
        yield Message(text(message.get("role")) or "", "\n".join(part for part in (words, called) if part))


def _content_text(content: Any) -> str:
    """Return a message's content as text; the content may have several parts, including pictures."""
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, (_part_text(mapping(part) or {}) for part in items(content) or ())))


def _part_text(part: Mapping[str, Any]) -> str:
    words = text(part.get("text"))
    if words is not None:
        return words
    picture = mapping(part.get("image"))
    if picture is None:
        return "[picture]" if "image_url" in part else ""
    size = f"{picture.get('width', '?')} x {picture.get('height', '?')}"
    return f"[picture, {size}, sha256 {str(picture.get('sha256', ''))[:12]}]"


def _tools(given: Any) -> Iterator[str]:
    """Yield tool calls as text, e.g. ``[make_move {"move": "e4"}]``, from OpenAI's form or a flat one."""
    for entry in items(given) or ():
        call = mapping(entry) or {}
        inner = mapping(call.get("function")) or call
        arguments = inner.get("arguments", inner.get("arguments_json", ""))
        words = arguments if isinstance(arguments, str) else orjson.dumps(arguments, default=str).decode()
        yield f"[{inner.get('name', '?')} {words}]".replace(" ]", "]")


def repeated(turn: Turn, before: Turn | None) -> int:
    """Return the number of leading messages of a prompt that equal those of the agent's previous prompt."""
    if before is None:
        return 0
    same = 0
    for mine, theirs in zip(turn.messages, before.messages, strict=False):
        if mine != theirs:
            break
        same += 1
    return same
