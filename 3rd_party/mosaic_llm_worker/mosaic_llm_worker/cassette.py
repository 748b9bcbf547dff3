"""Converts model calls to records and replays recorded calls without a server."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from mosaic_llm_worker.chat_servers.servers import CallId, Completion, Message, ToolCall
from mosaic_llm_worker.images import picture
from mosaic_worker.plain_files import lines, open_file


class Mismatch(Exception):
    """A call differs from the recorded one, or the recording cannot be used; the message says why."""


def kept_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return messages in the form of records: images become their digest and size, without the bytes."""
    return [{**message, "content": _kept(message.get("content"))} for message in messages]


def _kept(content: object) -> object:
    if not isinstance(content, (list, tuple)):
        return content
    parts = cast("Sequence[Mapping[str, Any]]", content)
    return [dict(part) if (seen := picture(part)) is None else {"image": seen._asdict()} for part in parts]


def as_record(place: CallId, kind: str = "chat") -> dict[str, Any]:
    """Return the first fields of a call's record, which identify the call."""
    return {
        "kind": kind,
        "ref": place.ref,
        "agent": place.agent,
        "episode": place.episode,
        "step": place.step,
        "attempt": place.attempt,
        "turn": place.turn,
    }


def kept_tokens(reply: Completion) -> dict[str, int]:
    """Return a reply's token counts in the form of records; counts of cache and reasoning only if not 0."""
    parts = {
        "cached": reply.cached_tokens,
        "cache_written": reply.cache_written_tokens,
        "reasoning": reply.reasoning_tokens,
    }
    some = {name: tokens for name, tokens in parts.items() if tokens}
    return {"input": reply.input_tokens, "output": reply.output_tokens, **some}


def completion_of(record: Mapping[str, Any]) -> Completion:
    """Return the reply in a record."""
    tokens: Mapping[str, Any] = record.get("tokens") or {}
    calls: Sequence[Mapping[str, Any]] = record.get("tool_calls") or ()
    return Completion(
        text=str(record.get("reply") or ""),
        finish=str(record.get("finish") or ""),
        input_tokens=int(tokens.get("input") or 0),
        output_tokens=int(tokens.get("output") or 0),
        model=str(record.get("model_reported") or ""),
        tool_calls=tuple(ToolCall(str(c["id"]), str(c["name"]), str(c["arguments_json"])) for c in calls),
        thinking=str(record.get("thinking") or ""),
        cached_tokens=int(tokens.get("cached") or 0),
        cache_written_tokens=int(tokens.get("cache_written") or 0),
        reasoning_tokens=int(tokens.get("reasoning") or 0),
        doubt=str(record.get("estimated") or ""),
    )


class Cassette:
    """Recorded calls of a run. Only the position of each call in the file is kept in memory.

    Args:
        file: ``calls.jsonl`` of an operator.

    Raises:
        Mismatch: The file cannot be read or has no call that can be replayed.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._where: dict[str, tuple[int, int]] = {}
        self._without_words = False
        try:
            self._index_calls()
        except OSError as error:
            raise Mismatch(f"the recorded calls {str(file)!r} cannot be read: {error.strerror}") from None
        if not self._where:
            why = (
                "it was recorded with cassette 'off', which records no replies"
                if self._without_words
                else "give the calls.jsonl of an operator in a run folder"
            )
            raise Mismatch(f"{str(file)!r} holds no recorded call: {why}")

    def _index_calls(self) -> None:
        at = 0
        with self._open() as file:
            for line in lines(file):
                begin, at = at, at + len(line)
                # A run that was killed may end within a line.
                record = _record_of(line) if line.endswith(b"\n") else None
                if record is None or record.get("kind") != "chat":
                    continue
                if "messages" not in record:
                    self._without_words = True
                    continue
                # A restarted episode has its calls twice: the later ones belong to its recorded steps.
                self._where[str(record.get("ref"))] = begin, len(line)

    def _open(self) -> BinaryIO:
        """Open the file; refuse a link between the run folder and the file."""
        folders = self._file.parents
        run = folders[2] if len(folders) > 2 and folders[1].name == "operators" else folders[0]
        return open_file(self._file, inside=run)

    def find(self, place: CallId, messages: Sequence[Message]) -> Mapping[str, Any]:
        """Return the record of a call.

        Raises:
            Mismatch: There is no record of the call, or its prompt differs from ``messages``.
        """
        where = self._where.get(place.ref)
        if where is None:
            raise Mismatch(
                f"the recording has no call {place.ref} (agent/episode/step/attempt/turn): this run took "
                "another course, or the recorded run ended earlier"
            )
        with self._open() as file:
            file.seek(where[0])
            record = _record_of(file.read(where[1]))
        if record is None or record.get("ref") != place.ref:
            raise Mismatch(f"the recording {str(self._file)!r} has changed during the replay")
        difference = first_difference(record["messages"], kept_messages(messages))
        if difference:
            raise Mismatch(f"call {place.ref} differs from the recorded call: {difference}")
        return record


def _record_of(line: bytes) -> dict[str, Any] | None:
    try:
        record: Any = json.loads(line)
    except ValueError:
        return None
    return cast("dict[str, Any]", record) if isinstance(record, dict) else None


def first_difference(recorded: Sequence[Message], asked: Sequence[Message]) -> str:
    """Return the first difference of two prompts with both lines; an empty string if they are equal."""
    if digest(recorded) == digest(asked):
        return ""
    if len(recorded) != len(asked):
        head = f"{len(recorded)} messages were recorded, but the prompt has {len(asked)}"
    else:
        head = ""
    for number, (was, now) in enumerate(zip(recorded, asked, strict=False), 1):
        if was == now:
            continue
        before, after = _lines(was), _lines(now)
        for line, (old, new) in enumerate(zip(before, after, strict=False), 1):
            if old != new:
                return f"message {number}, line {line} was {_short(old)}, is {_short(new)}"
        return f"message {number} had {len(before)} lines, has {len(after)}"
    return head


def digest(messages: Sequence[Message]) -> str:
    """Return the SHA-256 of messages in the form of records."""
    text = json.dumps(list(messages), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _lines(message: Message) -> list[str]:
    """Return a message as lines to compare: the role, the content, then all other fields."""
    content = message.get("content")
    words = content.split("\n") if isinstance(content, str) else [json.dumps(part) for part in content or ()]
    rest = {k: v for k, v in message.items() if k not in ("role", "content")}
    return [
        f"role {message.get('role')}",
        *words,
        *([json.dumps(rest, sort_keys=True)] if rest else []),
    ]


def _short(line: str) -> str:
    return repr(line if len(line) <= 160 else line[:157] + "…")
