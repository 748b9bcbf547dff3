"""Describes MiniGrid and BabyAI environments."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from gym_gui.core.experiment.prompt_inputs import Frame, Mode
from gym_gui.core.paradigms import RelativePosition
from gym_gui.core.spaces import to_space
from gym_gui.core.types import AgentID
from gym_gui.envs.describers import minigrid_rules
from gym_gui.envs.describers.describer import ActionWord, Limit
from gym_gui.envs.describers.generic import SpaceDescriber
from gym_gui.envs.describers.grid_words import (
    COLORS,
    COMPASS,
    MAP,
    THINGS,
    GridView,
    absolute,
    in_view,
    surroundings,
)
from gym_gui.envs.describers.other_words import Terms
from gym_gui.envs.facts import Fact, fact
from gym_gui.envs.pictures import Picture

_AGENT = 10
_TILE = 32
_LARGEST = 64
"""Side length from which an array is a picture in pixels and not a grid of cells."""
ACTIONS: Mapping[str, str] = {
    "left": "turn left on the spot",
    "right": "turn right on the spot",
    "forward": (
        "go one cell ahead, if you can walk on it: on free cells, open doors and the goal, not into walls, "
        "closed doors or things"
    ),
    "pickup": "take what lies in the cell directly ahead (key, ball or box), with empty hands",
    "drop": "put what you carry into the empty cell directly ahead",
    "toggle": (
        "open or close the door directly ahead (a locked one needs the key of its colour in your hands); "
        "open a box, which is gone then: what was in it is in its place"
    ),
    "done": "do nothing",
}
"""Meanings of MiniGrid's actions, which INI MultiGrid has, too."""


