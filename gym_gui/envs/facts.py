"""What an agent sees as ground facts: one way from the world to symbols, for all who think in them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, TypeAlias

Term: TypeAlias = "str | int | float"

_ATOM = re.compile(r"[a-z][A-Za-z0-9_]*")


class Fact(NamedTuple):
    """Something that holds, as AgentSpeak, Jason and Prolog write it.

    Attributes:
        predicate: What is said, an atom: ``door``.
        terms: Of what it is said: atoms or other text, and numbers.
    """

    predicate: str
    terms: tuple[Term, ...] = ()

    def __str__(self) -> str:
        if not self.terms:
            return self.predicate
        return f"{self.predicate}({', '.join(map(_written, self.terms))})"


def fact(predicate: str, *terms: Term) -> Fact:
    """A :class:`Fact`."""
    return Fact(predicate, terms)


@lru_cache(maxsize=4096)
def atom(name: str) -> str:
    """A name of any form as an atom: ``"Cart Position"`` is ``cart_position``."""
    plain = re.sub(r"\W+", "_", name.strip().lower(), flags=re.ASCII).strip("_")
    return plain if plain[:1].isalpha() else f"n{plain}"


def written(facts: Iterable[Fact]) -> tuple[str, ...]:
    """Facts as they are sent: each once, in the order given."""
    return tuple(dict.fromkeys(map(str, facts)))


def _written(term: Term) -> str:
    if isinstance(term, str):
        return _as_atom(term)
    if isinstance(term, float) and not math.isfinite(term):
        raise ValueError(f"{term} is no number that a fact can hold")
    return repr(term)


@lru_cache(maxsize=4096)
def _as_atom(text: str) -> str:
    """As it is, where that is an atom; else in quotes."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return text if _ATOM.fullmatch(text) else f'"{quoted}"'
