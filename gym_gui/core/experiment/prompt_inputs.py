"""Inputs that a slot receives besides its observation, such as text and pictures, and their form."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from gym_gui.core.errors import UnknownNameError, UsageError

Mode = Literal["egocentric", "visible_teammates"]
Frame = Literal["egocentric", "whole"]
Telling = Literal["auto", "always", "never"]
Renaming = Literal["none", "actions", "objects", "both"]
MODES: tuple[Mode, ...] = ("egocentric", "visible_teammates")
FRAMES: tuple[Frame, ...] = ("egocentric", "whole")
TELLING: tuple[Telling, ...] = ("auto", "always", "never")
RENAMING: tuple[Renaming, ...] = ("none", "actions", "objects", "both")
MAX_IMAGE = 2048

OTHER_ACTIONS: Final = "other_actions"
OTHER_OBJECTS: Final = "other_objects"
HIDDEN_LEGAL: Final = "hidden_legal"
ON_PICTURES: Final = "names_on_pictures"
"""What a slot offers: its actions, or objects, can be renamed; its legal actions can be withheld; its names
are marks that a picture also shows."""

SHOWN: Final = frozenset({"text", "image", "messages", "facts", "state"})
"""Inputs that a slot can receive besides its observation."""
VIEW_SETTINGS: Final = ("observation_mode", "image_view", "image_size", "image_grid", "tell_rewards")
"""Settings of a slot that :meth:`PromptInputs.of` reads."""


@dataclass(frozen=True)
class PromptInputs:
    """Inputs of one slot, besides its observation.

    Attributes:
        text: Whether the slot receives the observation as text.
        image: Whether the slot receives a picture.
        messages: Whether the slot receives messages of teammates.
        facts: Whether the slot receives the observation as ground facts.
        state: Whether the slot receives the simulator's whole state, which no player observes.
        mode: ``egocentric``: only what the agent itself observes; ``visible_teammates``: also position,
            direction and load of the teammates in its field of view.
        frame: ``egocentric``: a picture of what the agent may see; ``whole``: the whole picture, which is
            refused to seats from which the game would hide part of it.
        image_size: Longest side of the picture in pixels; 0: as it is drawn.
        image_grid: Whether to draw a grid with row and column numbers over the picture.
        tell_rewards: Whether the slot receives the rewards of its actions; ``auto``: only if they reveal
            nothing that the agent may not know.
        rename: What is renamed throughout the run; ``both``: everything that can be renamed.
        rename_seed: Seed that selects the new names; slots of an environment with the same seed get the
            same names.
        hide_legal: Whether to withhold which actions are legal.
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
    rename: Renaming = "none"
    rename_seed: int = 0
    hide_legal: bool = False

    @classmethod
    def of(cls, wanted: Collection[str], settings: Mapping[str, Any]) -> PromptInputs | None:
        """Return the inputs that a worker's manifest requests, in the form that the slot's settings choose.

        Args:
            wanted: Inputs that the worker names, from :data:`SHOWN`.
            settings: Settings of the slot. Read are those in :data:`VIEW_SETTINGS` and, if the worker has
                them, ``rename``, ``rename_seed`` and ``hide_legal``.

        Returns:
            The inputs; ``None`` if the worker requests none besides the observation.

        Raises:
            UsageError: A setting has a value that is not allowed.
        """
        if not SHOWN & set(wanted):
            return None
        size = settings.get("image_size", 0)
        if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size <= MAX_IMAGE:
            raise UsageError(
                f"image_size {size!r} is not a number of pixels", fix=f"Give 0 (as drawn) to {MAX_IMAGE}"
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
            cast("Renaming", _one_of("rename", settings, RENAMING)),
            _seed(settings.get("rename_seed", 0)),
            settings.get("hide_legal") is True,
        )

    @property
    def retold(self) -> bool:
        """Whether the slot gets changed names, or no list of legal actions."""
        return self.rename != "none" or self.hide_legal

    def cannot_be_retold(self, offers: Collection[str], env_id: str) -> str:
        """Return why names cannot be changed or legal actions withheld as requested; empty if they can.

        Args:
            offers: Features of the slot, among them :data:`OTHER_ACTIONS`, :data:`OTHER_OBJECTS` and
                :data:`HIDDEN_LEGAL`.
            env_id: The environment, for the sentence.
        """
        if self.hide_legal and HIDDEN_LEGAL not in offers:
            return f"hide_legal: answers in {env_id} can only be read by the legal actions"
        if self.rename == "none":
            return ""
        if self.image and ON_PICTURES in offers:
            return f"rename {self.rename!r}: the picture of {env_id} shows names that the text would change"
        wanted = {"actions": {OTHER_ACTIONS}, "objects": {OTHER_OBJECTS}}
        if (wanted.get(self.rename) or {OTHER_ACTIONS, OTHER_OBJECTS}) & set(offers):
            return ""
        what = {"actions": "no action of", "objects": "nothing in"}.get(self.rename, "nothing in")
        return f"rename {self.rename!r}: {what} {env_id} can be given another name"

    def refused(self, agent: str, pictures: Collection[str]) -> tuple[str, str]:
        """Return why ``agent`` cannot receive the requested picture, and what to do; empty texts if it can.

        Args:
            agent: The seat.
            pictures: Pictures that the seat may receive, from :data:`FRAMES`.
        """
        if not self.image or not pictures or self.frame in pictures:
            return "", ""
        return (
            f"image_view {self.frame!r} would show what {agent} may not see",
            f"Write image_view {next(iter(pictures))!r}: what {agent} itself sees",
        )


def _seed(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UsageError(f"rename_seed {value!r} is not a seed", fix="Give a whole number from 0 on")
    return value


def _one_of(key: str, settings: Mapping[str, Any], known: tuple[str, ...]) -> str:
    value = settings.get(key, known[0])
    if value not in known:
        raise UnknownNameError(key, str(value), known)
    return value
