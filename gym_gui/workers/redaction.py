"""Removes a worker's secrets from all messages that it sends, because these are recorded and shown."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote

from google.protobuf.message import Message

STRUCK: Final = "[secret]"
_SHORTEST: Final = 8
"""Shortest length of a secret. A shorter value is a placeholder for servers without keys (``none``)."""


class Redaction:
    """Removes from messages the secrets that one worker has received.

    A server may echo an API key in a reply, an error or a header, and a worker may log it.
    """

    def __init__(self) -> None:
        self._needles: list[str] = []

    def learn(self, secrets: Iterable[str]) -> None:
        """Remove these secrets from now on, also in the forms of JSON strings and URLs."""
        found = set(self._needles)
        for secret in secrets:
            if len(secret) >= _SHORTEST:
                found |= {secret, quote(secret, safe=""), quote(secret)}
                # Escaped once as in JSON, and twice as in JSON within JSON: calls are recorded verbatim.
                once = json.dumps(secret)[1:-1]
                for escaped in (once, json.dumps(once)[1:-1]):
                    found |= {escaped, escaped.replace("/", "\\/")}
        self._needles = sorted(found, key=len, reverse=True)

    def text(self, text: str) -> str:
        """Return ``text`` with every known secret replaced by ``[secret]``."""
        for needle in self._needles:
            text = text.replace(needle, STRUCK)
        return text

    def strike(self, message: Message) -> None:
        """Replace the secrets in every text of a message; takes no time without secrets."""
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
        for needle in self._needles:  # bytes may be an action as text, whose length must not change
            value = value.replace(needle.encode(), b"*" * len(needle.encode()))
        return value
