"""Strikes out a worker's secrets of all that it sends back: what is sent is recorded and shown."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote

from google.protobuf.message import Message

STRUCK: Final = "[secret]"
_SHORTEST: Final = 8
"""A shorter value is a word that servers without keys are given (``none``, ``ollama``), and no secret."""


class Redaction:
    """The secrets that one worker was given.

    A server may echo a key in a reply, an error or a header, and a worker may log it.
    """

    def __init__(self) -> None:
        self._needles: list[str] = []

    def learn(self, secrets: Iterable[str]) -> None:
        """From now on these are struck out, as they are and as JSON and addresses write them."""
        found = set(self._needles)
        for secret in secrets:
            if len(secret) >= _SHORTEST:
                found |= {secret, quote(secret, safe=""), quote(secret)}
                # As JSON has it, and as JSON has a server's JSON: a call is recorded word for word.
                once = json.dumps(secret)[1:-1]
                for escaped in (once, json.dumps(once)[1:-1]):
                    found |= {escaped, escaped.replace("/", "\\/")}
        self._needles = sorted(found, key=len, reverse=True)

    def text(self, text: str) -> str:
        """``text`` without them."""
        for needle in self._needles:
            text = text.replace(needle, STRUCK)
        return text

    def strike(self, message: Message) -> None:
        """Take them out of every text of a message; costs nothing where there are none."""
        if not self._needles:
            return
        sent = message.SerializeToString()
        if any(needle.encode() in sent for needle in self._needles):
            self._walk(message)

    def _walk(self, message: Message) -> None:
        for field, value in message.ListFields():
            if field.type == field.TYPE_MESSAGE:
                for inner in value if field.is_repeated else (value,):
                    self._walk(inner)
            elif field.type in (field.TYPE_STRING, field.TYPE_BYTES):
                struck = [self._value(v) for v in (value if field.is_repeated else (value,))]
                if field.is_repeated:
                    value[:] = struck
                else:
                    setattr(message, field.name, struck[0])

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        for needle in self._needles:  # an action in words; its length is said elsewhere
            value = value.replace(needle.encode(), b"*" * len(needle.encode()))
        return value
