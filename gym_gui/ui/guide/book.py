"""The pages of the documentation that come with MOSAIC, converted to Qt's Markdown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from PyQt6.QtCore import QUrl

from gym_gui.core.errors import UsageError
from gym_gui.core.paths import DOCS
from mosaic_worker.plain_files import read_file

FIRST: Final = "guide/index.md"
_DIRECTIVE: Final = re.compile(r"^(`{3,}|:{3,})\{[\w-]+\}.*?^\1\s*$", re.MULTILINE | re.DOTALL)
_ROLE: Final = re.compile(r"\{[a-z]+\}`([^`<]+?)(?: <[^`>]*>)?`")
_PICTURE: Final = re.compile(r"(?<!\[)!\[([^\]]*)\]\(([^)\s]+)\)")
_TITLE: Final = re.compile(r"^# (.+)$", re.MULTILINE)
_OF_PAGE: Final = re.compile(r"^\| \[([^\]]+)\]\((\w+\.md)\) \|", re.MULTILINE)


class Book:
    """The documentation in a folder.

    Args:
        roots: Possible folders; the first one with a guide is used.
    """

    def __init__(self, roots: tuple[Path, ...] = DOCS) -> None:
        self.root = next((root.resolve() for root in roots if (root / FIRST).is_file()), None)

    def path(self, page: str) -> Path:
        """Return the file of a page.

        Args:
            page: Path of the page below the root folder, such as ``guide/play.md``.

        Raises:
            UsageError: The page does not exist or is outside of the documentation.
        """
        if self.root is None:
            raise UsageError("this installation has no guide", fix="Install mosaic-gym-gui again")
        path = (self.root / page).resolve()
        if not path.is_relative_to(self.root) or path.suffix != ".md" or not path.is_file():
            raise UsageError(
                f"this installation has no page {page}", fix="Read it in the folder docs of MOSAIC's source"
            )
        return path

    def name(self, path: Path) -> str:
        """Return the name of a page by its file; ``""`` if the file is not part of the documentation."""
        if self.root is None or path.suffix != ".md" or not path.resolve().is_relative_to(self.root):
            return ""
        return path.resolve().relative_to(self.root).as_posix()

    def text(self, page: str) -> str:
        """Return the Markdown of a page as written; raises errors as :meth:`path` does."""
        return read_file(self.path(page)).decode("utf-8")

    def title(self, page: str) -> str:
        """Return the first heading of a page; raises errors as :meth:`path` does."""
        found = _TITLE.search(self.text(page))
        return found.group(1) if found is not None else page

    def contents(self) -> list[tuple[str, str]]:
        """Return names and titles of the guide's pages, in the order of the guide's first page."""
        listed = [(f"guide/{file}", title) for title, file in _OF_PAGE.findall(self.text(FIRST))]
        return [(FIRST, self.title(FIRST)), *listed]

    def markdown(self, page: str, *, dark: bool) -> str:
        """Return the Markdown of a page for Qt, without Sphinx directives.

        Each picture becomes a link to its file. Raises errors as :meth:`path` does.

        Args:
          page: Name of the page.
          dark: Whether to use the dark variants of pictures.
        """
        path = self.path(page)
        text = _ROLE.sub(r"`\1`", _DIRECTIVE.sub("", self.text(page)))

        def picture(found: re.Match[str]) -> str:
            words, target = found.groups()
            file = (path.parent / target).resolve()
            twin = file.with_name(file.name.replace("-light", "-dark"))
            file = twin if dark and twin.is_file() else file
            if self.root is None or not file.is_relative_to(self.root) or not file.is_file():
                return f"*{words}*"
            address = QUrl.fromLocalFile(str(file)).toString(QUrl.ComponentFormattingOption.FullyEncoded)
            return f"[![{words}]({address})]({address})"

        return _PICTURE.sub(picture, text)


def slug(heading: str) -> str:
    """Return the anchor of a heading as MyST and GitHub derive it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
