"""What a shell is told when the user presses Tab."""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path

import pytest
import shellingham

from gym_gui.cli.completion import environments
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


def test_a_full_disk_keeps_no_half_of_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOSAIC_CACHE_DIR", str(tmp_path))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        assert environments("CartPole-v1") == ["CartPole-v1"]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path for path in tmp_path.iterdir() if path.is_file()] == []
    assert environments("CartPole-v1") == ["CartPole-v1"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_printed(mosaic: Mosaic, shell: str) -> None:
    done = mosaic(_MOSAIC_COMPLETE=f"source_{shell}")
    assert done.status == 0 and "_MOSAIC_COMPLETE" in done.out and "mosaic" in done.out


@pytest.fixture
def asked_from(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Has the tests be started from a shell of this name; empty: from none."""

    def ask(shell: str) -> None:
        def detect(*_: object) -> tuple[str, str]:
            if not shell:
                raise shellingham.ShellDetectionFailure
            return shell, f"/bin/{shell}"

        monkeypatch.setattr(shellingham, "detect_shell", detect)

    return ask


def test_a_home_that_takes_no_completion_is_one_sentence(
    mosaic: Mosaic, asked_from: Callable[[str], None]
) -> None:
    asked_from("bash")
    said = mosaic.refused("--install-completion", HOME="/dev/null/home")
    assert "/dev/null/home" in said and "Not a directory" in said


@pytest.mark.parametrize("option", ["--install-completion", "--show-completion"])
def test_a_shell_that_completes_nothing_is_one_sentence(
    mosaic: Mosaic, asked_from: Callable[[str], None], option: str
) -> None:
    for shell, says in (("sh", "sh does not complete commands"), ("", "no shell with completion")):
        asked_from(shell)
        said = mosaic.refused(option)
        assert says in said and "in bash, zsh or fish" in said


def test_the_script_of_the_shell_that_asks_is_printed(
    mosaic: Mosaic, asked_from: Callable[[str], None]
) -> None:
    asked_from("zsh")
    done = mosaic("--show-completion")
    assert done.status == 0 and "#compdef mosaic" in done.out
