"""Converts messages of teammates to readable text; BDI programs write their messages in their own syntax."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_SENT: Final = re.compile(
    r"\.send\((?P<to>[A-Za-z]\w*), (?P<force>\w+), (?P<sent>.+)\)|\.broadcast\((?P<act>\w+), (?P<told>.+)\)"
)
"""A line of a BDI agent's message: ``.send(green_0, tell, ball(2, 3))`` or ``.broadcast(tell, ball(2,
3))``.
"""
_MEANS: Final = {
    "tell": "{who} tells {whom}: {what}",
    "untell": "{who} tells {whom} that this holds no longer: {what}",
    "achieve": "{who} asks {whom} to bring this about: {what}",
    "askOne": "{who} asks {whom}: {what}",
    "askAll": "{who} asks {whom} for all of: {what}",
    "unachieve": "{who} asks {whom} to give this up: {what}",
}


def in_words(message: str) -> Iterator[str]:
    """Yield the lines of a message as text, for example ``"green_1: I go left"``.

    Args:
        message: Sender, colon, text; a BDI agent writes one line for each literal that it sends.
    """
    who, colon, said = message.partition(": ")
    lines = [" ".join(line.split()) for line in said.splitlines()] if colon else []
    sent = [_SENT.fullmatch(line) for line in lines]
    if not sent or not all(found is not None and _force(found) in _MEANS for found in sent):
        yield " ".join(message.split())
        return
    for found in filter(None, sent):
        what = found["sent"] or found["told"]
        yield _MEANS[_force(found)].format(who=who, whom=found["to"] or "the team", what=what)


def _force(found: re.Match[str]) -> str:
    """Return the performative of a message, for example ``tell``."""
    return found["force"] or found["act"]
