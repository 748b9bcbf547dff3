"""A newcomer who follows docs/getting_started.md, command by command, sees what it shows."""

from __future__ import annotations

from collections.abc import Callable

from tests.docs.pages import Reader


def test_getting_started(reader: Callable[[str], Reader]) -> None:
    following = reader("docs/getting_started.md")
    following.follow()
    assert following.counted == {"files": 5, "commands": 12, "python": 1}
