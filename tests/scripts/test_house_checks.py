"""The checks of words, of commit subjects and of the changelog find what they are there for."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.checks import changelog_length
from scripts.checks.commit_subjects import fault
from scripts.checks.plain_words import main


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "gym_gui").mkdir()
    (tmp_path / "gym_gui" / "wait.py").write_text(
        '"""Whoever asks\nis told what\ncame of it; nobody waits."""\n'
    )
    return tmp_path


def test_words_are_counted_across_lines_and_the_number_may_not_rise(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--places"], tree, most=3) == 1
    told = capsys.readouterr().out
    assert "gym_gui/wait.py:1: whoever" in told
    assert "gym_gui/wait.py:2: what came of" in told
    assert "gym_gui/wait.py:3: nobody" in told
    assert main([], tree, most=4) == 0


@pytest.mark.parametrize(
    "subject", ["ui: keep the filter's day", "analysis, docs: name the test of a verdict"]
)
def test_a_subject_with_its_area_passes(subject: str) -> None:
    assert not fault(subject)


@pytest.mark.parametrize(
    "subject", ["Pictures of the guide as the window is now", "ui: " + "long " * 20, "ui:"]
)
def test_a_subject_without_its_area_or_too_long_is_named(subject: str) -> None:
    assert fault(subject)


@pytest.mark.parametrize(
    ("text", "status", "counts"),
    [
        ("- one entry\n" * 60, 0, ("60 entries", "180 words")),
        ("- one entry\n" * 60 + "  - nested\n", 1, ("61 entries", "182 words")),
        ("word " * 3_001, 1, ("0 entries", "3,001 words")),
    ],
)
def test_a_changelog_with_too_many_entries_or_words_fails(
    text: str, status: int, counts: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text(text)
    assert changelog_length.main([], changelog) == status
    told = capsys.readouterr().out
    assert all(count in told for count in counts)
