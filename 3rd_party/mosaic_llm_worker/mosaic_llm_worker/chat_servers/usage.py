"""Counts the tokens of a request: the server's counts if they are plausible, else estimates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from mosaic_llm_worker.budget import estimate_tokens, prompt_bytes
from mosaic_llm_worker.chat_servers.replies import count
from mosaic_llm_worker.chat_servers.servers import Ask, Completion, Message, ServerError

_SLACK: Final = 200_000
"""Tokens that no length accounts for: what a server puts before a prompt, thoughts that it does not show."""
_PICTURE: Final = 50_000
"""More tokens than any provider takes for one."""
_LONGEST_TOKEN: Final = 256
"""Bytes; runs of blanks are the longest."""


class Usage(NamedTuple):
    """Tokens of one request.

    Attributes:
        input_tokens: Tokens of the prompt.
        output_tokens: Tokens of the reply, including reasoning.
        doubt: Why the counts are estimated from lengths; empty if they are the server's.
    """

    input_tokens: int
    output_tokens: int
    doubt: str = ""


def usage_of(
    given: object, made: object, messages: Sequence[Message], ask: Ask, said: str, max_tokens: int
) -> Usage:
    """The tokens of a request; what the server says is checked against the lengths.

    Args:
        given: The server's count of the prompt, whatever it sent.
        made: Its count of the reply.
        messages: The prompt.
        ask: How the reply was wanted.
        said: All that came back: words, thoughts, calls.
        max_tokens: What the reply was limited to.
    """
    size, pictures = prompt_bytes(messages, ask)
    prompt = _checked("prompt", given, size, size + _PICTURE * pictures, estimate_tokens(messages, ask))
    length = len(said.encode("utf-8", "replace"))
    reply = _checked("reply", made, length, length + 4 * max_tokens, estimate_tokens([{"content": said}]))
    doubts = " and ".join(doubt for doubt in (prompt[1], reply[1]) if doubt)
    return Usage(prompt[0], reply[0], f"{doubts}: estimated from the length" if doubts else "")


def without_reply(reason: str, usage: Usage) -> ServerError:
    """The error of a reply without a message: what it took is paid for all the same.

    Args:
        reason: One sentence.
        usage: Of the request, as the reply says it.
    """
    if usage.doubt:
        return ServerError(reason, may_retry=True, unsure=True)
    used = Completion("", "", usage.input_tokens, usage.output_tokens)
    return ServerError(reason, may_retry=True, used=used)


def held_back(url: str, words: str, filtered: bool, usage: Usage) -> ServerError:
    """The error of a reply that was refused or filtered; another model may give one.

    Args:
        url: Of the server.
        words: What was said in the reply's place.
        filtered: Whether the server's filter held it back; else the model refuses.
        usage: Of the request.
    """
    who = f"the content filter of {url} held the reply back" if filtered else "the model refuses to answer"
    used = Completion("", "", usage.input_tokens, usage.output_tokens)
    return ServerError(f"{who}{f': {words[:300]}' if words else ''}", kind="refused", used=used)


def _checked(what: str, said: object, size: int, most: int, estimate: int) -> tuple[int, str]:
    """Return the server's count if it is plausible, else an estimate and the reason for it."""
    tokens = count(said)
    if tokens is None:
        return estimate, f"the server did not count the tokens of the {what}"
    if size <= tokens * _LONGEST_TOKEN and tokens <= most + _SLACK:
        return tokens, ""
    return estimate, f"the server counted {tokens:,} tokens for a {what} of {size:,} bytes"
