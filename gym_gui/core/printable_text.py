"""Text for a terminal: what was written by others is shown, and never obeyed.

Names in a run folder, a worker's log and a policy's name may hold characters that a terminal takes
as commands: to change its title, to overwrite what it says, to type. The standard streams of our
programs let none of them through.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final, TextIO, cast

_OBEYED: Final = re.compile(
    # C0 but for line break and tab, DEL and C1; half characters.
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff"
    # What turns the direction of writing, breaks lines, or is not seen at all; joiners stay.
    "\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """``text`` with a replacement character for each that a terminal would obey."""
    return _OBEYED.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def visible_json(text: str) -> str:
    """JSON text with those characters escaped: a JSON parser reads the same value from it."""
    return _OBEYED.sub(lambda found: json.dumps(found.group())[1:-1], text)


class VisibleStream:
    """A text stream that shows and does not obey; everything but writing is the stream's own.

    Args:
        raw: The stream, for what we write ourselves to be obeyed: colors and bars.
    """

    def __init__(self, raw: TextIO) -> None:
        self.raw = raw

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)

    def write(self, text: str) -> int:
        """Write text; returns its length."""
        self.raw.write(visible(text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)


def show_only() -> None:
    """Let this process's standard streams show and not obey, for as long as it lives."""
    sys.stdout, sys.stderr = _shown(sys.stdout), _shown(sys.stderr)


@contextmanager
def visible_streams() -> Generator[None]:
    """As :func:`show_only`, for a while."""
    before = sys.stdout, sys.stderr
    show_only()
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def raw(stream: TextIO) -> TextIO:
    """The stream behind a :class:`VisibleStream`."""
    return stream.raw if isinstance(stream, VisibleStream) else stream


def _shown(stream: TextIO | None) -> TextIO:
    # Python has ``None`` for a stream that the parent process closed.
    already = stream is None or isinstance(stream, VisibleStream)
    return cast(TextIO, stream if already else VisibleStream(cast(TextIO, stream)))
