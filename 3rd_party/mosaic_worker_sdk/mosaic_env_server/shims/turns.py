"""Taking turns: what PettingZoo's AEC interface keeps the books of, for games that say who moves."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple


class TakesTurns:
    """Base of games for several players; a game says how it moves and what a player sees.

    Args:
        players: Their names.
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
        """A move of the selected player; it ends in :meth:`moved`."""
        raise NotImplementedError

    def observe(self, agent: str) -> Any:
        """What a player sees."""
        raise NotImplementedError

    def begun(self, first: int) -> None:
        """An episode has begun.

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
        """A move was made.

        Args:
            rewards: What it was worth, by player.
            following: Number of the player who moves next.
            over: Whether the game has ended.
            cut: Whether it was cut off.
        """
        for agent, reward in zip(self.possible_agents, rewards):
            self.rewards[agent] = float(reward)
            self._cumulative_rewards[agent] += float(reward)
        if over or cut:
            self.terminations = dict.fromkeys(self.agents, over)
            self.truncations = dict.fromkeys(self.agents, cut and not over)
        self.agent_selection = self.agents[0] if over or cut else self.possible_agents[following]

    def step(self, action: Any) -> None:
        """A move of the selected player; ``None`` once the game is over."""
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
        """Of the selected player: observation, reward since its last move, terminated, truncated, info."""
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def agent_iter(self, max_iter: Optional[int] = None) -> Iterator[str]:
        """The selected player, turn by turn."""
        moves = 0
        while self.agents and (max_iter is None or moves < max_iter):
            moves += 1
            yield self.agent_selection
