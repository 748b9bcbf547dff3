"""Removes from a reply everything that is no answer: reasoning, markdown, typographic variants."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Final, NamedTuple

_NAME = r"(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad|analysis|inner_monologue)"
_OPEN = re.compile(rf"<\s*{_NAME}\s*>|◁\s*think\s*▷|\[\s*think(?:ing)?\s*\]", re.IGNORECASE)
_CLOSE = re.compile(rf"<\s*/\s*{_NAME}\s*>|◁\s*/\s*think\s*▷|\[\s*/\s*think(?:ing)?\s*\]", re.IGNORECASE)
# gpt-oss writes channels; the last channel, unless it is "analysis", is its answer or a tool call.
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)(?:[^<]|<\|constrain\|>)*<\|message\|>", re.IGNORECASE)
_ESCAPED = re.compile(r"&(?:lt|gt|quot|#34|#39|amp);|\\[<>]", re.IGNORECASE)
# Marks of chat templates (ChatML, Llama, Gemma), which a server with the wrong template leaves in a reply.
_SPECIAL = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|</?s>|\[/?INST\]|<(?:start|end)_of_turn>|</?(?:bos|eos|pad)>", re.IGNORECASE
)
_STRUCK = re.compile(r"~~[^~\n]{1,80}~~")
_MARKUP = re.compile(r"(\*{1,3}|_{2,3}|`{1,3}|~~)")
_HEADING = re.compile(r"^\s{0,3}(?:#{1,6}|>)+\s*", re.MULTILINE)
_FENCE = re.compile(r"^[^\S\n]*(?:```|~~~)[^\S\n]*[\w+-]*[^\S\n]*$", re.MULTILINE)
_NO_WORD = re.compile(r"[\W_]+")
_PAIRS: Final = {"(": ")", "[": "]", "{": "}", "<": ">", '"': '"', "'": "'"}
_END: Final = ".,;:!?…"
_SIGNS: dict[int, str | None] = {
    **dict.fromkeys([0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0xFE0F, 0xFE0E, 0x00AD]),
    # East Asian punctuation, which no space follows.
    0xFF1A: ": ",
    0xFF0C: ", ",
    0x3001: ", ",
    0x3002: ". ",
    0xFF01: "! ",
    0xFF1F: "? ",
    0xFF1B: "; ",
    0xFF08: "(",
    0xFF09: ")",
    0x300C: '"',
    0x300D: '"',
    0x3010: "[",
    0x3011: "]",
    # Chess pieces.
    **{
        sign: letter
        for first in (0x2654, 0x265A)
        for sign, letter in zip(range(first, first + 5), "KQRBN", strict=True)
    },
    # Typographic dashes and quotation marks.
    0x2010: "-",
    0x2011: "-",
    0x2012: "-",
    0x2013: "-",
    0x2014: " - ",
    0x2212: "-",
    0x2018: "'",
    0x2019: "'",
    0x201C: '"',
    0x201D: '"',
    0x201E: '"',
    0x00AB: '"',
    0x00BB: '"',
}
"""Replacement of each character: similar characters become one, invisible characters are removed."""


class Cleaned(NamedTuple):
    """A reply without its reasoning.

    Attributes:
        text: The remaining text.
        thought: Whether the reply contained reasoning.
        open: Whether the reply ended inside its reasoning.
    """

    text: str
    thought: bool = False
    open: bool = False


def without_thinking(reply: str) -> Cleaned:
    """Remove reasoning from a reply, whether its tags are closed or not.

    If only the closing tag is present (some servers cut off the opening one), all text before it is
    reasoning. If only the opening tag is present, all text after it is reasoning.
    """
    text = _ESCAPED.sub(lambda match: html.unescape(match[0].lstrip("\\")), reply.translate(_SIGNS))
    if channels := list(_CHANNEL.finditer(text)):
        last = channels[-1]
        if last[1].lower() == "analysis":
            return Cleaned("", True, True)
        return Cleaned(_SPECIAL.sub(" ", text[last.end() :]).strip(), True)
    text = _SPECIAL.sub(" ", text)
    thought = False
    closings = list(_CLOSE.finditer(text))
    if closings:
        thought = True
        first = _OPEN.search(text)
        last = closings[-1].end()
        # Text before the first opening tag is no reasoning, unless no text follows the reasoning.
        head = text[: first.start()] if first is not None and first.start() < closings[0].start() else ""
        text = f"{head}\n{text[last:]}" if head.strip() else text[last:]
    opening = _OPEN.search(text)
    if opening is not None:
        return Cleaned(text[: opening.start()].strip(), True, True)
    return Cleaned(text.strip(), thought)


def without_markup(text: str) -> str:
    """Remove markdown's marks; the words and lines stay."""
    text = _STRUCK.sub("", text)
    return _MARKUP.sub("", _HEADING.sub("", _FENCE.sub("", text)))


def stripped(text: str) -> str:
    """Remove brackets, quotation marks and full stops at both ends."""
    before = None
    while text != before:
        before, text = text, text.strip().rstrip(_END).strip()
        if len(text) > 1 and _PAIRS.get(text[0]) == text[-1]:
            text = text[1:-1]
    return text


def plain(text: str) -> str:
    """Return a form for comparisons: lower case, normal width, and one space for each run of other
    characters.

    ``"Pick_Up!"`` and ``"pick up"`` become equal. Minus signs and digits are read elsewhere.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _NO_WORD.sub(" ", folded).strip()


def short(text: str, most: int = 60) -> str:
    """Return a text on one line, shortened to ``most`` characters, to quote it in a sentence."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
