"""Writes charts as SVG, for HTML pages and for separate image files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gym_gui.analysis.charts.shapes import (
    Area,
    Box,
    Chart,
    Curve,
    Drawing,
    HoverRegion,
    Line,
    Mark,
    Patch,
    role_colors,
    rough_width,
)
from gym_gui.analysis.words.html_markup import safe
from gym_gui.core.drawing.colors import Tokens

WIDTH: Final = 540
"""Width of a chart on a page, in units of the SVG's ``viewBox``."""

Ink = Callable[[str, str], str]
"""Function that returns the SVG attribute for a color, given its role and ``fill`` or ``stroke``."""


def by_class(role: str, _property: str) -> str:
    """Return a ``class`` attribute with the role, whose color is in the page's style sheet."""
    return f'class="{role}"'


def written_out(tokens: Tokens) -> Ink:
    """Return an :data:`Ink` that writes colors as attributes, for files without style sheet."""
    colors = role_colors(tokens)
    return lambda role, target: f'{target}="{colors[role]}"'


def svg(chart: Chart) -> str:
    """Return a chart as an SVG element for a page with :data:`~gym_gui.analysis.pages.page_style.STYLE`."""
    drawing = chart.draw(WIDTH, chart.heights[1], rough_width)
    label = safe(f"{chart.title}. {chart.describe()}")
    size = f'viewBox="0 0 {drawing.width:.0f} {drawing.height:.0f}"'
    return f'<svg {size} role="img" aria-label="{label}">{shapes(drawing, by_class)}</svg>'


def shapes(drawing: Drawing, ink: Ink) -> str:
    """Return the shapes of a drawing as SVG elements."""
    marks = "".join(_mark(mark, ink) for mark in drawing.marks)
    return marks + "".join(_spot(spot, ink) for spot in drawing.spots)


def _spot(spot: HoverRegion, ink: Ink) -> str:
    marks = "".join(_mark(mark, ink) for mark in spot.marks)
    area = f'<rect {_place(spot.area)} fill-opacity="0"/>'
    return f"<g><title>{safe(spot.sentence)}</title>{area}{marks}</g>"


def _mark(mark: Mark, ink: Ink) -> str:
    if isinstance(mark, Line):
        place = f'x1="{mark.x1:.1f}" y1="{mark.y1:.1f}" x2="{mark.x2:.1f}" y2="{mark.y2:.1f}"'
        return f"<line {ink(mark.role, 'stroke')} {place}/>"
    if isinstance(mark, Box):
        faint = f' opacity="{mark.opacity:g}"' if mark.opacity < 1 else ""
        corners = f' rx="{mark.radius:g}"' if mark.radius else ""
        return f"<rect {ink(mark.role, 'fill')} {_place(mark.area)}{faint}{corners}/>"
    if isinstance(mark, Curve | Patch):
        faint = f' opacity="{mark.opacity:g}"' if mark.opacity < 1 else ""
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in mark.points)
        if isinstance(mark, Patch):
            return f'<polygon {ink(mark.role, "fill")} points="{points}"{faint}/>'
        wide = f'fill="none" stroke-width="{mark.width:g}"'
        return f'<polyline {ink(mark.role, "stroke")} {wide} points="{points}"{faint}/>'
    size = f'font-size="{mark.pixels}" text-anchor="{mark.anchor}"'
    place = f'x="{mark.x:.1f}" y="{mark.y:.1f}"'
    return f"<text {ink(mark.role, 'fill')} {place} {size}>{safe(mark.text)}</text>"


def _place(area: Area) -> str:
    return f'x="{area.x:.1f}" y="{area.y:.1f}" width="{area.width:.1f}" height="{area.height:.1f}"'
