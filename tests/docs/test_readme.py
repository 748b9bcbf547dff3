"""What the README shows runs, and prints what the README says; the README is the package's page too."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.docs.pages import Reader, blocks
from tests.support.commands import ROOT

README = ROOT / "README.md"


@pytest.mark.parametrize("_how", ["short", pytest.param("full", marks=pytest.mark.full)])
def test_readme(reader: Callable[[str], Reader], _how: str) -> None:
    following = reader("README.md")
    following.follow()
    assert following.counted == {"files": 1, "commands": 4, "python": 1}


def test_it_names_the_two_commands() -> None:
    shown = [block.text for block in blocks(README) if block.language == "sh"]
    named = [line.split()[0] for line in shown[0].splitlines()]
    assert named == ["./scripts/run.sh", "./scripts/test.sh"]
    for command in named:
        assert (ROOT / command).stat().st_mode & 0o100, f"{command} cannot be executed"


def test_it_is_short_enough_to_be_read() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) < 200
