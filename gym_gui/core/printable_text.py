"""Makes text safe for a terminal: control characters in text from others are replaced, not executed.

Names in a run folder, a worker's log and a policy's name may contain characters that a terminal executes as
commands: to change its title, to overwrite its text, to type. The standard streams of our programs let none
of these characters through.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final, TextIO, cast

_OBEYED: Final = re.compile(
    # C0 except line break and tab, DEL and C1; lone surrogates.
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff"
    # Characters that change the writing direction, break lines or are invisible; joiners stay.
    "\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """Return ``text`` with each character that a terminal would execute replaced."""
    return _OBEYED.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def visible_json(text: str) -> str:
    """Return JSON text in which each character that a terminal would execute is escaped."""
    return _OBEYED.sub(lambda found: json.dumps(found.group())[1:-1], text)


class VisibleStream:
    """A text stream that replaces control characters in written text; all other attributes are the raw
    stream's.

    Args:
        raw: The underlying stream, to which our own colors and progress bars are written directly.
    """

    def __init__(self, raw: TextIO) -> None:
        self.raw = raw

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)

    def write(self, text: str) -> int:
        """Write text and return its length."""
        self.raw.write(visible(text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write several texts, each as :meth:`write` does."""
        for line in lines:
            self.write(line)


def show_only() -> None:
    """Replace control characters in this process's standard streams from now on."""
    sys.stdout, sys.stderr = _shown(sys.stdout), _shown(sys.stderr)


@contextmanager
def visible_streams() -> Generator[None]:
    """Replace control characters in the standard streams as :func:`show_only` does, within the context."""
    before = sys.stdout, sys.stderr
    show_only()
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def raw(stream: TextIO) -> TextIO:
    """Return the stream behind a :class:`VisibleStream`, or the stream itself."""
    return stream.raw if isinstance(stream, VisibleStream) else stream


def _shown(stream: TextIO | None) -> TextIO:
    # Python has ``None`` for a stream that the parent process closed.
    already = stream is None or isinstance(stream, VisibleStream)
    return cast(TextIO, stream if already else VisibleStream(cast(TextIO, stream)))
