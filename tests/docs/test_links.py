"""Every relative link of every page leads somewhere, to its heading too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import ROOT

_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_FENCED = re.compile(r"^(```+|:::+).*?^\1", re.MULTILINE | re.DOTALL)
_LABEL = re.compile(r"^\(([\w-]+)\)=$", re.MULTILINE)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_SKIPPED = {"_build", "_written", "node_modules", "__pycache__", "build", "dist", "runs"}


def _pages() -> Iterator[Path]:
    folders = [ROOT]
    while folders:
        for entry in sorted(folders.pop().iterdir()):
            if entry.is_dir() and not entry.name.startswith(".") and entry.name not in _SKIPPED:
                folders.append(entry)
            elif entry.suffix == ".md":
                yield entry


PAGES = list(_pages())


def _prose(page: Path) -> str:
    return _FENCED.sub("", page.read_text(encoding="utf-8"))


def _anchors(page: Path) -> set[str]:
    """Headings as GitHub and MyST make anchors of them, and MyST's own labels."""
    titles = (
        re.sub(r"[`*_]|\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in _HEADING.findall(_prose(page))
    )
    slugs = {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}
    return slugs | set(_LABEL.findall(_prose(page)))


def _broken(page: Path) -> Iterator[str]:
    for link in _LINK.findall(_prose(page)):
        if re.match(r"[a-z]+:", link):  # somewhere else in the world
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            yield link
        elif anchor and target.suffix == ".md" and anchor not in _anchors(target):
            yield f"{link} (there is no such heading)"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert list(_broken(page)) == []


def test_pages_are_found() -> None:
    names = {str(page.relative_to(ROOT)) for page in PAGES}
    assert {"README.md", "CHANGELOG.md", "docs/python_api.md", "3rd_party/cleanrl_worker/README.md"} <= names
