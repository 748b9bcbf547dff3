"""Words that mean nothing, and other letters and numbers for what is drawn, each from a seed."""

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
"""English has few words that end in these behind an open syllable."""
_WORDS: Final = frozenset({"debug", "kebab"})


class Terms(NamedTuple):
    """What can be called otherwise.

    Attributes:
        actions: Words of actions, all of which say in the briefing what they do.
        things: Kinds of things, colours, and what the game is called.
    """

    actions: Sequence[str] = ()
    things: Sequence[str] = ()


def made_up(terms: Terms, rename: Renaming, seed: int) -> Names:
    """Words that mean nothing, one for each term that is to have another.

    Args:
        terms: What can be called otherwise.
        rename: Which of it.
        seed: The same words of the same seed; things have theirs whether or not actions have others, too.
    """
    taken = {word.lower() for word in (*terms.actions, *terms.things)}
    things = list(dict.fromkeys(term.lower() for term in terms.things))
    for_actions, for_things = (_words(seed, of, taken) for of in ("actions", "things"))
    return Names(
        dict(zip(terms.actions if rename in ("actions", "both") else (), for_actions, strict=False)),
        dict(zip(things if rename in ("objects", "both") else (), for_things, strict=False)),
    )


def _words(seed: int, of: str, taken: Collection[str]) -> Iterator[str]:
    """Five letters each; those of actions begin with other letters than those of things."""
    rng, known = random.Random(f"{of} {seed}"), {*taken, *_WORDS}
    heads = _HEADS[:7] if of == "actions" else _HEADS[7:]
    while True:
        word = "".join(map(rng.choice, (heads, _VOWELS, _HEADS, _VOWELS, _TAILS)))
        if word not in known:
            known.add(word)
            yield word


def letters(usual: Sequence[str], seed: int, but: Collection[str] = ()) -> dict[str, str]:
    """A capital letter for each of some, none the same and none of those themselves, while there are others.

    Args:
        usual: Letters, or whatever else is to have one.
        seed: Which letters.
        but: Capitals that mean something else there.
    """
    rng = random.Random(f"letters {''.join(usual)} {seed}")
    free = [letter for letter in _CAPITALS if letter not in but]
    others = [letter for letter in free if letter not in usual]
    while True:
        drawn = rng.sample(others if len(others) >= len(usual) else free, len(usual))
        if all(new != old for new, old in zip(drawn, usual, strict=True)):
            return dict(zip(usual, drawn, strict=True))


def numbers(usual: Sequence[str], seed: int) -> dict[str, str]:
    """A number of two digits for each of some, none of those themselves.

    Args:
        usual: Numbers as they are written.
        seed: Which numbers.
    """
    rng = random.Random(f"numbers {len(usual)} {seed}")
    others = [str(number) for number in range(21, 100) if str(number) not in usual]
    return dict(zip(usual, rng.sample(others, len(usual)), strict=True))
