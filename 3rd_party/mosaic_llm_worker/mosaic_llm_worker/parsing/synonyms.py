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
        objects: What it is done to; behind its name these change nothing ("eat the cow").
        is_way: Whether it is a direction, which words of motion may precede ("walk north").
        environments: Patterns of the environments it is for; empty: all.
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
        """Whether it holds in this environment."""
        wanted = not self.environments or _suits(env_id, self.environments)
        return wanted and not _suits(env_id, self.others)


@dataclass(frozen=True)
class Synonyms:
    """The whole file; all in :func:`plain` form.

    Attributes:
        concepts: Actions.
        final_labels: What leads to the one answer that counts.
        labels: What leads to an answer.
        before: Words that may precede a label.
        keys: Of a JSON object whose value is the answer.
        wrappers: Of a JSON object in whose value the answer may be.
        placeholders: What stands for an answer where the form is repeated.
        intents: What says that the model means to do what follows.
        choices: What is followed by "is" and an action ("my best guess is").
        chosen: What these are preceded by where they are one's own.
        fillers: What may stand between the intent and the action.
        carriers: The same, where a preposition follows.
        copulas: What does not stand directly before an action.
        openers: What a sentence that is nothing but an action may begin with.
        after: What may follow an action that is meant to be done.
        bare_after: What may follow an action without a word of intent.
        own: In whose sentence a colon may introduce the action.
        because: What explains an action.
        but: Words behind which stands what counts.
        so: Words behind which stands what follows from the rest.
        hypothetical: What makes the rest of a sentence one about what might be.
        obliged: What has to be done some time.
        against: What makes a clause no statement of an action.
        rejecting: What precedes an action that is not chosen.
        speech: Words that say that the words of another person follow.
        taken_back: What takes back all that was said before.
        idioms: Turns of phrase in which the word of an action is none.
        pronouns: What an action may be done to without a name.
        articles: What may precede the name of what an action is done to.
        endings: What may follow an action where words are not set apart.
        joins: What joins a second action.
        refusals: What says that there will be no answer.
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
    """The file that comes with the package."""
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