class MiniGridDescriber(SpaceDescriber):
    """Describes a view in MiniGrid: objects by name and position, relative to the agent."""

    def text(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> str:
        seen = _read_observation(observation)
        if seen is None:
            return super().text(agent, observation, mode)
        lines = [f"Mission: {seen.mission}"] if seen.mission else []
        state = [] if seen.direction is None else [f"You look {COMPASS[seen.direction]}."]
        if not seen.whole:
            state.append(f"You carry {f'a {seen.view.carried}' if seen.view.carried else 'nothing'}.")
        lines.append(" ".join(state))
        return "\n".join(filter(None, lines + surroundings(seen.view)))

    def can_state(self, agent: AgentID) -> bool:
        space = to_space(self.environment.adapter.observation_space(agent))
        image = space.spaces.get("image", space)
        return len(image.shape) == 3 and image.shape[2] == 3 and max(image.shape) < _LARGEST

    def facts(self, agent: AgentID, observation: Any, mode: Mode = "egocentric") -> Sequence[Fact]:
        seen = _read_observation(observation)
        if seen is None:
            return ()
        found = [fact("mission", seen.mission)] if seen.mission else []
        if seen.direction is not None:
            found.append(fact("looking", COMPASS[seen.direction]))
        found += seen.view.facts()
        return [each for each in found if not (seen.whole and each.predicate == "carrying")]

    def grid_view(self, observation: Any) -> GridView | None:
        """Return the decoded grid of an observation; ``None`` if the observation is a picture."""
        seen = _read_observation(observation)
        return None if seen is None else seen.view

    def game(self, agent: AgentID) -> str:
        environment = self.environment
        title, about = (
            environment.title,
            environment.summary,
        )
        parts = [
            f"You move on a grid of square cells with walls, in the game {title}.",
            about,
            self._aim(),
            *minigrid_rules.sentences(environment.env),
            meanings(environment.spec.id),
        ]
        return " ".join(part for part in parts if part)

    def limit(self, agent: AgentID) -> Limit:
        # BabyAI gives each mission its own limit, which `_aim` describes.
        game = self.environment.env
        fixed = getattr(game, "fixed_max_steps", True) or not minigrid_rules.pays(game)
        return Limit(int(game.max_steps) if fixed else None)

    def _aim(self) -> str:
        """Return sentences about rewards, with the time limit if each mission has its own."""
        game = self.environment.env
        if not minigrid_rules.pays(game):
            return "Nothing is rewarded."
        ends = "Do what the mission says: only when that is done are you rewarded, and the game ends."
        if getattr(game, "fixed_max_steps", True):
            return f"{ends} The reward is 1 - 0.9 x steps / {game.max_steps}."
        each = game.room_size**2 * game.num_rows * game.num_cols
        return (
            f"{ends} The reward is 1 - 0.9 x steps / limit; it ends after limit steps, which are {each} for "
            "each thing that the mission has you go to."
        )

    def reading(self, agent: AgentID, mode: Mode = "egocentric") -> str:
        game = self.environment.env
        return how_far(game.agent_view_size, game.see_through_walls)

    def actions(self, agent: AgentID) -> Sequence[ActionWord]:
        meanings = {**ACTIONS, **minigrid_rules.actions(self.environment.env)}
        return [ActionWord(word, meanings.get(word, "")) for word in self.environment.action_meanings(agent)]

    def terms(self, agent: AgentID) -> Terms:
        """Return kinds of objects, their colors, and the game's title as names that can be replaced."""
        return super().terms(agent)._replace(things=(*THINGS, *COLORS, self.environment.title))

    def sees_all(self, agent: AgentID) -> bool:
        """Return whether the agent observes the whole grid; most environments show only a part of it."""
        game, space = self.environment.env, to_space(self.environment.adapter.observation_space(agent))
        image = space.spaces.get("image", space)
        return image.shape[:2] == (game.width, game.height) != (game.agent_view_size,) * 2

    def can_draw(self, agent: AgentID) -> bool:
        return True

    def seat_picture(self, agent: AgentID, observation: Any) -> Picture | None:
        if self.sees_all(agent):
            return self.environment.picture()
        return self.environment.env.get_pov_render(_TILE)

    def legend(self, agent: AgentID) -> str:
        if self.sees_all(agent):
            return "In the picture you are the red triangle."
        return (
            "In the picture you are the red triangle in the middle of the lowest row, and look up. What you "
            "see is bright; of what is dark you know nothing."
        )

    def cells(self, agent: AgentID, frame: Frame) -> tuple[int, int]:
        game = self.environment.env
        own = self._is_own(agent, frame)
        return (game.agent_view_size, game.agent_view_size) if own else (game.height, game.width)

    def _is_own(self, agent: AgentID, frame: Frame) -> bool:
        """Return whether a picture shows only the cells of the agent's view."""
        return frame == "egocentric" and not self.sees_all(agent)

    def in_picture(self, agent: AgentID, place: RelativePosition, frame: Frame) -> tuple[int, int] | None:
        game = self.environment.env
        if self._is_own(agent, frame):
            return in_view(game.agent_view_size, *place)
        return absolute(game.agent_pos, int(game.agent_dir), *place)


class _Seen(NamedTuple):
    """Decoded MiniGrid observation.

    Attributes:
        view: The grid around the agent.
        mission: The agent's mission; ``""`` if there is none.
        direction: Number of the agent's direction; ``None`` if the observation does not contain it.
        whole: Whether the view shows the whole grid; such a view does not contain the carried object.
    """

    view: GridView
    mission: str
    direction: int | None
    whole: bool


def _read_observation(observation: Any) -> _Seen | None:
    """Return a decoded MiniGrid observation; ``None`` for a picture."""
    told: Mapping[str, Any] = {"image": observation}
    if isinstance(observation, Mapping):
        told = cast("Mapping[str, Any]", observation)
    if not _is_view(told.get("image")):
        return None
    image, mission = np.asarray(told["image"]), str(told.get("mission", ""))
    direction = int(told["direction"]) if "direction" in told else None
    agents = image[:, :, 0] == _AGENT
    if np.count_nonzero(agents) == 1:
        image, direction, stands = _turned(image, *np.argwhere(agents)[0])
        return _Seen(GridView(image, stands=stands), mission, direction, whole=True)
    return _Seen(GridView(image), mission, direction, whole=False)


def how_far(size: int, through: bool) -> str:
    """Return sentences about the size of a view and the form of positions, for prompts.

    Args:
        size: Side length of the view in cells; the agent is in the middle of the bottom row.
        through: Whether the view shows cells behind walls.
    """
    return (
        f"You see {size - 1} cells ahead and {size // 2} to each side, {'also' if through else 'but not'} "
        "through walls and closed doors. Places are counted in cells from where you stand: "
        '"2 ahead, 1 left" is two cells in the direction you look, then one to your left. '
        f"They change when you turn or move. {MAP}"
    )


def _is_view(image: Any) -> bool:
    """Return whether an array is a grid of cells and not a picture."""
    shape = getattr(image, "shape", ())
    return len(shape) == 3 and shape[2] == 3 and max(shape) < _LARGEST


def _turned(image: NDArray[Any], x: int, y: int) -> tuple[NDArray[Any], int, tuple[int, int]]:
    """Return the grid turned so that the agent at (x, y) looks up, the agent's direction, and its cell."""
    facing = int(image[x, y, 2])
    turned = np.rot90(image, -(facing + 1))
    ((x, y),) = np.argwhere(turned[:, :, 0] == _AGENT)
    return turned, facing, (int(x), int(y))


# -- meaning of BabyAI's missions ----------------------------------------------------------


_MIXED = ("Synth*", "*BossLevel*")
_PLACED = ("SynthLoc-*", "SynthSeq-*", "*BossLevel*")


class MissionPhrase(NamedTuple):
    """Words of BabyAI's missions and their meaning.

    Attributes:
        words: Words as missions contain them.
        meaning: A full sentence.
        tasks: Patterns of the tasks whose missions contain the words, without ``BabyAI-``.
    """

    words: str
    meaning: str
    tasks: Sequence[str]


PHRASES = (
    MissionPhrase(
        "go to",
        '"Go to X" is done as soon as X is in the cell directly ahead of you.',
        ("GoTo*", "ActionObjDoor-*", *_MIXED),
    ),
    MissionPhrase(
        "open",
        '"Open X" is done when you open that door (toggle); one that is open already has to be closed first.',
        ("Open*", "Unlock-*", "UnlockLocal*", "KeyInBox-*", "ActionObjDoor-*", *_MIXED),
    ),
    MissionPhrase(
        "next to",
        '"Put X next to Y" is done when you drop X in a cell that shares a side with that of Y.',
        ("PutNext*", "MoveTwoAcross*", *_MIXED),
    ),
    MissionPhrase(
        "after you",
        '"A after you B" means B first, then A.',
        ("GoToSeq*", "OpenDoorsOrder*", "SynthSeq-*", "*BossLevel*"),
    ),
    MissionPhrase(
        "you",
        '"In front of you", "behind you", "on your left" and "on your right" mean from where you stand and '
        "look at the beginning, of things in that room.",
        ("OpenDoor-*", "OpenDoorDebug-*", "OpenDoorLoc-*", "PickupLoc-*", *_PLACED),
    ),
)


def meanings(env_id: str) -> str:
    """Return sentences that explain the words in BabyAI's missions; ``""`` for other environments."""
    task = env_id.removeprefix("BabyAI-")
    if task == env_id:
        return ""
    told = (
        phrase.meaning for phrase in PHRASES if any(fnmatch.fnmatchcase(task, name) for name in phrase.tasks)
    )
    return " ".join(told)
