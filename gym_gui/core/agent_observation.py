"""What one agent sees: its observation as its policy gets it, for people who watch."""

from __future__ import annotations

from msgspec import Struct

from gym_gui.core.drawing.packed_picture import PackedPicture
from gym_gui.core.types import AgentID


class AgentObservation(Struct, frozen=True):
    """What an agent is shown with a question, and nothing else.

    Attributes:
        agent: Whose (seat).
        step: Environment step of the question.
        text: What it sees, in words; ``""`` where there are none.
        fed: The numbers that its policy gets; ``""`` where :attr:`text` has them already.
        preprocessing: What was done to the observation before, ``flatten, frame_stack 4``; ``""``: nothing.
        legal: Words of the actions that are legal, where not all are.
        caption: What the picture is.
        picture: The observation itself where it is a picture, else what the agent sees, drawn; ``None``
            where there is neither.
    """

    agent: AgentID
    step: int
    text: str = ""
    fed: str = ""
    preprocessing: str = ""
    legal: tuple[str, ...] = ()
    caption: str = ""
    picture: PackedPicture | None = None
