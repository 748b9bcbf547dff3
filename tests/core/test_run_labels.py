"""Labels of runs: what is kept, and what is refused so that nothing is lost."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gym_gui.core.run_labels import (
    FILE,
    LONGEST_NAME,
    NONE,
    LabelsError,
    RunLabels,
    change_labels,
    name_of,
    read_labels,
    tags_of,
)


def test_what_is_said_is_kept_and_the_rest_stays(tmp_path: Path) -> None:
    assert read_labels(tmp_path) == NONE
    change_labels(tmp_path, {"name": "  The\nbaseline ", "tags": ["paper, Final", "final"], "star": True})
    before, after = change_labels(tmp_path, {"notes": "Two lines,\nsee group.", "group": "sweep"})
    assert before == RunLabels("The baseline", ("paper", "Final"), star=True)
    assert read_labels(tmp_path) == after
    assert after == RunLabels("The baseline", ("paper", "Final"), "sweep", "Two lines,\nsee group.", True)
    assert json.loads((tmp_path / FILE).read_text()) == {"format": 1, **after.to_data()}
    assert [entry.name for entry in tmp_path.iterdir()] == [FILE], "nothing half written is left"


def test_several_who_change_one_run_at_once_lose_nothing(tmp_path: Path) -> None:
    tags = [f"tag {number}" for number in range(40)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda tag: change_labels(tmp_path, {}, add=[tag]), tags))
    assert sorted(read_labels(tmp_path).tags) == sorted(tags)


def test_labels_that_are_all_taken_away_leave_no_file(tmp_path: Path) -> None:
    change_labels(tmp_path, {"name": "x"})
    change_labels(tmp_path, {"name": ""})
    assert not (tmp_path / FILE).exists()


def test_what_a_later_version_adds_is_kept(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"name": "a", "color": "red"}')
    change_labels(tmp_path, {"name": ""})
    assert json.loads((tmp_path / FILE).read_text()) == {"format": 1, "color": "red"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "is damaged: it is not JSON"),
        (b"\xff\xfe", "is damaged: it is not JSON"),
        (b"[" * 100_000, "is damaged: it is not JSON"),
        (b"[]", "it is not a JSON object"),
        (b'{"name": 3}', "'name' is not text"),
        (b'{"tags": "a"}', "tags are not a list of words"),
        (b'{"star": 1}', "neither true nor false"),
        (b'{"format": 2}', "later version"),
        (b'{"name": "' + b"a" * 2**18 + b'"}', "has more than"),
    ],
)
def test_a_file_that_cannot_be_read_says_why_and_is_not_written_over(
    tmp_path: Path, content: bytes, said: str
) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(LabelsError, match=said):
        read_labels(tmp_path)
    with pytest.raises(LabelsError, match=said):
        change_labels(tmp_path, {"star": True})
    assert (tmp_path / FILE).read_bytes() == content
    assert name_of(tmp_path) == ""


def test_no_link_is_followed_or_replaced(tmp_path: Path) -> None:
    run, other = tmp_path / "run", tmp_path / "other.json"
    run.mkdir()
    other.write_text('{"name": "secret"}')
    (run / FILE).symlink_to(other)
    for act in (lambda: read_labels(run), lambda: change_labels(run, {"name": "x"})):
        with pytest.raises(LabelsError, match="is a link, and no link is followed"):
            act()
    assert other.read_text() == '{"name": "secret"}' and (run / FILE).is_symlink()


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / FILE)
    with pytest.raises(LabelsError, match="named pipe"):
        read_labels(tmp_path)


def test_a_folder_that_is_gone_or_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(LabelsError, match=r"cannot be written.*No such file") as caught:
        change_labels(tmp_path / "nowhere", {"name": "x"})
    assert "cp -r" in str(caught.value)
    if os.path.ismount("/proc"):  # where not even root may make a file
        with pytest.raises(LabelsError, match="cannot be written"):
            change_labels(Path("/proc"), {"name": "x"})


def test_a_label_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabelsError, match="more than 120"):
        change_labels(tmp_path, {"name": "a" * (LONGEST_NAME + 1)})
    with pytest.raises(LabelsError, match="at most 40 characters"):
        change_labels(tmp_path, {"tags": ["a" * 41]})
    with pytest.raises(LabelsError, match="at most 50 tags"):
        change_labels(tmp_path, {"tags": [str(i) for i in range(51)]})
    with pytest.raises(LabelsError, match="characters that cannot be saved"):
        change_labels(tmp_path, {"name": "\ud800"})
    assert not list(tmp_path.iterdir())


_WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(name=_WORDS, tags=st.lists(_WORDS, max_size=5), notes=_WORDS, star=st.booleans())
def test_any_words_are_read_as_they_were_written(
    tmp_path: Path, name: str, tags: list[str], notes: str, star: bool
) -> None:
    _, after = change_labels(tmp_path, {"name": name, "tags": tags, "notes": notes, "star": star})
    assert read_labels(tmp_path) == after
    assert after.name == " ".join(name.split()) and after.tags == tags_of(tags) and after.star is star
