"""What models call actions and how they announce them: ``synonyms.toml``, read once."""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from mosaic_llm_worker.parsing.cleaning import plain

FILE: Final = Path(__file__).parents[1] / "synonyms.toml"


@dataclass(frozen=True)
class Concept:
    """One action with its names.

    Attributes:
        names: What environments call it, in :func:`plain` form.
        said: What models call it, in :func:`plain` form.
        symbols: Signs for it, as they are.
        environments: Patterns of the environments it is for; empty: all.
    """

    names: frozenset[str]
    said: frozenset[str]
    symbols: frozenset[str]
    environments: tuple[str, ...]

    def concerns(self, env_id: str) -> bool:
        """Whether it holds in this environment."""
        return not self.environments or any(fnmatch.fnmatchcase(env_id, e) for e in self.environments)


@dataclass(frozen=True)
class Synonyms:
    """The whole file; every list in :func:`plain` form, longest first.

    Attributes:
        concepts: Actions.
        final_labels: What leads to the one answer that counts.
        labels: What leads to an answer.
        before: Words that may precede a label.
        keys: Of a JSON object whose value is the answer.
        placeholders: What stands for an answer where the form is repeated.
        intents: What says that somebody means to do what follows.
        verbs: First words of actions that "I" and "we" do.
        after: What may follow an action in its sentence.
        conclusions: What a conclusion begins with.
        fillers: What may stand between the intent and the action.
        against: What makes a sentence no statement of an action.
        joins: What joins a second action.
        because: What explains an action.
        refusals: What says that there will be no answer.
    """

    concepts: tuple[Concept, ...]
    final_labels: tuple[str, ...]
    labels: tuple[str, ...]
    before: frozenset[str]
    keys: frozenset[str]
    placeholders: frozenset[str]
    intents: tuple[str, ...]
    verbs: frozenset[str]
    after: frozenset[str]
    conclusions: frozenset[str]
    fillers: frozenset[str]
    against: tuple[str, ...]
    joins: tuple[str, ...]
    because: tuple[str, ...]
    refusals: tuple[str, ...]


@cache
def synonyms() -> Synonyms:
    """The file that comes with the package."""
    with FILE.open("rb") as file:
        data: dict[str, Any] = tomllib.load(file)
    labels, prose = data["labels"], data["prose"]
    return Synonyms(
        tuple(_concept(entry) for entry in data["actions"]),
        _longest_first(labels["final"]),
        _longest_first(labels["plain"]),
        frozenset(map(plain, labels["before"])),
        frozenset(map(plain, labels["keys"])),
        frozenset(map(plain, labels["placeholders"])),
        _longest_first(prose["intents"]),
        frozenset(map(plain, prose["verbs"])),
        frozenset(map(plain, prose["after"])),
        frozenset(map(plain, prose["conclusions"])),
        frozenset(map(plain, prose["fillers"])),
        _longest_first(prose["against"]),
        _longest_first(prose["joins"]),
        _longest_first(prose["because"]),
        _longest_first(data["refusals"]["phrases"]),
    )


def _concept(entry: dict[str, Any]) -> Concept:
    return Concept(
        frozenset(map(plain, entry["names"])),
        frozenset(map(plain, entry["said"])),
        frozenset(entry.get("symbols", ())),
        tuple(entry.get("environments", ())),
    )


def _longest_first(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({plain(word) for word in words}, key=lambda word: (-len(word), word)))
