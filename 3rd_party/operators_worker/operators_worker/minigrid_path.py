"""A path-finder for MiniGrid and BabyAI.

Sees: its partial view (``image``), the compass (``direction``) and the ``mission`` text of
its slot. Strategy: draw a map of what has been seen, plan shortest paths over poses, go to
the goal or the named object as soon as it is on the map, and until then to the nearest
place from which something new is seen. Opens doors, fetches the key of a locked door,
lifts things out of the way. Does the tasks of a compound mission one after the other.
Missions it cannot read (the memory corridor) are answered with ``Invalid``.

Measured strength, share of 200 episodes solved within the step limit: 1.0 on Empty-8x8,
Empty-Random-6x6, FourRooms, DoorKey-6x6 and -16x16, MultiRoom-N6, KeyCorridorS6R3,
LavaCrossingS9N3, BabyAI-GoToRedBall, -GoToRedBallGrey and -GoTo; of 100 episodes, 0.95 on
BabyAI-BossLevel and 0.9 on BabyAI-MiniBossLevel. Dynamic obstacles are not foreseen.
"""

from __future__ import annotations

from typing import Any

from mosaic_worker.worker import Batch, Invalid, Slot
from operators_worker.behavior import EpisodicBehavior, require
from operators_worker.minigrid_guide import Guide
from operators_worker.minigrid_mission import parse_mission


class MiniGridPath(EpisodicBehavior[list[Guide]]):
    """Plays MiniGrid and BabyAI slots."""

    def __init__(self, slot: Slot) -> None:
        super().__init__(slot)
        parts = slot.observation_space.spaces
        image = parts.get("image")
        fits = (
            image is not None
            and len(image.shape) == 3
            and image.shape[0] == image.shape[1]
            and image.shape[0] % 2 == 1
            and image.shape[2] == 3
            and {"direction", "mission"} <= set(parts)
        )
        needs = "MiniGrid's partial view: a Dict of image (V, V, 3) with odd V, direction and mission"
        require(fits, "minigrid_path", needs, slot)
        seven = slot.action_space.kind == "Discrete" and slot.action_space.n == 7
        require(seven, "minigrid_path", "MiniGrid's seven actions", slot)

    def new_state(self, seed: int, agent_id: str) -> list[Guide]:
        return []

    def act(self, state: list[Guide], batch: Batch, i: int) -> Any:
        views = batch.observations
        if not state:  # the mission is read from the first observation
            tasks = parse_mission(str(views["mission"][i]))
            if tasks is None:
                return Invalid(f"minigrid_path does not understand the mission {str(views['mission'][i])!r}")
            state.append(Guide(tasks))
        return state[0].act(views["image"][i], int(views["direction"][i]))
