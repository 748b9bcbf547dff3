"""Jumanji: puzzles, packing, routing and team tasks on grids, computed with JAX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from gym_gui.envs.families.pgx import JAX, compiled_once
from gym_gui.envs.families.served import OwnPythonFamily
from gym_gui.envs.spec import EnvSpec

if TYPE_CHECKING:
    from gym_gui.envs.remote_env import InstanceRequest

_BEGIN_S = 900.0
"""Time limit in seconds for starting an episode; before the first, JAX compiles functions."""


_UNDRAWN = ("GraphColoring", "MMST")
"""Environments without pictures, because Jumanji takes over 30 s to lay out the graph of each episode."""


class _Task(NamedTuple):
    title: str
    summary: str
    page: str
    together: bool = False


_TASKS: Mapping[str, _Task] = {
    "Game2048-v1": _Task(
        "2048", "Slide numbered tiles; equal ones that meet become one of twice the value.", "game_2048"
    ),
    "GraphColoring-v1": _Task(
        "Graph colouring", "Colour nodes so that neighbours differ, with few colours.", "graph_coloring"
    ),
    "Minesweeper-v0": _Task("Minesweeper", "Uncover a field without touching its mines.", "minesweeper"),
    "RubiksCube-v0": _Task("Rubik's cube", "Turn a scrambled cube back.", "rubiks_cube"),
    "RubiksCube-partly-scrambled-v0": _Task(
        "Rubik's cube, partly scrambled", "Turn back a cube that was scrambled by seven turns.", "rubiks_cube"
    ),
    "SlidingTilePuzzle-v0": _Task(
        "Sliding tiles", "Put tiles in order by moving the gap among them.", "sliding_tile_puzzle"
    ),
    "Sudoku-v0": _Task("Sudoku", "Fill in digits; none twice in a row, column or box.", "sudoku"),
    "Sudoku-very-easy-v0": _Task("Sudoku, very easy", "Fill in the few digits that lack.", "sudoku"),
    "BinPack-v2": _Task("Bin packing", "Pack boxes into a container in three dimensions.", "bin_pack"),
    "FlatPack-v0": _Task("Flat packing", "Fill a grid with blocks that may be turned.", "flat_pack"),
    "JobShop-v0": _Task("Job shop", "Give jobs to machines so that all are soon done.", "job_shop"),
    "Knapsack-v1": _Task("Knapsack", "Pack the most valuable items that are not too heavy.", "knapsack"),
    "Tetris-v0": _Task("Tetris", "Drop pieces so that they fill lines.", "tetris"),
    "CVRP-v1": _Task(
        "Vehicle routing", "Visit customers on short ways with a vehicle that has to refill.", "cvrp"
    ),
    "Maze-v0": _Task("Maze", "Find the way to a target.", "maze"),
    "PacMan-v1": _Task("Pac-Man", "Eat all pellets and keep away from ghosts.", "pac_man"),
    "Snake-v1": _Task("Snake", "Eat fruit, grow, and do not bite yourself.", "snake"),
    "TSP-v1": _Task("Travelling salesman", "Visit all cities on a short tour.", "tsp"),
    "Cleaner-v0": _Task("Cleaner", "Clean all floors of a maze together.", "cleaner", together=True),
    "Connector-v3": _Task(
        "Connector", "Ten agents lay lines to their targets without crossing.", "connector", together=True
    ),
    "LevelBasedForaging-v0": _Task(
        "Level-based foraging",
        "Collect food together that is too heavy for one alone.",
        "lbf",
        together=True,
    ),
    "MMST-v0": _Task(
        "Multi minimum spanning tree", "Each agent connects its own nodes of a graph.", "mmst", together=True
    ),
    "MultiCVRP-v0": _Task(
        "Vehicle routing for several",
        "Vehicles share customers who want to be visited in time.",
        "multi_cvrp",
        together=True,
    ),
    "RobotWarehouse-v0": _Task(
        "Robot warehouse",
        "Robots bring shelves that were asked for to the goals, and do not collide.",
        "robot_warehouse",
        together=True,
    ),
    "SearchAndRescue-v0": _Task(
        "Search and rescue",
        "Drones find targets that move, each with a view of its own.",
        "search_and_rescue",
        together=True,
    ),
}


class JumanjiFamily(OwnPythonFamily):
    """Family of Jumanji's environments, under ids such as ``jumanji/Snake-v1``.

    Sokoban is left out, because it downloads its levels whenever it is made.
    """

    name: ClassVar[str] = "jumanji"
    title: ClassVar[str] = "Jumanji"
    prefixes: ClassVar[tuple[str, ...]] = ("jumanji/",)
    closed: ClassVar[bool] = True
    requirements: ClassVar[tuple[str, ...]] = ("jumanji==1.1.2", JAX)
    imports: ClassVar[tuple[str, ...]] = ("jumanji",)
    documented: ClassVar[bool] = False

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        entry = "mosaic_env_server.shims.jumanji:make"
        return [
            self.spec(f"jumanji/{name}", entry, apis=("parallel" if task.together else "gymnasium",))
            for name, task in _TASKS.items()
        ]

    @property
    def server_variables(self) -> Mapping[str, str]:  # type: ignore[override]
        return {**compiled_once(self.name), "MPLBACKEND": "Agg"}

    def wanted(self, spec: EnvSpec, arguments: Mapping[str, Any]) -> InstanceRequest:
        return replace(super().wanted(spec, {"env": spec.short_id, **arguments}), begin_s=_BEGIN_S)

    def hidden_information(self, spec: EnvSpec) -> bool:
        """Return ``True`` for several agents, which cannot see each other's simultaneous actions."""
        return _TASKS[spec.short_id].together

    def title_of(self, spec: EnvSpec) -> str:
        return _TASKS[spec.short_id].title

    def summary(self, spec: EnvSpec) -> str:
        return _TASKS[spec.short_id].summary

    def doc_url(self, spec: EnvSpec) -> str:
        return f"https://instadeepai.github.io/jumanji/environments/{_TASKS[spec.short_id].page}/"

    def render_modes(self, spec: EnvSpec) -> tuple[str, ...]:
        return () if spec.short_id.startswith(_UNDRAWN) else ("rgb_array",)
