"""Makes meaningless words, and other letters and numbers for drawings, from a seed."""

from __future__ import annotations

import random
import string
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from gym_gui.core.experiment.prompt_inputs import Renaming
from mosaic_worker.renaming import Names

_CAPITALS: Final = string.ascii_uppercase
_HEADS: Final = "bdfgjklmnprtvz"
_VOWELS: Final = "aeiou"
_TAILS: Final = "bfgvz"
"""Final letters of made-up words, which few English words have after an open syllable."""
_WORDS: Final = frozenset({"debug", "kebab"})


class Terms(NamedTuple):
    """Names in prompts that can be replaced by made-up words.

    Attributes:
        actions: Names of actions, all of which the briefing explains.
        things: Kinds of objects, colors, and the name of the game.
    """

    actions: Sequence[str] = ()
    things: Sequence[str] = ()


def made_up(terms: Terms, rename: Renaming, seed: int) -> Names:
    """Return meaningless words in place of some names in prompts.

    Args:
        terms: Names that can be replaced.
        rename: Which of these names are replaced.
        seed: Seed of the words; the words for objects do not depend on whether actions are replaced.
    """
    taken = {word.lower() for word in (*terms.actions, *terms.things)}
    things = list(dict.fromkeys(term.lower() for term in terms.things))
    for_actions, for_things = (_words(seed, of, taken) for of in ("actions", "things"))
    return Names(
        dict(zip(terms.actions if rename in ("actions", "both") else (), for_actions, strict=False)),
        dict(zip(things if rename in ("objects", "both") else (), for_things, strict=False)),
    )


def _words(seed: int, of: str, taken: Collection[str]) -> Iterator[str]:
    """Yield made-up words of five letters.

    Those for actions begin with other letters than those for objects.
    """
    rng, known = random.Random(f"{of} {seed}"), {*taken, *_WORDS}
    heads = _HEADS[:7] if of == "actions" else _HEADS[7:]
    while True:
        word = "".join(map(rng.choice, (heads, _VOWELS, _HEADS, _VOWELS, _TAILS)))
        if word not in known:
            known.add(word)
            yield word


def letters(usual: Sequence[str], seed: int, but: Collection[str] = ()) -> dict[str, str]:
    """Return another capital letter for each given letter, all different, and unused ones if possible.

    Args:
        usual: Letters, or other strings that get a letter.
        seed: Seed of the choice.
        but: Capitals that are already used for something else.
    """
    rng = random.Random(f"letters {''.join(usual)} {seed}")
    free = [letter for letter in _CAPITALS if letter not in but]
    others = [letter for letter in free if letter not in usual]
    while True:
        drawn = rng.sample(others if len(others) >= len(usual) else free, len(usual))
        if all(new != old for new, old in zip(drawn, usual, strict=True)):
            return dict(zip(usual, drawn, strict=True))


def numbers(usual: Sequence[str], seed: int) -> dict[str, str]:
    """Return another number with two digits for each given number.

    Args:
        usual: Numbers as text.
        seed: Seed of the choice.
    """
    rng = random.Random(f"numbers {len(usual)} {seed}")
    others = [str(number) for number in range(21, 100) if str(number) not in usual]
    return dict(zip(usual, rng.sample(others, len(usual)), strict=True))
