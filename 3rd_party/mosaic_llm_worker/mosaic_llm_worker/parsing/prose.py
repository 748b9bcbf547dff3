"""Reads running text. An action counts only behind words that say it is meant to be done.

"The ball is on my left" is no order to go left; "I will turn left" is; "I should not turn left" and
"if the ball were there, I would turn left" are not. What is doubtful is left unread: the model is
asked again, which is better than to play what it did not say.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from mosaic_llm_worker.parsing.cleaning import plain
from mosaic_llm_worker.parsing.phrases import joined, leading, leading_words, stripped
from mosaic_llm_worker.parsing.synonyms import synonyms
from mosaic_llm_worker.parsing.vocabulary import Vocabulary

_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+")
_CLAUSE: Final = re.compile(r",\s*|\s+(?:but|however|although|aber|mais|pero|ma)\s+", re.IGNORECASE)
_BEST: Final = re.compile(
    r"^(.{1,60}?)\s+(?:is|seems|looks|would be|appears to be)\s+(?:clearly |probably )?(?:the |my )"
    r"(?:best|right|correct|optimal|safest|only sensible|logical|next|final)\s+"
    r"(?:action|move|choice|option|step|answer|decision)\b",
    re.IGNORECASE,
)
_SCRIPTS: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MOST: Final = 100
"""Sentences of a line that are looked at, the last ones."""
_MOST_WORDS: Final = 400
"""Words of a sentence that are looked at, the last ones."""


def intended(text: str, vocabulary: Vocabulary) -> tuple[int, ...]:
    """The actions that a text says will be done, each once; lines that are one themselves are left out."""
    found: list[tuple[int, ...]] = []
    for line in text.splitlines():
        sentences = [sentence for sentence in _SENTENCE.split(line) if sentence.strip()]
        whole = len(sentences) == 1 and vocabulary.is_term(stripped(line))
        for sentence in () if whole else sentences[-_MOST:]:
            if not sentence.rstrip().endswith("?"):
                found += [alone(sentence, vocabulary), *_of_sentence(sentence, vocabulary)]
    return joined(*found)


def _of_sentence(sentence: str, vocabulary: Vocabulary) -> list[tuple[int, ...]]:
    if _SCRIPTS.search(sentence):
        return _of_unspaced(plain(sentence), vocabulary)
    if _says_no(f" {plain(sentence)} "):
        return []
    found: list[tuple[int, ...]] = []
    if (best := _BEST.match(sentence.strip())) is not None:
        if named := vocabulary.find(
            re.sub(r"^(?:going|moving|turning)\s+", "", best[1], flags=re.IGNORECASE)
        ):
            found.append(tuple(sorted(named)))
        elif named := leading(best[1], vocabulary):
            found.append(named)
    for clause in [sentence] if vocabulary.has_commas else _CLAUSE.split(sentence):
        found += _of_clause(clause, vocabulary)
    return found


def _says_no(sentence: str) -> bool:
    return any(f" {word} " in sentence for word in synonyms().against)


def _of_clause(clause: str, vocabulary: Vocabulary) -> list[tuple[int, ...]]:
    """What follows words of intent, and what is joined to it by "and then"."""
    words = clause.split()[-_MOST_WORDS:]
    spoken = [plain(word) for word in words]
    does = spoken[:1] in (["i"], ["we"]) and len(spoken) > 1 and spoken[1] in synonyms().verbs
    if does:
        named, size = _at(words[1:], vocabulary)
        if named:
            return [named, *_joined(words[1 + size :], vocabulary)]
    for start in _behind_intents(spoken):
        rest = words[start:]
        while rest:
            named, size = _at(rest, vocabulary)
            if named:
                return [named, *_joined(rest[size:], vocabulary)]
            if plain(rest[0]) not in synonyms().fillers:
                break
            rest = rest[1:]
    return []


def _at(words: list[str], vocabulary: Vocabulary) -> tuple[tuple[int, ...], int]:
    """The actions that words begin with, unless the next word may make something else of them.

    With how many words name them.
    """
    named, size = leading_words(words, vocabulary)
    if not named or size == len(words) or words[size - 1][-1:] in ",.;:!)":
        return named, size
    return (named, size) if plain(words[size]) in synonyms().after else ((), 0)


def alone(sentence: str, vocabulary: Vocabulary) -> tuple[int, ...]:
    """The action that a sentence is, but for how it begins ("Thus, left.", "Play in column 4.")."""
    words = sentence.split()
    while words and plain(words[0]) in synonyms().conclusions:
        words = words[1:]
    found = vocabulary.find(stripped(" ".join(words)))
    if not found and words and plain(words[0]) in ("play", "choose", "pick", "select", "take"):
        while words and plain(words[0]) in synonyms().fillers:
            words = words[1:]
        found = vocabulary.find(stripped(" ".join(words)))
    return tuple(sorted(found))


@cache
def _intents() -> re.Pattern[str]:
    """Also where one begins inside another ("so i need to")."""
    return re.compile(rf"(?= ({'|'.join(map(re.escape, synonyms().intents))}) )")


def _behind_intents(words: list[str]) -> list[int]:
    """Where the words begin that stand behind words of intent, in order."""
    spoken: list[tuple[str, int]] = [(part, i) for i, word in enumerate(words) for part in word.split()]
    line = "".join(f" {part}" for part, _ in spoken) + " "
    ends = {line.count(" ", 0, match.end(1)) for match in _intents().finditer(line)}
    return sorted(spoken[end - 1][1] + 1 for end in ends)


def _joined(rest: list[str], vocabulary: Vocabulary) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    spoken = [plain(word) for word in rest]
    for i in range(len(rest)):
        for join in synonyms().joins:
            size = len(join.split())
            if " ".join(spoken[i : i + size]) == join:
                behind = rest[i + size :]
                if named := leading(" ".join(behind), vocabulary) or tuple(sorted(vocabulary.parts(behind))):
                    found.append(named)
                break
    return found


def _of_unspaced(sentence: str, vocabulary: Vocabulary) -> list[tuple[int, ...]]:
    """Chinese, Japanese, Korean: words are not set apart."""
    together = sentence.replace(" ", "")
    if any(word.replace(" ", "") in together for word in synonyms().against if _SCRIPTS.search(word)):
        return []
    for intent in synonyms().intents:
        close = intent.replace(" ", "")
        if not _SCRIPTS.search(close) or close not in together:
            continue
        rest = together.partition(close)[2]
        terms = sorted({term.replace(" ", "") for term in vocabulary.terms if _SCRIPTS.search(term)}, key=len)
        for term in reversed(terms):
            if rest.startswith(term):
                return [tuple(sorted(vocabulary.find(term)))]
    return []
