"""One call to a language model, or one decision of which more was told, as it is shown and searched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import orjson

from gym_gui.analysis.transcripts import bdi_thoughts
from gym_gui.analysis.transcripts.action_scores import Score, scores_of
from gym_gui.analysis.transcripts.bdi_thoughts import Thought, thought_of
from gym_gui.analysis.transcripts.decision_rows import CONSIDERED, DECISION, SCORES, tells_more
from gym_gui.analysis.transcripts.plan_values import Planned, planned_of
from gym_gui.analysis.transcripts.search_values import Considered, considered_of
from gym_gui.analysis.words import wording
from gym_gui.core.enums import FALLBACKS
from gym_gui.core.record_fields import count, items, mapping, number, text
from gym_gui.core.types import PLANNED, REFUSED, WORD

CHAT, DRY = "chat", "dry"
"""Kinds of turn beside decisions: a call that was answered (or failed), and one not sent in a dry run."""


class Message(NamedTuple):
    """One message of a prompt.

    Attributes:
        role: ``system``, ``user``, ``assistant`` or ``tool``.
        text: Its words; a picture or a call of a tool stands in it in brackets.
    """

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One call to a model, or one decision of which more was told, and what became of it.

    Attributes:
        agent: The agent that asked or decided; where seats are swapped, the one that its slot plays.
        episode: Its episode.
        step: Environment step of the decision.
        attempt: 0 for the first ask, k for the k-th retry.
        turn: Number of the call within its decision, from 0.
        ref: Its name in ``calls.jsonl``; step rows refer to it.
        kind: ``chat``, ``dry`` where nothing was sent, or ``decision``.
        provider: Whose server.
        model: The model asked for.
        model_reported: The model that the server says has answered; empty where it says nothing.
        fallback: The model that was asked in place of ``model`` in the end; empty where none was.
        messages: The prompt.
        reply: The model's words, as they came.
        thinking: What it has thought aloud, where the server hands it out.
        tools: Calls of tools in its reply, in words.
        finish: Why it stopped, in the server's word.
        input_tokens: Tokens read.
        cached_tokens: Of these, tokens that the server had kept.
        output_tokens: Tokens written.
        usd: Its price in US dollars; ``None``: not known.
        latency_ms: Milliseconds until the reply was there, ``None`` where nothing came.
        error: Why there is no reply; empty where there is one.
        retries: How often the server was asked again before.
        replayed: The reply comes from a cassette; nothing was sent.
        action: The action that was played after it; meaningful where ``source`` says who chose it.
        word: That action in the game's own notation, or in words, where they are known.
        source: Who chose that action (``policy``, ``retry``, ``noop``, …); empty where another call
            followed at the same decision, or the row is missing.
        said: What the agent said to its team.
        refused: The reply could not be played: it was asked again, or something else was played.
        why_refused: Why, where something else was played and the row says so.
        slot: The configured slot that sits in the agent's seat; empty where it is not known.
        thought: What a program thought; ``None`` where no program decided.
        scores: How the actions were scored, the best first; empty where nothing was told of that.
        considered: What a search found of actions, by their words; likewise.
        planned: The course of the plan whose first action it is; ``None`` where none was told.
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
    thought: Thought | None = None
    scores: tuple[Score, ...] = ()
    considered: Mapping[str, Considered] = field(default_factory=dict[str, Considered])
    planned: Planned | None = None

    @property
    def is_decision(self) -> bool:
        """Whether it is a decision, and no call to a model."""
        return self.kind == DECISION

    @property
    def answered_by(self) -> str:
        """The model, in words: which was asked, and which answered where that is another."""
        return wording.answered_by(self.model, self.model_reported or self.fallback)

    @property
    def failed(self) -> bool:
        """Whether there was no reply, or none that could be played."""
        return bool(self.error) or self.refused

    def contains(self, wanted: str) -> bool:
        """Whether these words stand anywhere in it, in capitals or not."""
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
    """A row of ``calls.jsonl``, or one of ``steps.jsonl`` with details, as a turn; live rows read the same.

    Values that are missing or of another type are left empty: any third-party worker may write rows.
    """
    if tells_more(call):
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
    """The turn that led to the answer, with what was played.

    Args:
        turn: The last call of the last attempt at a decision, or the decision itself.
        row: The row of ``steps.jsonl`` of the same agent, episode and step.
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
    """A message's content: text, or parts of text and pictures."""
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
    """``[make_move {"move": "e4"}]``, whichever of the two forms the call is in."""
    for entry in items(given) or ():
        call = mapping(entry) or {}
        inner = mapping(call.get("function")) or call
        arguments = inner.get("arguments", inner.get("arguments_json", ""))
        words = arguments if isinstance(arguments, str) else orjson.dumps(arguments, default=str).decode()
        yield f"[{inner.get('name', '?')} {words}]".replace(" ]", "]")


def repeated(turn: Turn, before: Turn | None) -> int:
    """How many messages at the head of a prompt stood in the same agent's prompt before as well."""
    if before is None:
        return 0
    same = 0
    for mine, theirs in zip(turn.messages, before.messages, strict=False):
        if mine != theirs:
            break
        same += 1
    return same
