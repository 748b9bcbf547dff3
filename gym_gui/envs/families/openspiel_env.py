"""OpenSpiel's games through Shimmy, with corrected rewards."""

# Shimmy has no type annotations, so its objects are Any.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

from shimmy.openspiel_compatibility import OpenSpielCompatibilityV0

from gym_gui.core.errors import UsageError


class OpenSpielEnv(OpenSpielCompatibilityV0):
    """PettingZoo AEC environment of an OpenSpiel game, with a text picture (``render_mode="ansi"``).

    It corrects Shimmy 2.0 in three points. Rewards: an agent gets the increase of the game's ``returns()``,
    while Shimmy pays the last rewards again with each dead step, and those of the last round with each
    partial simultaneous move. Length: only moves count toward the game's maximum length, while Shimmy also
    counts chance events and so truncates card games. Parameters: each episode uses those in the game's name.
    """

    metadata = {**OpenSpielCompatibilityV0.metadata, "render_modes": ["human", "ansi"]}  # noqa: RUF012

    def __init__(self, game_name: str, **settings: Any) -> None:
        self._written = game_name
        super().__init__(game_name=game_name, **settings)

    @property
    def game_name(self) -> str:
        """Name of the game with its parameters, of which Shimmy would keep only the first word."""
        return self._written

    @game_name.setter
    def game_name(self, name: str) -> None:
        pass

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self._paid = [0.0] * len(self.possible_agents)
        super().reset(seed=seed, options=options)
        self.game_length = 0  # in moves; Shimmy begins with 1 and so reports a full-length game as truncated

    def step(self, action: Any) -> None:
        """Play a move.

        Raises:
            UsageError: The action is illegal. Some games (negotiation) would accept it and crash the process.
        """
        agent = self.agent_selection
        if not (self.terminations[agent] or self.truncations[agent]):
            legal = self.game_state.legal_actions(self.agent_name_id_mapping[agent])
            if legal and int(action) not in legal:
                raise UsageError(f"action {int(action)} is not legal for {agent} now")
        super().step(action)

    def _execute_chance_node(self) -> None:
        length = self.game_length
        super()._execute_chance_node()
        self.game_length = length

    def _update_rewards(self) -> None:
        now = [float(r) for r in self.game_state.returns()]
        self.rewards = {
            agent: now[i] - self._paid[i]
            for agent, i in self.agent_name_id_mapping.items()
            if agent in self.agents
        }
        self._paid = now

    def _end_routine(self) -> bool:
        ended = super()._end_routine()
        if ended:
            self._clear_rewards()
        return ended

    def render(self) -> Any:
        if self.render_mode == "ansi":
            return str(self.game_state)
        return super().render()
