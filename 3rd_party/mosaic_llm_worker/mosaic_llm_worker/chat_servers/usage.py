"""Counts the tokens of a request: the server's counts if they are plausible, else estimates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from mosaic_llm_worker.budget import estimate_tokens, prompt_bytes
from mosaic_llm_worker.chat_servers.replies import count
from mosaic_llm_worker.chat_servers.servers import Completion, Message, ReplyRequest, ServerError

_SLACK: Final = 200_000
"""Tokens beyond those that a text's length explains: a server's own text before a prompt, hidden
reasoning.
"""
_PICTURE: Final = 50_000
"""Upper bound of the tokens of one image, above the count of any provider."""
_LONGEST_TOKEN: Final = 256
"""Largest number of bytes of one token; runs of blanks are the longest."""


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
    given: object,
    made: object,
    messages: Sequence[Message],
    ask: ReplyRequest,
    reply_text: str,
    max_tokens: int,
) -> Usage:
    """Return the tokens of a request: the server's counts if they are plausible for the lengths, else
    estimates.

    Args:
        given: The server's count for the prompt, of any type.
        made: The server's count for the reply.
        messages: The prompt.
        ask: Requirements for the reply.
        said: All text of the reply: content, reasoning, tool calls.
        max_tokens: Limit of the reply's tokens.
    """
    size, pictures = prompt_bytes(messages, ask)
    prompt = _checked("prompt", given, size, size + _PICTURE * pictures, estimate_tokens(messages, ask))
    length = len(reply_text.encode("utf-8", "replace"))
    reply = _checked(
        "reply", made, length, length + 4 * max_tokens, estimate_tokens([{"content": reply_text}])
    )
    doubts = " and ".join(doubt for doubt in (prompt[1], reply[1]) if doubt)
    return Usage(prompt[0], reply[0], f"{doubts}: estimated from the length" if doubts else "")


def without_reply(reason: str, usage: Usage) -> ServerError:
    """Return the error of a reply without a message; its tokens are paid for nevertheless.

    Args:
        reason: The reason as a sentence.
        usage: Tokens of the request as reported in the reply.
    """
    if usage.doubt:
        return ServerError(reason, may_retry=True, unsure=True)
    used = Completion("", "", usage.input_tokens, usage.output_tokens)
    return ServerError(reason, may_retry=True, used=used)


def held_back(url: str, words: str, filtered: bool, usage: Usage) -> ServerError:
    """Return the error of a reply that was refused or filtered; another model may give a reply.

    Args:
        url: Address of the server.
        words: Text in place of the reply.
        filtered: Whether the server's filter withheld the reply; else the model refuses to answer.
        usage: Tokens of the request.
    """
    who = f"the content filter of {url} withheld the reply" if filtered else "the model refuses to answer"
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
