"""Loads ``synonyms.toml``: other names of actions, and words with which models announce actions."""

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
    """An action with its names.

    Attributes:
        names: Names in environments, in :func:`plain` form.
        said: Names in replies of models, in :func:`plain` form.
        symbols: Symbols for the action, unchanged.
        objects: Objects of the action, which do not change its meaning ("eat the cow").
        is_way: Whether the action is a direction, which words of motion may precede ("walk north").
        environments: Patterns of the environments for which the names are; empty for all.
        others: Patterns of environments in which these words mean something else.
    """

    names: frozenset[str]
    said: frozenset[str]
    symbols: frozenset[str]
    objects: frozenset[str]
    is_way: bool
    environments: tuple[str, ...]
    others: tuple[str, ...]

    def concerns(self, env_id: str) -> bool:
        """Return whether the names apply in an environment."""
        wanted = not self.environments or _suits(env_id, self.environments)
        return wanted and not _suits(env_id, self.others)


@dataclass(frozen=True)
class Synonyms:
    """Content of ``synonyms.toml``; all words are in :func:`plain` form.

    Attributes:
        concepts: Actions with their names.
        final_labels: Labels of the final answer.
        labels: Labels of an answer.
        before: Words that may precede a label.
        keys: Keys of a JSON object whose value is the answer.
        wrappers: Keys of a JSON object whose value may contain the answer.
        placeholders: Placeholders of an answer in a repeated form.
        intents: Words that announce the action that follows.
        choices: Phrases that precede "is" and an action ("my best guess is").
        chosen: Words before these phrases if the choice is the model's own ("my").
        fillers: Words that may stand between the intent and the action.
        carriers: Fillers that a preposition follows.
        copulas: Words directly after which an action's word is no action.
        openers: Words with which a sentence that consists of an action may begin.
        after: Words that may follow an announced action.
        bare_after: Words that may follow an action without an announcement.
        own: Words in whose sentence a colon may introduce the action.
        because: Words that begin the reason for an action.
        but: Words after which the part of the sentence that counts follows.
        so: Words after which a conclusion follows.
        hypothetical: Words that make the rest of a sentence hypothetical.
        obliged: Words for an obligation without a time.
        against: Words with which a clause does not decide for an action.
        rejecting: Words before an action that is not chosen.
        speech: Words that introduce the speech of another person.
        taken_back: Words that take back the earlier text.
        idioms: Idioms in which an action's word does not mean the action.
        pronouns: Pronouns for the object of an action.
        articles: Words that may precede the object of an action.
        endings: Endings of an action in scripts without spaces.
        joins: Words that join a second action.
        refusals: Phrases with which a model refuses to answer.
    """

    concepts: tuple[Concept, ...]
    final_labels: tuple[str, ...]
    labels: tuple[str, ...]
    before: frozenset[str]
    keys: frozenset[str]
    wrappers: frozenset[str]
    placeholders: frozenset[str]
    intents: tuple[str, ...]
    choices: frozenset[str]
    chosen: frozenset[str]
    fillers: frozenset[str]
    carriers: frozenset[str]
    copulas: frozenset[str]
    openers: frozenset[str]
    after: frozenset[str]
    bare_after: frozenset[str]
    own: frozenset[str]
    because: frozenset[str]
    but: frozenset[str]
    so: frozenset[str]
    hypothetical: tuple[str, ...]
    obliged: tuple[str, ...]
    against: tuple[str, ...]
    rejecting: tuple[str, ...]
    speech: frozenset[str]
    taken_back: tuple[str, ...]
    idioms: tuple[str, ...]
    pronouns: frozenset[str]
    articles: frozenset[str]
    endings: frozenset[str]
    joins: tuple[str, ...]
    refusals: tuple[str, ...]


@cache
def synonyms() -> Synonyms:
    """Return the synonyms of the package, loaded once."""
    with FILE.open("rb") as file:
        data: dict[str, Any] = tomllib.load(file)
    labels, prose = data["labels"], data["prose"]

    def words(name: str) -> frozenset[str]:
        return frozenset(map(plain, prose[name]))

    return Synonyms(
        concepts=tuple(_concept(entry) for entry in data["actions"]),
        final_labels=_longest_first(labels["final"]),
        labels=_longest_first(labels["plain"]),
        before=frozenset(map(plain, labels["before"])),
        keys=frozenset(map(plain, labels["keys"])),
        wrappers=frozenset(map(plain, labels["wrappers"])),
        placeholders=frozenset(map(plain, labels["placeholders"])),
        intents=_longest_first(prose["intents"]),
        choices=words("choices"),
        chosen=words("chosen"),
        fillers=words("fillers"),
        carriers=words("carriers"),
        copulas=words("copulas"),
        openers=words("openers"),
        after=words("after"),
        bare_after=words("bare_after"),
        own=words("own"),
        because=words("because"),
        but=words("but"),
        so=words("so"),
        hypothetical=_longest_first(prose["hypothetical"]),
        obliged=_longest_first(prose["obliged"]),
        against=_longest_first(prose["against"]),
        rejecting=_longest_first(prose["rejecting"]),
        speech=words("speech"),
        taken_back=_longest_first(prose["taken_back"]),
        idioms=tuple(sorted(prose["idioms"], key=len, reverse=True)),
        pronouns=words("pronouns"),
        articles=words("articles"),
        endings=frozenset({"", *prose["endings"]}),
        joins=_longest_first(prose["joins"]),
        refusals=_longest_first(data["refusals"]["phrases"]),
    )


def _suits(env_id: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(env_id, pattern) for pattern in patterns)


def _concept(entry: dict[str, Any]) -> Concept:
    return Concept(
        names=frozenset(map(plain, entry["names"])),
        said=frozenset(map(plain, entry["said"])),
        symbols=frozenset(entry.get("symbols", ())),
        objects=frozenset(map(plain, entry.get("objects", ()))),
        is_way=entry.get("way", False),
        environments=tuple(entry.get("environments", ())),
        others=tuple(entry.get("others", ())),
    )


def _longest_first(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({plain(word) for word in words}, key=lambda word: (-len(word), word)))
