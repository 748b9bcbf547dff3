"""Makes file names and addresses of a site's pages that every file system and web host accepts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from gym_gui.analysis.findings.summary import Summary

INDEX, RUNS, AGENTS, EPISODES = "index.html", "runs.html", "agents.html", "episodes.html"
PER_LIST: Final = 200
"""Number of episode indices per list page."""

_LONGEST = 48
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
"""File names that Windows does not allow."""


def safe_names(labels: Iterable[str]) -> list[str]:
    """Return a unique file name for each label: lower-case ASCII letters, digits and hyphens."""
    taken = set(_DEVICES)
    found: list[str] = []
    for label in labels:
        plain = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode().lower()
        word = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST].strip("-") or "unnamed"
        name, number = word, 2
        while name in taken:
            name, number = f"{word}-{number}", number + 1
        taken.add(name)
        found.append(name)
    return found


class Addresses:
    """Paths of a site's pages, relative to the root of the site.

    Args:
        summary: Summary whose runs and operators have pages.
    """

    def __init__(self, summary: Summary) -> None:
        run_ids = [run.run_id for run in summary.runs]
        self._runs = dict(zip(run_ids, safe_names(run_ids), strict=True))
        keys = [operator.key for operator in summary.operators]
        self._agents = dict(zip(keys, safe_names(keys), strict=True))

    def run(self, run_id: str) -> str:
        """Return the path of a run's page."""
        return f"runs/{self._runs[run_id]}.html"

    def agent(self, key: str) -> str:
        """Return the path of an operator's page."""
        return f"agents/{self._agents[key]}.html"

    def folder(self, key: str) -> str:
        """Return the path of the folder with the pages of an operator's episodes."""
        return f"agents/{self._agents[key]}"

    def list_of(self, key: str, index: int) -> str:
        """Return the path of the list page that contains an episode."""
        return f"{self.folder(key)}/episodes-{index // PER_LIST + 1}.html"

    def line_of(self, key: str, index: int) -> str:
        """Return the address of an episode's row in its list page."""
        return f"{self.list_of(key, index)}#e{index}"

    def episode(self, key: str, index: int) -> str:
        """Return the path of an episode's own page, which may not exist."""
        return f"{self.folder(key)}/episode-{index}.html"


class LinksFrom:
    """Addresses of a site's pages relative to one page, as :class:`~gym_gui.analysis.words.page_links.Links`.

    Args:
        addresses: Paths of all pages.
        root: Relative path from the page to the site's root: ``""``, ``"../"``, ``"../../"``.
    """

    def __init__(self, addresses: Addresses, root: str = "") -> None:
        self._addresses, self._root = addresses, root

    def operator(self, key: str) -> str:
        """Return the address of an operator's page."""
        return self._root + self._addresses.agent(key)

    def episode(self, key: str, index: int) -> str:
        """Return the address of an episode's row in its list page."""
        return self._root + self._addresses.line_of(key, index)
