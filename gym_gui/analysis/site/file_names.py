"""Where everything stands in a site: names of files that no file system and no host stumbles over."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from gym_gui.analysis.findings.summary import Summary

INDEX, RUNS, AGENTS, EPISODES = "index.html", "runs.html", "agents.html", "episodes.html"
PER_LIST: Final = 200
"""Episode indices that one list spans."""

_LONGEST = 48
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
"""No file may be called so on Windows."""


def safe_names(labels: Iterable[str]) -> list[str]:
    """A file name for each label: small ASCII letters, digits and hyphens, each of them once."""
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
    """Pages of a site, as paths from its root.

    Args:
        summary: What it is about.
    """

    def __init__(self, summary: Summary) -> None:
        run_ids = [run.run_id for run in summary.runs]
        self._runs = dict(zip(run_ids, safe_names(run_ids), strict=True))
        keys = [operator.key for operator in summary.operators]
        self._agents = dict(zip(keys, safe_names(keys), strict=True))

    def run(self, run_id: str) -> str:
        """The page of a run."""
        return f"runs/{self._runs[run_id]}.html"

    def agent(self, key: str) -> str:
        """The page of an operator."""
        return f"agents/{self._agents[key]}.html"

    def folder(self, key: str) -> str:
        """Where an operator's episodes are."""
        return f"agents/{self._agents[key]}"

    def list_of(self, key: str, index: int) -> str:
        """The list that an episode stands in."""
        return f"{self.folder(key)}/episodes-{index // PER_LIST + 1}.html"

    def line_of(self, key: str, index: int) -> str:
        """Its line there."""
        return f"{self.list_of(key, index)}#e{index}"

    def episode(self, key: str, index: int) -> str:
        """Its own page, where it has one."""
        return f"{self.folder(key)}/episode-{index}.html"


class LinksFrom:
    """:class:`~gym_gui.analysis.words.page_links.Links` as a page sees them.

    Args:
        addresses: Where everything is.
        root: The way from the page to the site's root: ``""``, ``"../"``, ``"../../"``.
    """

    def __init__(self, addresses: Addresses, root: str = "") -> None:
        self._addresses, self._root = addresses, root

    def operator(self, key: str) -> str:
        """Of an operator's page."""
        return self._root + self._addresses.agent(key)

    def episode(self, key: str, index: int) -> str:
        """Of the line of one of its episodes."""
        return self._root + self._addresses.line_of(key, index)
