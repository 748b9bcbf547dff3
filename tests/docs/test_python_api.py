"""Every block of docs/python_api.md runs and prints what the page says."""

from __future__ import annotations

from collections.abc import Callable

from tests.docs.pages import Reader


def test_python_api(reader: Callable[[str], Reader]) -> None:
    following = reader("docs/python_api.md")
    following.follow()
    assert following.counted["python"] >= 9
