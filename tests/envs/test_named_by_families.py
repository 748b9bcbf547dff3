"""What families name instead of importing it: it is there, and listing environments imports none of it."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pkgutil import resolve_name

import pytest

from gym_gui.envs.families import BUILT_IN
from gym_gui.envs.families import pettingzoo as games
from gym_gui.envs.family import Family

_DESCRIBERS = sorted(
    {family.described_by for family in BUILT_IN}
    | {*games.DESCRIBED_BY.values(), games.BOARDS, games.CHESS, games.POKER}
)
_OPTIONS = sorted({family.options_by for family in BUILT_IN if family.options_by})
_LIST = """
import sys
from gym_gui.envs import list_specs
list_specs()
print(*sys.modules)
"""


@pytest.mark.parametrize("name", _DESCRIBERS)
def test_a_named_describer_is_one(name: str) -> None:
    found = resolve_name(name)
    assert callable(found.briefing)
    assert not inspect.isabstract(found)
    inspect.signature(found).bind(
        *["argument"] * (2 if name in (games.BOARDS, games.CHESS, games.POKER) else 1)
    )


@pytest.mark.parametrize("name", _OPTIONS)
def test_named_options_are_made_of_environment_and_agent(name: str) -> None:
    assert [*inspect.signature(resolve_name(name)).parameters] == ["environment", "agent"]


@pytest.mark.parametrize(
    "family", [each for each in BUILT_IN if type(each).build is Family.build], ids=lambda each: each.name
)
def test_what_makes_environments_takes_what_it_is_given(family: Family) -> None:
    inspect.signature(resolve_name(family.built_by)).bind("Name-v0", None, {})


def test_a_family_that_names_a_describer_asks_no_other() -> None:
    named = [each for each in BUILT_IN if "described_by" in vars(type(each))]
    assert len(named) > 10
    assert {type(each).describer for each in named} == {Family.describer}


def test_listing_imports_nothing_that_is_named() -> None:
    done = subprocess.run([sys.executable, "-c", _LIST], capture_output=True, text=True, check=True)
    own = {*_DESCRIBERS, *_OPTIONS} - {Family.described_by}
    named = {name.partition(":")[0] for name in own}
    assert sorted(named & set(done.stdout.split())) == []
