"""Style sheet for replays in pages, and the script that plays replays."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from gym_gui.analysis.pages.page_style import page_head
from gym_gui.core.drawing import artwork
from gym_gui.core.drawing.chess_shapes import BODY, EYES, FOOT, LINES, PEARLS, RULE

FILM_STYLE = """
.films { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr)); gap: 12px; }
h2 ~ h3 { margin-top: 16px; }
.film { background: var(--panel); border: 1px solid var(--line); border-radius: 10px;
  padding: 14px 16px; min-width: 0; }
.film.with-words { grid-column: 1 / -1; display: grid; gap: 4px 16px;
  grid-template-columns: minmax(0, 380px) minmax(0, 1fr); }
.film h4 { font-size: 13px; font-weight: 600; margin: 0; }
.film .facts-of { margin: 0 0 8px; color: var(--muted); overflow-wrap: anywhere; }
.film .stage { background: #0d1117; border-radius: 8px; display: flex; justify-content: center;
  overflow: hidden; }
.film canvas { display: block; width: 100%; max-width: 480px; height: auto; max-height: 360px;
  object-fit: contain; }
.film canvas.small { image-rendering: pixelated; }
.film pre.screen { margin: 0; padding: 10px; color: #c3ccd8; background: none; width: 100%; overflow-x: auto;
  white-space: pre; min-height: 8em; }
.film .transport { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; margin: 8px 0; }
.film .transport input { flex: 1 1 100%; accent-color: var(--accent); margin: 0; }
.film button, .film select {
  font: inherit; color: var(--text); background: var(--raised); border: 1px solid var(--line);
  border-radius: 6px; padding: 2px 8px; min-width: 30px; cursor: pointer;
}
.film button.play { min-width: 62px; background: var(--accent); border-color: var(--accent);
  color: var(--on_accent); }
.film button:hover { border-color: var(--accent); }
.film :focus-visible, .film:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.film output { margin-left: auto; color: var(--muted); font-size: 12px; }
.film table.acts { font-size: 12px; table-layout: fixed; }
.film table.acts th, .film table.acts td { padding: 3px 4px; overflow-wrap: anywhere; }
.film table.acts th:first-child, .film table.acts td:first-child, .film table.acts td:nth-child(2),
.film table.acts th:nth-child(2) { text-align: left; }
.film table.acts td { color: var(--muted); }
.film table.acts tr.now td { color: var(--text); }
.film table.acts td.bad { color: var(--warning); }
.film .said { max-height: 560px; overflow-y: auto; position: relative; }
.film .said [data-step] { cursor: pointer; }
.film .said .now > .turn { border-left-color: var(--accent); background: var(--wash); }
@media (max-width: 760px) { .film.with-words { display: block; } }
@media print {
  .films { grid-template-columns: 1fr 1fr; }
  .film { break-inside: avoid; }
  .film .transport { display: none; }
  .film.with-words { display: block; }
  .film .said { max-height: none; }
}
"""


@cache
def player_script() -> str:
    """Return the JavaScript that plays replays: data for drawing boards, then the player."""
    player = Path(__file__).with_name("film_player.js").read_text(encoding="utf-8")
    return f"const art = {in_script(_art())};\n{player}"


def in_script(value: object) -> str:
    """Return data as JSON for a script element, which the JSON cannot close."""
    return orjson.dumps(value).decode().replace("<", "\\u003c")


@cache
def film_head() -> str:
    """Return the head of a page with replays, which allows only the player's script and inline images."""
    digest = base64.b64encode(hashlib.sha256(player_script().encode()).digest()).decode()
    return page_head(f"img-src data:; script-src 'sha256-{digest}'; style-src 'unsafe-inline'")


def _art() -> Mapping[str, Any]:
    """Return colors and shapes for drawing boards and pieces, by name."""
    colors = {name: value for name, value in vars(artwork).items() if name.isupper() and name != "ANSI"}
    chess = {
        letter: {
            "body": body,
            "lines": LINES[letter],
            "eyes": [EYES[letter]] if letter in EYES else [],
            "pearls": PEARLS.get(letter, ()),
        }
        for letter, body in BODY.items()
    }
    return {**colors, "chess": {**chess, "foot": FOOT, "rule": RULE}}
