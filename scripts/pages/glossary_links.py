"""A Sphinx extension: on each page, the first use of a word of the glossary links to its entry.

Pages stay free of these links, so that a sentence can move without losing or doubling one. Words in titles,
code and other links are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

GLOSSARY = "glossary"
_VERBS = frozenset({"look", "run"})
"""Words that are verbs too: they count behind an article and the like."""
_DETERMINER = r"(?:(?<=\ba )|(?<=\bone )|(?<=\bthe )|(?<=\bthis )|(?<=\beach )|(?<=\bevery ))"
_LEFT_ALONE = (nodes.literal, nodes.reference, nodes.title, nodes.raw, nodes.image, nodes.topic)


def entries(text: str) -> dict[str, str]:
    """Word of the glossary -> id of its section; ``Environment and family`` is two words.

    Args:
        text: The page of the glossary, as Markdown.
    """
    titles = re.findall(r"^## (.+)$", text, re.MULTILINE)
    return {word.lower(): nodes.make_id(title) for title in titles for word in title.split(" and ")}


def pattern_of(word: str) -> re.Pattern[str]:
    """Finds a word and its plural; group 0 is what links."""
    plural = f"{re.escape(word[:-1])}(?:y|ies)" if word.endswith("y") else f"{re.escape(word)}s?"
    before = _DETERMINER if word in _VERBS else r"\b"
    return re.compile(rf"{before}{plural}\b", re.IGNORECASE)


@cache
def _patterns(glossary: Path) -> dict[re.Pattern[str], str]:
    """Pattern of each word -> id of its section; the glossary is read once for all pages."""
    words = entries(glossary.read_text(encoding="utf-8"))
    return {pattern_of(word): section for word, section in words.items()}


def _texts(doctree: nodes.document) -> Iterator[nodes.Text]:
    """Running text, in the order of reading."""
    for text in list(doctree.findall(nodes.Text)):
        parent: nodes.Node | None = text.parent
        while parent is not None and not isinstance(parent, (*_LEFT_ALONE, nodes.FixedTextElement)):
            parent = parent.parent
        if parent is None:
            yield text


def link_first_uses(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Connected to ``doctree-resolved``."""
    if page == GLOSSARY:
        return
    left = dict(_patterns(Path(app.srcdir, f"{GLOSSARY}.md")))
    target = app.builder.get_relative_uri(page, GLOSSARY)
    for text in _texts(doctree):
        parts: list[nodes.Node] = []
        rest = str(text)
        while left:
            found = ((m, p) for p in left if (m := p.search(rest)) is not None)
            first = min(found, key=lambda each: each[0].start(), default=None)
            if first is None:
                break
            match, pattern = first
            link = f"{target}#{left.pop(pattern)}"
            parts += [
                nodes.Text(rest[: match.start()]),
                nodes.reference("", match[0], internal=True, refuri=link, classes=["glossary-word"]),
            ]
            rest = rest[match.end() :]
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(rest)])


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("doctree-resolved", link_first_uses)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
