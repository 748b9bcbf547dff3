"""Every command of every page is run, or named with the reason why not; what it prints is as shown.

Those in ``_FOLLOWED_ALONE`` have tests of their own, which also execute their Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.docs.not_run import NEEDS_TRAINED, NOT_RUN, ONLY_IN_FULL, SHORTER, not_run
from tests.docs.pages import DOCS, Reader, blocks, commands, hidden_commands
from tests.support.commands import ROOT
from tests.support.trained import needs_a_trained_policy

_PAGES: Final = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (
        *ROOT.glob("*.md"),
        *DOCS,
        *(ROOT / "3rd_party").glob("*/README.md"),
    )
)
_FOLLOWED_ALONE: Final = {"README.md", "docs/cookbook.md", "docs/getting_started.md"}

_POLE: Final = """
operators = [
    {"id": "ppo", "task": "CartPole-v1", "type": "random"},
    {"id": "random", "task": "CartPole-v1", "type": "random"},
]
execution = {"num_episodes": 2, "seeds": 1}
"""
_THEIRS: Final = {
    "theirs/maze.py": 'import gymnasium\n\n\ndef make():\n    return gymnasium.make("CartPole-v1")\n',
    "theirs/experiment.yaml": (
        "operators: [{id: one, task: 'maze:make', workers: {agent: {type: random}}}]\n"
        "execution: {num_episodes: 1, seeds: 1}\n"
    ),
}


def _file_of(page: str, name: str) -> str:
    """The text of a file that another page shows."""
    (text,) = (block.text for block in blocks(ROOT / page) if block.text.startswith(f"# {name}\n"))
    return text


_EXPERIMENT: Final = _file_of("docs/command_line.md", "experiment.py")
_EMPTY: Final = "docs/examples/bdi/empty.asl"
_STUDY: Final = "docs/examples/study/study.yaml"
_THERE: Final[Mapping[str, Mapping[str, str]]] = {
    "docs/bdi.md": {_EMPTY: (ROOT / _EMPTY).read_text()},
    "docs/command_line.md": {"typo.py": _POLE.replace("Pole-v1", "Pole-v7")},
    "docs/command_line/policies.md": _THEIRS,
    "docs/command_line/replay.md": {"experiment.py": _EXPERIMENT},
    "docs/command_line/results.md": {"experiment.py": _EXPERIMENT},
    "docs/command_line/run.md": {"experiment.py": _EXPERIMENT},
    "docs/command_line/runs.md": {"experiment.py": _EXPERIMENT},
    "docs/language_models/costs.md": {"lake.yaml": _file_of("docs/language_models.md", "lake.yaml")},
    "docs/run_directory.md": {"pole.py": _POLE},
    "docs/security.md": _THEIRS,
    "docs/study.md": {_STUDY: (ROOT / _STUDY).read_text()},
}
"""Files that a page takes for granted."""


def _shown(page: str) -> set[str]:
    return {command for block in blocks(ROOT / page) for command, _ in commands(block)}


_TO_RUN: Final = {page: left for page in _PAGES if (left := _shown(page) - set(not_run(page)))}


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=needs_a_trained_policy if page in NEEDS_TRAINED else ())
        for page in _TO_RUN
        if page not in _FOLLOWED_ALONE
    ],
)
def test_what_it_shows_happens(reader: Callable[..., Reader], page: str) -> None:
    _follow(reader(page), page)


@pytest.mark.full
@needs_a_trained_policy
@pytest.mark.parametrize("page", ONLY_IN_FULL)
def test_what_it_shows_happens_to_the_end(reader: Callable[..., Reader], page: str) -> None:
    _follow(reader(page), page)


def test_pages_that_are_followed_alone_are_pages() -> None:
    assert set(_TO_RUN) >= _FOLLOWED_ALONE


def test_commands_stand_in_blocks_of_a_shell() -> None:
    hidden = {page: [c for block in blocks(ROOT / page) for c in hidden_commands(block)] for page in _PAGES}
    assert not {page: found for page, found in hidden.items() if found}


@pytest.mark.parametrize("page", sorted({*NOT_RUN, *ONLY_IN_FULL, *SHORTER}))
def test_what_is_left_out_is_shown(page: str) -> None:
    left_out = {*not_run(page), *ONLY_IN_FULL.get(page, ()), *SHORTER.get(page, ())}
    assert left_out <= _shown(page), f"no longer on {page}: {sorted(left_out - _shown(page))}"


def _follow(following: Reader, page: str) -> None:
    for name, text in _THERE.get(page, {}).items():
        (following.home / name).parent.mkdir(exist_ok=True, parents=True)
        (following.home / name).write_text(text, encoding="utf-8")
    if page == "docs/run_directory.md":
        _stand_in_a_run(following)
    following.follow(python=False)


def _stand_in_a_run(following: Reader) -> None:
    """The page speaks of what lies in a run folder."""
    assert following.mosaic("run", "pole.py").status == 0
    (run,) = Path(following.home / "runs").iterdir()
    for path in run.iterdir():
        path.rename(following.home / path.name)
