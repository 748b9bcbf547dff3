"""What is said of an exception from third-party code."""

from __future__ import annotations

import json
import logging
import runpy
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

from mosaic_worker.failures import FailureLog, described, place_of
from mosaic_worker.spaces import Space


def raised(function: Callable[[], Any]) -> Exception:
    try:
        function()
    except Exception as error:
        return error
    raise AssertionError("it raised nothing")


def test_the_authors_own_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "my_policy.py"
    file.write_text("def select_action(seen):\n    return seen / 0\n")
    error = raised(lambda: runpy.run_path(str(file))["select_action"](1))
    assert described(error) == "ZeroDivisionError: division by zero (my_policy.py, line 2, in select_action)"


@pytest.mark.parametrize(
    ("function", "library"),
    [
        (lambda: json.loads("{"), "json/decoder.py"),
        (lambda: np.linalg.inv(np.zeros((2, 2))), "numpy/linalg/"),
    ],
)
def test_a_library_that_raised_is_named_after_the_authors_line(
    function: Callable[[], Any], library: str
) -> None:
    where = place_of(raised(function))
    own, _, inside = where.partition("; raised in ")
    assert own.startswith("test_sdk_failures.py, line ") and own.endswith(", in <lambda>")
    assert inside.startswith(library)


def test_our_own_lines_are_never_blamed() -> None:
    error = raised(lambda: Space.from_json({"type": "nonsense"}))
    assert place_of(error).startswith("test_sdk_failures.py") and "spaces.py" not in place_of(error)
    assert place_of(error, [__name__.partition(".")[0]]) == ""


def test_it_is_one_line_whatever_the_author_wrote() -> None:
    class Unspeakable(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    def fail(error: Exception) -> Callable[[], Any]:
        def function() -> None:
            raise error

        return function

    assert described(raised(fail(ValueError("two\nlines")))).startswith("ValueError: two lines (")
    assert described(raised(fail(ValueError()))).startswith("ValueError (")
    assert described(raised(fail(Unspeakable()))).startswith("Unspeakable (")
    assert len(described(raised(fail(ValueError("x" * 100_000))))) < 2000


def test_the_log_has_each_failure_with_its_traceback_once(caplog: pytest.LogCaptureFixture) -> None:
    failures = FailureLog(logging.getLogger("a policy"))
    for i in range(3):
        failures.add(f"episode {i} failed", raised(lambda: 1 / 0))
    failures.add("episode 3 failed", raised(lambda: [][1]))
    texts = [record.getMessage() for record in caplog.records]
    assert len(texts) == 2
    assert "episode 0 failed" in texts[0] and "Traceback" in texts[0] and "1 / 0" in texts[0]
    assert "IndexError" in texts[1]


def test_what_was_raised_elsewhere_is_told_without_our_lines(caplog: pytest.LogCaptureFixture) -> None:
    class Elsewhere(Exception):
        elsewhere = True

    failures = FailureLog(logging.getLogger("an environment"))
    for said in ("the lamp is out", "the lamp is out", "the door is shut"):
        try:
            raise Elsewhere(said)
        except Elsewhere as error:
            failures.add("episode failed", error)
    assert [record.getMessage().partition(" (")[0] for record in caplog.records] == [
        "episode failed: Elsewhere: the lamp is out",
        "episode failed: Elsewhere: the door is shut",
    ]
    assert "Traceback" not in caplog.text
