"""Ground facts that express observations, for all players that use symbols."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

Term: TypeAlias = "str | int | float"

_ATOM = re.compile(r"[a-z][A-Za-z0-9_]*")


class Fact(NamedTuple):
    """A fact in the syntax of AgentSpeak, Jason and Prolog.

    Attributes:
        predicate: Name of the fact, an atom: ``door``.
        terms: Arguments: atoms or other text, and numbers.
    """

    predicate: str
    terms: tuple[Term, ...] = ()

    def __str__(self) -> str:
        if not self.terms:
            return self.predicate
        return f"{self.predicate}({', '.join(map(_written, self.terms))})"


def fact(predicate: str, *terms: Term) -> Fact:
    """Return a :class:`Fact` with this predicate and these terms."""
    return Fact(predicate, terms)


@lru_cache(maxsize=4096)
def atom(name: str) -> str:
    """Return a name as an atom, such as ``cart_position`` for ``"Cart Position"``."""
    plain = re.sub(r"\W+", "_", name.strip().lower(), flags=re.ASCII).strip("_")
    return plain if plain[:1].isalpha() else f"n{plain}"


def written(facts: Iterable[Fact]) -> tuple[str, ...]:
    """Return facts as strings without duplicates, in the given order."""
    return tuple(dict.fromkeys(map(str, facts)))


def _written(term: Term) -> str:
    if isinstance(term, str):
        return _as_atom(term)
    if isinstance(term, float) and not math.isfinite(term):
        raise ValueError(f"{term} is not a number that a fact can contain")
    return repr(term)


@lru_cache(maxsize=4096)
def _as_atom(text: str) -> str:
    """Return a text unchanged if it is an atom, else in quotes."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return text if _ATOM.fullmatch(text) else f'"{quoted}"'
