"""How a slot wants to be shown what happens, beside the observation itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from gym_gui.core.errors import UnknownNameError, UsageError

Mode = Literal["egocentric", "visible_teammates"]
Frame = Literal["egocentric", "whole"]
Telling = Literal["auto", "always", "never"]
MODES: tuple[Mode, ...] = ("egocentric", "visible_teammates")
FRAMES: tuple[Frame, ...] = ("egocentric", "whole")
TELLING: tuple[Telling, ...] = ("auto", "always", "never")
MAX_IMAGE = 2048

SHOWN: Final = frozenset({"text", "image", "messages", "facts", "state"})
"""What a slot can be shown beside its observation."""
VIEW_SETTINGS: Final = ("observation_mode", "image_view", "image_size", "image_grid", "tell_rewards")
"""Settings of a slot that :meth:`PromptInputs.of` reads."""


@dataclass(frozen=True)
class PromptInputs:
    """What one slot is shown.

    Attributes:
        text: The observation in words.
        image: A picture.
        messages: What teammates say.
        facts: The observation as ground facts.
        state: All of the simulator's state, which no player sees.
        mode: ``egocentric``: what the agent itself sees; ``visible_teammates``: also where the
            teammates are that stand inside its field of view, which way they look and what they carry.
        frame: What the agent itself may see, or the whole picture, which is refused to seats from which
            it would hide something.
        image_size: Longest side of the picture in pixels; 0: as it is drawn.
        image_grid: Draw a grid with row and column numbers over the picture.
        tell_rewards: Whether it is told what its actions earned; ``auto``: where that says nothing
            that the agent may not know.
    """

    text: bool = False
    image: bool = False
    messages: bool = False
    facts: bool = False
    state: bool = False
    mode: Mode = "egocentric"
    frame: Frame = "egocentric"
    image_size: int = 0
    image_grid: bool = False
    tell_rewards: Telling = "auto"

    @classmethod
    def of(cls, wanted: Collection[str], settings: Mapping[str, Any]) -> PromptInputs | None:
        """What a worker wants by its manifest, and how by the slot's settings.

        Args:
            wanted: Inputs that the worker names, of :data:`SHOWN`.
            settings: Of the slot; those named in :data:`VIEW_SETTINGS` are read.

        Returns:
            ``None`` where it wants nothing beside the observation.

        Raises:
            UsageError: A setting has a value that there is not.
        """
        if not SHOWN & set(wanted):
            return None
        size = settings.get("image_size", 0)
        if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size <= MAX_IMAGE:
            raise UsageError(
                f"image_size {size!r} is no number of pixels", fix=f"Give 0 (as drawn) to {MAX_IMAGE}"
            )
        grid = settings.get("image_grid", False)
        if not isinstance(grid, bool):
            raise UsageError(f"image_grid {grid!r} is neither true nor false")
        return cls(
            "text" in wanted,
            "image" in wanted,
            "messages" in wanted,
            "facts" in wanted,
            "state" in wanted,
            cast("Mode", _one_of("observation_mode", settings, MODES)),
            cast("Frame", _one_of("image_view", settings, FRAMES)),
            size,
            grid,
            cast("Telling", _one_of("tell_rewards", settings, TELLING)),
        )

    def refused(self, agent: str, pictures: Collection[str]) -> tuple[str, str]:
        """Why ``agent`` cannot be shown the picture that is wanted, and what to do; empty where it can.

        Args:
            agent: The seat.
            pictures: What it may be shown, of :data:`FRAMES`.
        """
        if not self.image or not pictures or self.frame in pictures:
            return "", ""
        return (
            f"image_view {self.frame!r} would show what {agent} may not see",
            f"Write image_view {next(iter(pictures))!r}: what {agent} itself sees",
        )


def _one_of(key: str, settings: Mapping[str, Any], known: tuple[str, ...]) -> str:
    value = settings.get(key, known[0])
    if value not in known:
        raise UnknownNameError(key, str(value), known)
    return value
