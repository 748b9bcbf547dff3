"""What a shell is told when somebody presses Tab."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import Mosaic


def proposed(mosaic: Mosaic, line: str) -> list[str]:
    """The words that bash is given for a line whose last word is being written."""
    words = line.split(" ")
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_MOSAIC_COMPLETE": "complete_bash"}
    done = mosaic(**asked, XDG_CACHE_HOME=str(mosaic.home / "cache"))
    assert done.status == 0, done.err
    return done.out.split()


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("mosaic ver", "verify"),
        ("mosaic envs check CartP", "CartPole-v1"),
        ("mosaic envs list mini", "minigrid"),
        ("mosaic train --env CartPole-v", "CartPole-v1"),
        ("mosaic workers check oper", "operators_worker"),
        ("mosaic verify --js", "--json"),
    ],
)
def test_names_are_completed(mosaic: Mosaic, line: str, word: str) -> None:
    assert word in proposed(mosaic, line)


def test_runs_are_completed_by_name_and_by_path(mosaic: Mosaic, played: Path) -> None:
    assert proposed(mosaic, f"mosaic verify {played.name[:5]}") == [played.name]
    assert proposed(mosaic, "mosaic report ru") == ["runs/"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_printed(mosaic: Mosaic, shell: str) -> None:
    done = mosaic(_MOSAIC_COMPLETE=f"source_{shell}")
    assert done.status == 0 and "_MOSAIC_COMPLETE" in done.out and "mosaic" in done.out


def test_a_home_that_takes_no_completion_is_one_sentence(mosaic: Mosaic) -> None:
    said = mosaic.refused("--install-completion", "bash", HOME="/dev/null/home")
    assert "/dev/null/home" in said and "Not a directory" in said
