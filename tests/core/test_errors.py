"""Errors say what happened and what to do, in one line."""

from __future__ import annotations

import inspect

import pytest

from gym_gui.core import errors
from gym_gui.core.errors import (
    EpisodeError,
    ExperimentError,
    MissingDependencyError,
    MosaicError,
    RunFormatError,
    UnknownNameError,
    UsageError,
    with_capital,
    without_capital,
)


def test_the_way_out_follows_what_happened() -> None:
    assert str(MosaicError("it broke")) == "it broke"
    assert str(MosaicError("it broke", fix="Mend it")) == "it broke. Mend it"
    error = ExperimentError("no seeds", fix="Give some")
    assert (error.message, error.fix) == ("no seeds", "Give some")


@pytest.mark.parametrize(
    ("name", "known", "hint", "fix"),
    [
        ("cleanrll", ["cleanrl", "random"], "", "Did you mean 'cleanrl'?"),
        ("zzz", ["cleanrl", "random"], "", "Known: cleanrl, random"),
        ("zzz", ["cleanrl"], "mosaic workers list", "mosaic workers list"),
        ("cleanrll", ["cleanrl"], "mosaic workers list", "Did you mean 'cleanrl'?"),
        ("zzz", [], "", ""),
        (
            "zzz",
            [f"n{i:02}" for i in range(20)],
            "",
            "Known: " + ", ".join(f"n{i:02}" for i in range(12)) + ", …",
        ),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest(name: str, known: list[str], hint: str, fix: str) -> None:
    error = UnknownNameError("worker", name, known, hint=hint)
    assert error.message == f"unknown worker {name!r}" and error.fix == fix
    assert error.name == name
    assert str(error) == (f"{error.message}. {fix}" if fix else error.message)


def test_an_unknown_name_is_a_key_error_too() -> None:
    """The design documents promise ``KeyError``; its own ``str`` would quote the message."""
    with pytest.raises(KeyError) as caught:
        raise UnknownNameError("policy", "x", ["y"])
    assert str(caught.value).startswith("unknown policy 'x'")


def test_a_missing_package_carries_the_line_that_installs_it() -> None:
    error = MissingDependencyError("minigrid", "pip install 'mosaic-gym-gui[minigrid]'")
    assert str(error) == "minigrid is not installed. Run: pip install 'mosaic-gym-gui[minigrid]'"
    assert error.install.startswith("pip install")


def test_a_damaged_row_carries_its_place() -> None:
    error = RunFormatError("steps.jsonl:7", "'reward' is missing")
    assert str(error) == "steps.jsonl:7: 'reward' is missing" and error.where == "steps.jsonl:7"


def test_one_family() -> None:
    """Exit status 2 for what a person can fix, `failed` for what ends an episode, never both."""
    own = [c for _, c in inspect.getmembers(errors, inspect.isclass) if c.__module__ == errors.__name__]
    family = [c for c in own if issubclass(c, BaseException)]
    assert len(family) > 10
    for error in family:
        assert issubclass(error, MosaicError) and error.__doc__
        assert not (issubclass(error, UsageError) and issubclass(error, EpisodeError))


@pytest.mark.parametrize(
    ("alone", "within"),
    [
        ("It needs facts", "it needs facts"),
        ("A box is needed", "a box is needed"),
        ("LQR is made for CartPole", "LQR is made for CartPole"),
        ("MiniGrid's own", "MiniGrid's own"),
        ("green_0 answered", "green_0 answered"),
        ("", ""),
    ],
)
def test_names_keep_their_spelling_where_sentences_begin_and_go_on(alone: str, within: str) -> None:
    assert (without_capital(alone), with_capital(within)) == (within, alone)
