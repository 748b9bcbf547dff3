"""How well search plays connect four: both sides in one run.

    python scripts/bench/bench_search.py [--games 200] [--seconds 0.1] [--simulations 0] [--json FILE]

* MCTS with a time for each move against the heuristic that looks one move ahead: share of games won.
* The same against itself with half that time: share of games won or drawn.

Each side begins half of the games. One game is played after the other, so that no two players think at
the same time. Time is the machine's: where other programs use it too, 100 ms are fewer simulations, and the
script prints how many there were. ``--simulations`` counts those in place of time, and then games repeat.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import Figure, Figures

from gym_gui import evaluate

TASK = "classic/connect_four_v3"
SEATS = ("player_0", "player_1")
ONE_PLY = {
    "type": "baseline",
    "worker_id": "operators_worker",
    "settings": {"behavior": "connect_four_one_ply"},
}
Slot = Mapping[str, Any]


def searching(seconds: float, simulations: int) -> Slot:
    """A slot that searches so long, or so often where ``simulations`` is not 0."""
    limit = {"simulations": simulations} if simulations else {"seconds": seconds}
    return {"type": "planner", "worker_id": "openspiel_worker", "settings": limit}


def play(hero: Slot, other: Slot, games: int, folder: Path) -> tuple[list[float], float]:
    """Returns of the hero's games, from both seats in turn; and its median number of simulations a move."""
    returns: list[float] = []
    counts: list[int] = []
    half = (games + 1) // 2
    for seat, seeds in zip(SEATS, (range(half), range(half, games)), strict=True):
        if not seeds:
            continue
        players = {each: hero if each == seat else other for each in SEATS}
        results = evaluate(TASK, players, seeds=seeds, concurrency=1, out=folder)
        returns += results.returns(seat).tolist()
        for operator in results.run.operators.values():
            rows = [line.value for line in operator.step_lines() if line.value["agent_id"] == seat]
            counts += [row["search"]["simulations"] for row in rows]
    return returns, statistics.median(counts)


def figure(name: str, goal: float, returns: Sequence[float], draws: bool, count: float) -> Figure:
    """Share of games won, or won and drawn, held against its goal."""
    won, drawn = sum(r > 0 for r in returns), sum(r == 0 for r in returns)
    share = (won + drawn * draws) / len(returns)
    lost = len(returns) - won - drawn
    detail = f"{won} won, {drawn} drawn, {lost} lost; {count:,.0f} simulations a move (median)"
    return Figure(name, f"≥ {goal:.0%}", 100 * share, "%", share >= goal, detail)


def main() -> int:
    """Play, and print both figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--simulations", type=int, default=0)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    hero = searching(asked.seconds, asked.simulations)
    half = searching(asked.seconds / 2, asked.simulations // 2)
    figures = Figures()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)

        def against(name: str, goal: float, other: Slot, draws: bool) -> Figure:
            returns, count = play(hero, other, asked.games, place)
            return figure(name, goal, returns, draws, count)

        one, two = "against one move ahead", "against half the budget"
        figures.take(one, lambda: against(one, 0.95, ONE_PLY, draws=False))
        figures.take(two, lambda: against(two, 0.60, half, draws=True))
    return figures.told(asked.json)


if __name__ == "__main__":
    raise SystemExit(main())
