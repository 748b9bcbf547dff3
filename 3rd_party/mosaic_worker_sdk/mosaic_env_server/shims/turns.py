"""Base class that implements the bookkeeping of PettingZoo's AEC interface for games whose players take
turns.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple


class AECGame:
    """Base class of games for several players; a subclass defines moves and observations.

    Args:
        players: Names of the players.
    """

    def __init__(self, players: Sequence[str]) -> None:
        self.possible_agents = list(players)
        self.agents: List[str] = []
        self.agent_selection = self.possible_agents[0]
        self.rewards: Dict[str, float] = {}
        self._cumulative_rewards: Dict[str, float] = {}
        self.terminations: Dict[str, bool] = {}
        self.truncations: Dict[str, bool] = {}
        self.infos: Dict[str, Dict[str, Any]] = {}

    def play(self, action: Any) -> None:
        """Make a move of the selected player, then call :meth:`moved`."""
        raise NotImplementedError

    def observe(self, agent: str) -> Any:
        """Return the observation of a player."""
        raise NotImplementedError

    def begun(self, first: int) -> None:
        """Reset the bookkeeping at the beginning of an episode.

        Args:
            first: Number of the player who moves first.
        """
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = self.possible_agents[first]

    def moved(self, rewards: Sequence[float], following: int, over: bool, cut: bool = False) -> None:
        """Update rewards, ends and the selected player after a move.

        Args:
            rewards: Rewards of the move, by player.
            following: Number of the player who moves next.
            over: Whether the game has ended.
            cut: Whether the game was cut off.
        """
        for agent, reward in zip(self.possible_agents, rewards):
            self.rewards[agent] = float(reward)
            self._cumulative_rewards[agent] += float(reward)
        if over or cut:
            self.terminations = dict.fromkeys(self.agents, over)
            self.truncations = dict.fromkeys(self.agents, cut and not over)
        self.agent_selection = self.agents[0] if over or cut else self.possible_agents[following]

    def step(self, action: Any) -> None:
        """Make a move of the selected player; after the game's end the action must be ``None``."""
        mover = self.agent_selection
        if self.terminations[mover] or self.truncations[mover]:
            self._leave(mover)
            return
        self._cumulative_rewards[mover] = 0.0
        self.play(action)

    def _leave(self, agent: str) -> None:
        self.agents.remove(agent)
        books: Tuple[Dict[str, Any], ...] = (
            *(self.rewards, self._cumulative_rewards),
            *(self.terminations, self.truncations, self.infos),
        )
        for table in books:
            del table[agent]
        if self.agents:
            self.agent_selection = self.agents[0]

    def last(self, observe: bool = True) -> Tuple[Any, float, bool, bool, Mapping[str, Any]]:
        """Return observation, reward since the last move, terminated, truncated and info of the selected
        player.
        """
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def agent_iter(self, max_iter: Optional[int] = None) -> Iterator[str]:
        """Yield the selected player, turn by turn, until no player is left."""
        moves = 0
        while self.agents and (max_iter is None or moves < max_iter):
            moves += 1
            yield self.agent_selection
