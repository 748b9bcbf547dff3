"""What a file names is told by one name."""

from __future__ import annotations

import pytest

from gym_gui.core.trusted.subjects import RequiredSubject, Subject


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("/docs/bdi/soccer.asl", "uses the path /docs/bdi/soccer.asl"),
        ("/docs/everyone/../bdi/soccer.asl", "uses the path /docs/bdi/soccer.asl"),
        ("soccer.asl", "uses soccer.asl, the path /docs/bdi/soccer.asl"),
    ],
)
def test_a_path_written_another_way_is_named_once(named: str, words: str) -> None:
    assert RequiredSubject(Subject("file", "/docs/bdi/soccer.asl"), named, "uses").words == words
