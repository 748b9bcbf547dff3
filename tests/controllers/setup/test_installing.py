"""What an error says that can be installed: read from the line that it tells people to type."""

from __future__ import annotations

import pytest

from gym_gui import envs
from gym_gui.controllers.setup.installing import Installable, missing_in
from gym_gui.core.errors import MissingDependencyError
from gym_gui.workers.discovery import known_workers


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("It lacks ray. Run: mosaic workers install ray_worker.", Installable("workers", "ray_worker")),
        ("Run: mosaic envs install mine/maze-v0", Installable("envs", "mine/maze-v0")),
        ("the window needs PyQt6. Run: mosaic install gui", None),
        ("Run: mosaic envs install --help", None),
        ("there is no CartPoll-v1", None),
    ],
)
def test_the_line_says_what(sentence: str, found: Installable | None) -> None:
    assert missing_in(sentence) == found


def test_what_families_say_of_themselves_is_found_and_has_their_title() -> None:
    families = [family for family in envs.families().values() if family.extra]
    assert families
    for family in families:
        found = missing_in(str(MissingDependencyError("a package", family.install)))
        assert found == Installable("envs", family.name) and found.title == family.title


def test_a_worker_has_its_own_name_and_what_nobody_knows_that_of_the_line() -> None:
    worker = next(worker for worker in known_workers() if worker.type_id == "sb3_worker")
    assert Installable("workers", "sb3_worker").title == worker.display_name
    assert Installable("workers", "nobodys").title == "nobodys"
