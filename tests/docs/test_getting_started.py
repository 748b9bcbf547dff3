"""A newcomer who follows docs/getting_started.md, command by command, sees what it shows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.docs.pages import Reader


@pytest.mark.parametrize("_how", ["short", pytest.param("full", marks=pytest.mark.full)])
def test_getting_started(reader: Callable[..., Reader], _how: str) -> None:
    # The page's training ends with a good policy; that PPO learns is what its own tests show.
    following = reader("docs/getting_started.md", shorter={"--total-steps 40000": "--total-steps 2048"})
    following.follow()
    assert following.counted == {"files": 3, "commands": 8, "python": 1}
