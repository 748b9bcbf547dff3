"""What a session says of itself passes between processes unchanged."""

from __future__ import annotations

from gym_gui.controllers.engine.session_interface import SessionReady
from gym_gui.host.request_messages import ready_message, ready_of


def test_what_a_session_says_arrives_as_it_was_said() -> None:
    player = {"worker_id": "w", "worker_type": "baseline", "policy": "random"}
    said = SessionReady(
        7,
        {"a": player},
        2,
        {"numpy": "2.0"},
        {"a": ("left",)},
        {"a": ("key: vatab",)},
        {"a": "White"},
        announcing=("a",),
    )
    assert ready_of(ready_message(said)) == said
