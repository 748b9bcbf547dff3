"""Style sheet of pages in the colors of the window, light or dark by the system setting of the browser."""

from __future__ import annotations

from collections.abc import Mapping

from gym_gui.analysis.charts.shapes import role_colors
from gym_gui.core.drawing.colors import DARK, HUES, LIGHT


def page_head(allowed: str) -> str:
    """Return the beginning of an HTML page.

    Args:
        allowed: Directives of the page's content security policy; everything else is forbidden.
    """
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; {allowed}">
"""


PAGE_HEAD = page_head("style-src 'unsafe-inline'")
"""Beginning of a page without scripts, which loads nothing from elsewhere."""


def _variables(theme: Mapping[str, str]) -> str:
    return "".join(f"--{role}: {color};" for role, color in theme.items())


_LIGHT, _DARK = role_colors(LIGHT), role_colors(DARK)

_RULES = """
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--window); color: var(--text);
  font: 13px/1.5 Inter, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  font-variant-numeric: tabular-nums;
}
main { max-width: 1180px; margin: 0 auto; padding: 24px 16px 40px; }
header { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: baseline; margin-bottom: 16px; }
h1 { font-size: 20px; font-weight: 600; margin: 0; }
h2 { font-size: 15px; font-weight: 600; margin: 24px 0 12px; overflow-wrap: anywhere; }
h3 {
  font-size: 12px; font-weight: 600; letter-spacing: .04em; text-transform: uppercase;
  color: var(--muted); margin: 0 0 8px; overflow-wrap: anywhere;
}
.muted { color: var(--muted); }
a { color: var(--accent); }
.verdict { background: var(--wash); border-radius: 10px; padding: 12px 16px; font-size: 14px; }
.verdict p { margin: 4px 0; overflow-wrap: anywhere; }
.panel {
  background: var(--panel); border: 1px solid var(--line); border-radius: 10px;
  padding: 16px; margin-bottom: 12px; overflow-x: auto;
}
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 480px), 1fr)); gap: 12px; }
.grid .panel { margin: 0; }
.grid + .panel, .grid + .grid { margin-top: 12px; }
table { border-collapse: collapse; width: 100%; }
th { font-size: 12px; font-weight: 500; color: var(--muted); text-align: right; }
th, td { padding: 8px 10px; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
tbody tr:last-child td { border-bottom: 0; }
td.word, th.word { text-align: left; overflow-wrap: anywhere; min-width: 9em; }
th { white-space: nowrap; }
td .part { white-space: nowrap; }
.sub { display: block; font-size: 12px; color: var(--muted); }
.badge {
  display: inline-block; white-space: nowrap; font-size: 12px; line-height: 18px; margin: 0 4px 2px 0;
  padding: 0 8px; border: 1px solid var(--line); border-radius: 9px; background: var(--raised);
}
.badge i { display: inline-block; width: 8px; height: 8px; border-radius: 4px; margin-right: 6px; }
.bad { color: var(--error); font-weight: 600; }
.note { border-left: 3px solid var(--warning); padding-left: 10px; margin: 8px 0; overflow-wrap: anywhere; }
svg { display: block; width: 100%; max-width: 600px; height: auto; }
svg rect[class], svg polygon, svg text { fill: var(--ink); }
svg line, svg polyline { stroke: var(--ink); }
details { margin-top: 8px; } summary { cursor: pointer; color: var(--muted); }
pre {
  font: 12px/1.45 ui-monospace, "JetBrains Mono", Menlo, Consolas, monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; margin: 6px 0; background: var(--raised); border-radius: 6px; padding: 8px 10px;
}
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; margin: 0; }
dt { color: var(--muted); } dd { margin: 0; overflow-wrap: anywhere; }
@media print {
  @page { margin: 12mm; }
  body { background: none; font-size: 11px; }
  main { max-width: none; padding: 0; }
  .panel, .verdict { break-inside: avoid; }
  .panel { overflow: visible; padding: 12px; }
  .grid { grid-template-columns: 1fr 1fr; }
  th { white-space: normal; }
  th, .sub, .badge { font-size: 10px; }
  th, td { padding: 6px 5px; }
  td.word, th.word { min-width: 6em; }
}
"""
STYLE = "\n".join(
    [
        f":root {{ color-scheme: light dark; {_variables(_LIGHT)} }}",
        f"@media (prefers-color-scheme: dark) {{ :root {{ {_variables(_DARK)} }} }}{_RULES}",
        *(f"svg .{role} {{ --ink: var(--{role}); }}" for role in _LIGHT),
        *(f".badge .{kind} {{ background: var(--{kind}); }}" for kind in HUES),
    ]
)
