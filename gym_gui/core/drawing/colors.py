"""Colors of the window and of report pages, light and dark. No other module defines colors for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Tokens:
    """The colors of one theme, as ``#rrggbb``.

    Attributes:
        window: Background of the window.
        panel: Background of cards, bars and the navigation rail.
        raised: Background of controls on a panel.
        line: Borders and dividers.
        text: Main text.
        muted: Secondary text; meets WCAG AA on window, panel and raised.
        faint: Disabled text.
        accent: The main button and the selection.
        accent_hover: The main button under the pointer.
        accent_text: Accent color for text (links); readable on panel and wash.
        on_accent: Text on accent.
        wash: Background of selected items and of messages.
        ok: Dots and bars that mean "in order" (text beside them has the color ``text``).
        warning: Marks something that needs attention.
        error: Marks something that is broken.
        stage: Background around a frame.
        stage_text: Text on the stage.
        scroll: Scroll bars' handles.
    """

    window: str
    panel: str
    raised: str
    line: str
    text: str
    muted: str
    faint: str
    accent: str
    accent_hover: str
    accent_text: str
    on_accent: str
    wash: str
    ok: str
    warning: str
    error: str
    stage: str
    stage_text: str
    scroll: str


LIGHT: Final = Tokens(
    window="#f6f7f9",
    panel="#ffffff",
    raised="#f0f2f5",
    line="#e1e5ea",
    text="#1b2430",
    muted="#5f6b7d",
    faint="#a3adb9",
    accent="#3b6fe0",
    accent_hover="#2f60cb",
    accent_text="#2f60cb",
    on_accent="#ffffff",
    wash="#e8effd",
    ok="#1d9560",
    warning="#bf7200",
    error="#c43030",
    stage="#0d1117",
    stage_text="#c3ccd8",
    scroll="#7e8896",
)
DARK: Final = Tokens(
    window="#14181f",
    panel="#1b2029",
    raised="#232a35",
    line="#2f3845",
    text="#e6ebf2",
    muted="#93a0b3",
    faint="#5a6675",
    accent="#6b9bff",
    accent_hover="#86adff",
    accent_text="#82aaff",
    on_accent="#0d1420",
    wash="#24304a",
    ok="#3ecf8e",
    warning="#e5a23a",
    error="#f27676",
    stage="#0d1117",
    stage_text="#c3ccd8",
    scroll="#6f7c91",
)

KIND_COLORS: Final[Mapping[str, str]] = {
    "llm": "#3b82f6",
    "rl": "#8b5cf6",
    "human": "#ea580c",
    "baseline": "#7c8796",
    "bdi": "#0d9a76",
    "planner": "#0d9a76",
    "mpc": "#0d9a76",
    "vlm": "#0c8ecf",
}
"""Color of each kind of agent; other kinds share the baseline's color. The contrast with every background
of both themes is at least 3 (WCAG 1.4.11)."""

FURTHER_COLORS: Final = ("#df209f", "#a18517", "#b96eb9", "#af655a", "#c829e0", "#e7557c", "#148f14")
"""Colors of further agents of a kind that is already present. They differ from the colors of all kinds and
from each other (by 0.1 in Oklab), and are as visible on every background as these."""


HUES: Final[Mapping[str, str]] = {
    **KIND_COLORS,
    **{f"further-{number}": hue for number, hue in enumerate(FURTHER_COLORS)},
}
"""Color of each role that marks an agent."""
SERIES: Final = (
    *("rl", "vlm", "bdi", "human", "llm", "baseline"),
    *(f"further-{number}" for number in range(len(FURTHER_COLORS))),
)
"""Roles of lines that do not stand for a kind of agent (trainings, algorithms), in the order of their use."""


def leading_kind(kinds: Iterable[str]) -> str:
    """Return the kind that marks an operator: the kind of its workers other than baselines.

    ``mixed`` if there are several such kinds, ``baseline`` if there is none.

    Args:
        kinds: Kinds of the workers that decide.
    """
    others = set(kinds) - {"baseline"}
    return "mixed" if len(others) > 1 else next(iter(others), "baseline")


def kind_role(kind: str) -> str:
    """Return the color role of a kind; ``baseline`` if the kind has no color."""
    return kind.lower() if kind.lower() in KIND_COLORS else "baseline"


def distinct_roles(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return a color role for each of several agents: the kind's for the first, a further one for the next.

    Args:
        kinds: Kind of each agent, in the order in which agents are shown everywhere. Kinds that share a
            color count as one. After seven further agents, the colors repeat.
    """
    result: list[str] = []
    taken: set[str] = set()
    further = 0
    for kind in kinds:
        role = kind_role(kind)
        if HUES[role] in taken:
            role = f"further-{further % len(FURTHER_COLORS)}"
            further += 1
        taken.add(HUES[role])
        result.append(role)
    return tuple(result)


def kind_colors(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return the colors of the roles from :func:`distinct_roles`."""
    return tuple(HUES[role] for role in distinct_roles(kinds))


def luminance(color: str) -> float:
    """Return the relative luminance of ``#rrggbb`` as WCAG 2 defines it, 0 to 1."""

    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(part / 255) for part in _parts(color))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the WCAG contrast of two colors, 1 to 21; text needs 4.5."""
    dark, bright = sorted((luminance(one), luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


def mixed(one: str, other: str, share: float) -> str:
    """Return a mix of two colors; ``share`` is the part of the second, 0 to 1."""
    parts = zip(_parts(one), _parts(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in parts)


def _parts(color: str) -> list[int]:
    return [int(color[i : i + 2], 16) for i in (1, 3, 5)]
