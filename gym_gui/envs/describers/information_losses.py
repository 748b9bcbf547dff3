"""Lists parts of observations that texts leave out, with reasons, for the families' pages and a test.

A seat's text, facts and observation carry the same information: equal text means equal facts and an equal
observation, except for the losses listed here.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

RELATIVE: Final = 0.01
ABSOLUTE: Final = 0.02
"""Largest difference between numbers with the same text: three digits, two decimals, or whole degrees."""


@dataclass(frozen=True)
class Loss:
    """Part of an observation that the text does not contain.

    Attributes:
        families: Names of the families; only :data:`ROUNDED`, which holds for all, has ``("*",)``.
        environments: Pattern of the environments' ids.
        what: The part that is left out, as the beginning of a sentence.
        why: Reason why the text lacks this part, as the rest of that sentence.
        parts: Keys of a ``Dict`` observation that are left out.
        kept: Function that returns the part of an observation without keys that the text contains; ``None``
            for nothing.
    """

    families: tuple[str, ...]
    environments: str
    what: str
    why: str
    parts: tuple[str, ...] = ()
    kept: Callable[[Any], Any] | None = None

    @property
    def sentence(self) -> str:
        """Sentence that names the missing part and the reason."""
        return f"{self.what}: {self.why}."


ROUNDED: Final = Loss(
    ("*",),
    "*",
    "Digits of a number beyond the third",
    "a reader cannot use them; places in particle worlds have two digits behind the point, directions are "
    "told in whole degrees",
)
LOSSES: Final = (
    Loss(
        ("vizdoom",),
        "Vizdoom*",
        "The screen, and the depth, labels, map and sound beside it",
        "what is on a picture would have to be recognised first; the numbers of the status bar are told",
        parts=("screen", "depth", "labels", "automap", "audio"),
    ),
    Loss(
        ("crafter",),
        "Crafter*",
        "How the picture is drawn, and the noise of its night",
        "words are of the world that the picture shows, cell by cell",
    ),
    Loss(
        ("minihack",),
        "*",
        "The numbers and colours of signs, the terminal's copy of the screen, and the crops of the map",
        "they show once more what the map, the names of what is in sight and the list of what is carried say",
        parts=(
            *(f"{name}{crop}" for name in ("glyphs", "colors", "specials") for crop in ("", "_crop")),
            *("chars_crop", "screen_descriptions_crop", "screen_descriptions", "pixel", "pixel_crop"),
            *("tty_chars", "tty_colors", "tty_cursor", "inv_glyphs", "inv_oclasses"),
        ),
    ),
    Loss(
        ("pettingzoo",),
        "classic/chess_v*",
        "The seven positions before this one",
        "they would make the text eight times as long, and the rules ask of them only whether a position "
        "comes again, which the text says",
        kept=lambda observation: np.asarray(observation)[..., :20],
    ),
    Loss(
        ("pettingzoo",),
        "classic/go_v*",
        "The seven positions before this one",
        "they would make the text eight times as long, and the rules ask of them only which move would bring "
        "one back, which is not among the legal moves",
        kept=lambda observation: np.asarray(observation)[..., [0, 1, 16]],
    ),
    Loss(
        ("openspiel",),
        "open_spiel/battleship",
        "The order of the shots",
        "the rules do not ask for it; where each hit or missed is drawn",
    ),
    Loss(
        ("openspiel",),
        "open_spiel/dots_and_boxes",
        "Who drew a line",
        "the rules do not ask for it; whose a box is stands in it",
    ),
)


def losses_of(family: str, env_id: str = "*") -> Iterator[Loss]:
    """Yield the parts of observations that texts leave out in a family, or in one of its environments.

    Args:
        family: Name of the family.
        env_id: Id of an environment; ``"*"`` for any of the family.
    """
    for loss in LOSSES:
        if family in loss.families and (env_id == "*" or fnmatch.fnmatchcase(env_id, loss.environments)):
            yield loss


def carried(family: str, env_id: str, observation: Any) -> Any:
    """Return the part of an observation that its text contains.

    ``None`` if the text has none of its numbers.
    """
    for loss in losses_of(family, env_id):
        if loss.parts and isinstance(observation, Mapping):
            seen = cast("Mapping[str, Any]", observation)
            observation = {key: part for key, part in seen.items() if key not in loss.parts}
        elif not loss.parts:
            observation = None if loss.kept is None else loss.kept(observation)
    return observation
