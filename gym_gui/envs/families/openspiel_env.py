"""Shimmy's OpenSpiel environment with its rewards put right."""

# Shimmy is untyped: what comes from it is Any.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

from shimmy.openspiel_compatibility import OpenSpielCompatibilityV0

from gym_gui.core.errors import UsageError


class OpenSpielEnv(OpenSpielCompatibilityV0):
    """OpenSpiel as PettingZoo AEC.

    Shimmy 2.0 pays the last rewards again with every dead step (tic-tac-toe ends
    +1 / -2), and at nodes where several players move at once pays the rewards of the
    round before with every partial move. Here an agent earns what the game's own
    ``returns()`` grew by. Shimmy also counts the deals and dice of chance against the
    game's greatest length, which counts moves, and so cut card games off in the middle
    (Kuhn poker after one bet); here only moves count. Also renders as text
    (``render_mode="ansi"``).
    """

    metadata = {**OpenSpielCompatibilityV0.metadata, "render_modes": ["human", "ansi"]}  # noqa: RUF012

    def __init__(self, game_name: str, **settings: Any) -> None:
        self._written = game_name
        super().__init__(game_name=game_name, **settings)

    @property
    def game_name(self) -> str:
        """What each episode loads: the game as it was written out, of which Shimmy keeps the first word."""
        return self._written

    @game_name.setter
    def game_name(self, name: str) -> None:
        pass

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self._paid = [0.0] * len(self.possible_agents)
        super().reset(seed=seed, options=options)
        self.game_length = 0  # of moves; Shimmy begins with 1 and takes a full-length game for a cut one

    def step(self, action: Any) -> None:
        """A move.

        Raises:
            UsageError: It is not legal: a few games (negotiation) take such a one, and the process, down.
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
