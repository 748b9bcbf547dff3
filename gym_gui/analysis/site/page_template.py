"""Template of a site's pages, with navigation and a common style sheet and script."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from gym_gui.analysis.pages.film_style import FILM_STYLE, player_script
from gym_gui.analysis.pages.page_style import STYLE, page_head
from gym_gui.analysis.pages.transcript_style import TRANSCRIPT_STYLE
from gym_gui.analysis.site.file_names import AGENTS, EPISODES, INDEX, RUNS
from gym_gui.analysis.words.html_markup import safe

STYLE_FILE, SCRIPT_FILE = "site.css", "site.js"
_SITE_STYLE = """
nav.site { display: flex; flex-wrap: wrap; gap: 4px 16px; margin-bottom: 16px; padding-bottom: 8px;
  border-bottom: 1px solid var(--line); }
nav.site a { text-decoration: none; color: var(--muted); }
nav.site a:hover { color: var(--text); }
nav.site a[aria-current] { color: var(--text); font-weight: 600; }
nav.lists { display: flex; flex-wrap: wrap; gap: 4px 12px; margin: 8px 0 12px; }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.verdict + .panel, .verdict + .films { margin-top: 12px; }
tr:has(:target) td { background: var(--wash); }
.films.one { grid-template-columns: minmax(0, 560px); }
code { font: 12px ui-monospace, "JetBrains Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
@media print { nav.site, nav.lists { display: none; } }
"""
_PLACES: Final = {INDEX: "Leaderboard", AGENTS: "Agents", EPISODES: "Episodes", RUNS: "Runs"}
# Browsers differ in whether 'self' covers pages on a disk, so "file:" is listed, too
# (https://github.com/w3c/webappsec-csp/issues/459); pages from a web host cannot load files of a disk anyway.
_OURS = "'self' file:"
_STILL = f"img-src data:; style-src {_OURS} 'unsafe-inline'"
_PLAYING = f"img-src data:; script-src {_OURS}; style-src {_OURS} 'unsafe-inline'"


def write_shared(folder: Path) -> None:
    """Write the files that all pages share: style sheet and script.

    Raises:
        OSError: A file cannot be written.
    """
    style = STYLE + TRANSCRIPT_STYLE + FILM_STYLE + _SITE_STYLE
    (folder / STYLE_FILE).write_text(style, encoding="utf-8")
    (folder / SCRIPT_FILE).write_text(player_script(), encoding="utf-8")


def site_page(title: str, parts: Iterable[str], path: str, *, place: str = "", plays: bool = False) -> bytes:
    """Return a page of a site as UTF-8 HTML.

    Args:
        title: Title of the page.
        parts: Content of the page, as HTML.
        path: Path of the page in the site.
        place: Path of the main page under which the navigation shows the page; empty for a main page.
        plays: Whether the page contains replays.
    """
    root = root_of(path)
    here = place or path
    links = "".join(
        f'<a href="{root}{address}"{_current(address, path, here)}>{name}</a>'
        for address, name in _PLACES.items()
    )
    script = f'<script src="{root}{SCRIPT_FILE}"></script>' if plays else ""
    # Without this link a browser would request an icon that does not exist.
    head = f'<link rel="icon" href="data:,"><link rel="stylesheet" href="{root}{STYLE_FILE}">'
    html = (
        f"{page_head(_PLAYING if plays else _STILL)}<title>{safe(title)}</title>\n{head}\n</head>\n"
        f'<body><main><nav class="site" aria-label="Site">{links}</nav>{"".join(parts)}</main>'
        f"{script}</body>\n</html>\n"
    )
    # A lone surrogate in run data is not valid UTF-8; it becomes a question mark.
    return html.encode("utf-8", "replace")


def root_of(path: str) -> str:
    """Return the relative path from a page to the site's root: ``""``, ``"../"``, ``"../../"``."""
    return "../" * path.count("/")


def _current(address: str, path: str, here: str) -> str:
    if address != here:
        return ""
    return ' aria-current="page"' if address == path else ' aria-current="true"'
