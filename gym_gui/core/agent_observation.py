"""Observation of one agent, in the form in which the window and pages show it to people."""

from __future__ import annotations

from msgspec import Struct

from gym_gui.core.drawing.packed_picture import PackedPicture
from gym_gui.core.types import AgentID


class AgentObservation(Struct, frozen=True):
    """What an agent observes when it is asked for an action.

    Attributes:
        agent: The agent (seat).
        step: Environment step of the decision.
        text: The observation as text; ``""`` if there is no text.
        fed: The numbers that the policy receives; ``""`` if :attr:`text` already contains them.
        preprocessing: Preprocessing that was applied to the observation, such as ``flatten, frame_stack
            4``; ``""`` for none.
        legal: Names of the legal actions; empty if all actions are legal.
        caption: Caption of the picture.
        picture: The observation if it is a picture, else a drawing of it; ``None`` if there is neither.
    """

    agent: AgentID
    step: int
    text: str = ""
    fed: str = ""
    preprocessing: str = ""
    legal: tuple[str, ...] = ()
    caption: str = ""
    picture: PackedPicture | None = None
