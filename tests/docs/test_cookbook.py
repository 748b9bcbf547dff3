"""The twelve recipes of docs/cookbook.md run in their order, and none is longer than fifteen lines."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.docs.pages import Reader
from tests.support.commands import ROOT
from tests.support.trained import needs_a_trained_policy

_PAGE = "docs/cookbook.md"
_LONGEST = 15
_RECIPES = re.split(r"^## ", (ROOT / _PAGE).read_text("utf-8"), flags=re.MULTILINE)[1:]


@needs_a_trained_policy
def test_recipes_run(reader: Callable[[str], Reader]) -> None:
    following = reader(_PAGE)
    following.follow()
    assert following.counted["python"] >= 3 and following.counted["commands"] >= 8


def test_there_are_twelve() -> None:
    assert len(_RECIPES) == 12


@pytest.mark.parametrize("recipe", _RECIPES, ids=lambda recipe: recipe.splitlines()[0])
def test_a_recipe_is_short(recipe: str) -> None:
    """What it prints does not count."""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", recipe, re.MULTILINE | re.DOTALL)
    lines = [
        line
        for language, text in blocks
        if language != "text"
        for line in text.splitlines()
        if language != "console" or line.startswith("$ ")
    ]
    assert 0 < len(lines) <= _LONGEST
