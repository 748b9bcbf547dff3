"""Overcooked-AI with PettingZoo's Parallel interface: cooks who act simultaneously.

https://github.com/HumanCompatibleAI/overcooked_ai: the cooks fetch ingredients, cook and serve soups, and get
the same reward.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from mosaic_env_server.shims.shapes import box, discrete
from mosaic_worker.spaces import Space

_WORDS = ("up", "down", "right", "left", "stay", "interact")
_FACING = {(0, -1): "up", (0, 1): "down", (1, 0): "right", (-1, 0): "left"}
_PLACES = {"P": "pot", "O": "onions", "T": "tomatoes", "D": "dishes", "S": "serving counter", "X": "counter"}
_MOST = 255


class Overcooked:
    """One kitchen of Overcooked-AI.

    Args:
        layout: Name of the kitchen, for example ``cramped_room``.
        horizon: Steps of an episode.
        shaped: Whether steps toward a soup are rewarded too, as in the package's own trainings.
        render_mode: ``rgb_array``, or ``None`` for no rendering.
    """

    def __init__(
        self,
        layout: str,
        horizon: int = 400,
        shaped: bool = False,
        render_mode: Optional[str] = None,
    ) -> None:
        from overcooked_ai_py.mdp.actions import Action
        from overcooked_ai_py.mdp.overcooked_env import OvercookedEnv
        from overcooked_ai_py.mdp.overcooked_mdp import OvercookedGridworld

        self.render_mode, self._shaped = render_mode, shaped
        self._mdp = OvercookedGridworld.from_layout_name(layout)
        self._env = OvercookedEnv.from_mdp(self._mdp, horizon=horizon, info_level=0)
        self._actions: List[Any] = list(Action.ALL_ACTIONS)
        self.possible_agents = [f"cook_{i}" for i in range(self._mdp.num_players)]
        self.agents: List[str] = []
        self._horizon, self._steps, self._delivered = horizon, 0, 0
        self._env.reset(regen_mdp=False)
        shape = self._encoded()[0].shape
        self._sees, self._does = box(shape, np.uint8, 0, _MOST), discrete(len(_WORDS))
        self.metadata: Mapping[str, Any] = {
            "render_modes": ["rgb_array"],
            "render_fps": 5,
            "action_meanings": list(_WORDS),
            "noop": _WORDS.index("stay"),
            "hidden_information": False,
            "teams": {"cooks": list(self.possible_agents)},
        }

    def observation_space(self, agent: str) -> Space:
        """Return the observation space: feature planes of the kitchen, with the agent's own planes first."""
        return self._sees

    def action_space(self, agent: str) -> Space:
        """Return the action space, with six actions."""
        return self._does

    def reset(
        self, seed: Optional[int] = None, options: Optional[Mapping[str, Any]] = None
    ) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """Begin an episode; the seed is ignored because nothing is random."""
        self._env.reset(regen_mdp=False)
        self.agents, self._steps, self._delivered = list(self.possible_agents), 0, 0
        return self._seen(), {agent: {} for agent in self.agents}

    def step(self, actions: Mapping[str, Any]) -> Tuple[Dict[str, Any], ...]:
        """Do one step: all cooks act simultaneously."""
        joint = tuple(self._actions[int(actions[agent])] for agent in self.agents)
        _, served, over, info = self._env.step(joint)
        self._steps += 1
        self._delivered += int(served > 0)
        cooks = self.agents
        extra = info["shaped_r_by_agent"] if self._shaped else [0] * len(cooks)
        rewards = {agent: float(served) + float(extra[i]) for i, agent in enumerate(cooks)}
        cut = bool(over) and self._steps >= self._horizon
        seen = self._seen()
        if over:
            self.agents = []
        return (
            seen,
            rewards,
            {agent: bool(over) and not cut for agent in cooks},
            dict.fromkeys(cooks, cut),
            {agent: {} for agent in cooks},
        )

    def _encoded(self) -> Any:
        return self._mdp.lossless_state_encoding(self._env.state, horizon=self._horizon)

    def _seen(self) -> Dict[str, Any]:
        planes = self._encoded()
        return {
            agent: np.clip(planes[i], 0, _MOST).astype(np.uint8)
            for i, agent in enumerate(self.possible_agents)
        }

    # -- in words

    def mosaic_briefing(self, agent: str) -> str:
        """Return a description of the game and of the kitchen's fixed layout."""
        soups = "; ".join(self._recipe(order) for order in self._mdp.start_all_orders)
        kitchen = "\n".join("".join(str(cell) for cell in row) for row in self._mdp.terrain_mtx)
        return (
            f"You are {agent}, one of {len(self.possible_agents)} cooks who are paid together for "
            f"every soup they serve. Wanted soups: {soups}. Put ingredients into a pot one by one, start it "
            "by interacting with it, wait until the soup is done, take it with a dish and bring it to the "
            "serving counter. You hold one thing at a time, and interact with what you face; turning towards "
            "something that is in your way only turns you.\n"
            "The kitchen (X counter, P pot, O onions, T tomatoes, D dishes, S serving counter, space floor), "
            f"places as (column, row) from the top left:\n{kitchen}"
        )

    def _recipe(self, order: Any) -> str:
        ingredients = order["ingredients"] if isinstance(order, dict) else order
        return " and ".join(f"{ingredients.count(kind)} {kind}" for kind in sorted(set(ingredients)))

    def mosaic_text(self, agent: str) -> str:
        """Return the positions and objects of all cooks, and the contents of counters and pots, as text."""
        state, own = self._env.state, self.possible_agents.index(agent)
        lines = []
        for i, cook in enumerate(state.players):
            who = "You stand" if i == own else f"{self.possible_agents[i]} stands"
            ahead = (cook.position[0] + cook.orientation[0], cook.position[1] + cook.orientation[1])
            holds = _thing(cook.held_object) if cook.has_object() else "nothing"
            place = _PLACES.get(self._mdp.get_terrain_type_at_pos(ahead), "floor")
            lines.append(
                f"{who} at {tuple(cook.position)}, facing {_FACING[tuple(cook.orientation)]} ({place}), "
                f"holding {holds}."
            )
        for place, thing in sorted(state.objects.items()):
            where = _PLACES.get(self._mdp.get_terrain_type_at_pos(place), "floor")
            lines.append(f"On the {where} at {tuple(place)}: {_thing(thing)}.")
        for place in self._mdp.get_pot_locations():
            if place not in state.objects:
                lines.append(f"The pot at {tuple(place)} is empty.")
        lines.append(f"Soups served: {self._delivered}. Steps left: {self._horizon - self._steps}.")
        return "\n".join(lines)

    def mosaic_facts(self, agent: str) -> List[List[Any]]:
        """Return the observation as ground facts."""
        state, facts = self._env.state, []
        for i, cook in enumerate(state.players):
            name = "me" if self.possible_agents[i] == agent else self.possible_agents[i]
            facts.append(["cook", name, *map(int, cook.position), _FACING[tuple(cook.orientation)]])
            facts.append(["holds", name, cook.held_object.name if cook.has_object() else "nothing"])
        for place, thing in sorted(state.objects.items()):
            if thing.name == "soup":
                stage = "ready" if thing.is_ready else "cooking" if thing.is_cooking else "idle"
                facts.append(["soup", *map(int, place), len(thing.ingredients), stage])
            else:
                facts.append(["lies", thing.name, *map(int, place)])
        for y, row in enumerate(self._mdp.terrain_mtx):
            for x, cell in enumerate(row):
                if cell in "POTDS":
                    facts.append(["place", _PLACES[cell].replace(" ", "_"), x, y])
        return facts

    def render(self) -> Any:
        """Return an image of the kitchen."""
        import pygame
        from overcooked_ai_py.visualization.state_visualizer import StateVisualizer

        surface = StateVisualizer().render_state(self._env.state, grid=self._mdp.terrain_mtx)
        return np.transpose(pygame.surfarray.array3d(surface), (1, 0, 2))

    def close(self) -> None:
        """Do nothing; the environment holds no resources."""


def _thing(thing: Any) -> str:
    if thing.name != "soup":
        return f"{'an' if thing.name[0] in 'aeiou' else 'a'} {thing.name}"
    held = list(thing.ingredients)
    of = ", ".join(f"{held.count(kind)} {kind}" for kind in sorted(set(held))) or "nothing"
    if thing.is_ready:
        return f"a soup of {of}, done"
    if thing.is_cooking:
        return f"a soup of {of}, done in {thing.cook_time_remaining} steps"
    return f"a soup of {of}, not yet cooking"
