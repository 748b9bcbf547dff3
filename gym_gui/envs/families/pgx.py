"""Pgx: board and card games, 2048 and MinAtar's small arcade games, computed with JAX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from gym_gui.core.paths import cache_dir
from gym_gui.envs.families.served import OwnPythonFamily
from gym_gui.envs.keymaps import LAYOUTS, KeyScheme, Pace
from gym_gui.envs.spec import EnvSpec

if TYPE_CHECKING:
    from gym_gui.envs.instance import Instance
    from gym_gui.envs.remote_env import InstanceRequest

JAX = "jax==0.10.2"
_BEGIN_S = 900.0
"""Time limit in seconds for starting an episode; before the first, JAX compiles a large game for minutes."""


class _Game(NamedTuple):
    title: str
    summary: str
    alone: bool = False
    hidden: bool = False


_GAMES: Mapping[str, _Game] = {
    "2048": _Game("2048", "Slide numbered tiles; equal ones that meet become one of twice the value.", True),
    "animal_shogi": _Game("Animal shogi", "Shogi on 3 x 4 squares with four kinds of animals."),
    "backgammon": _Game("Backgammon", "Bring your men home and off the board, as the dice allow."),
    "chess": _Game("Chess", "Mate the other's king."),
    "connect_four": _Game("Connect four", "Drop discs into columns; four in a row win."),
    "gardner_chess": _Game("Gardner's mini chess", "Chess on 5 x 5 squares."),
    "go_9x9": _Game("Go 9x9", "Surround more of a small board than the other, who has 7.5 points of komi."),
    "go_19x19": _Game("Go 19x19", "Surround more of the board than the other, who has 7.5 points of komi."),
    "hex": _Game("Hex", "Connect your two sides of the board; the second player may swap."),
    "kuhn_poker": _Game("Kuhn poker", "Bet or pass with one of three cards.", hidden=True),
    "leduc_holdem": _Game(
        "Leduc hold'em",
        "Poker with six cards: one in hand, one on the table, two rounds of bets.",
        hidden=True,
    ),
    "minatar-asterix": _Game("MinAtar Asterix", "Collect gold and keep away from enemies.", True),
    "minatar-breakout": _Game("MinAtar Breakout", "Break bricks with a ball that your paddle returns.", True),
    "minatar-freeway": _Game("MinAtar Freeway", "Cross a road with eight lanes as often as you can.", True),
    "minatar-seaquest": _Game(
        "MinAtar Seaquest", "Save divers and shoot enemies before the oxygen runs out.", True
    ),
    "minatar-space_invaders": _Game(
        "MinAtar Space Invaders", "Shoot aliens before they reach the ground.", True
    ),
    "othello": _Game("Othello", "Turn the other's discs over; who has more of them at the end wins."),
    "shogi": _Game("Shogi", "Mate the other's king; pieces that are taken come back on your side."),
    "sparrow_mahjong": _Game(
        "Sparrow mahjong", "Mahjong for three with eleven kinds of tiles and hands of two sets.", hidden=True
    ),
    "tic_tac_toe": _Game("Tic-tac-toe", "Three marks in a row win."),
}


class PgxFamily(OwnPythonFamily):
    """Family of Pgx's games, under ids such as ``pgx/connect_four``."""

    name: ClassVar[str] = "pgx"
    title: ClassVar[str] = "Pgx"
    prefixes: ClassVar[tuple[str, ...]] = ("pgx/",)
    closed: ClassVar[bool] = True
    # resvg_py and pillow turn Pgx's SVG drawings into pictures, without a library of the system.
    requirements: ClassVar[tuple[str, ...]] = ("pgx==2.6.0", JAX, "resvg_py==0.5.0", "pillow>=10")
    imports: ClassVar[tuple[str, ...]] = ("pgx", "resvg_py", "PIL.Image")
    documented: ClassVar[bool] = False
    modes: ClassVar[tuple[str, ...] | None] = ("rgb_array",)

    def specs(self) -> Sequence[EnvSpec]:
        self.require()
        entry = "mosaic_env_server.shims.pgx:make"
        return [
            self.spec(f"pgx/{name}", entry, apis=("gymnasium" if game.alone else "aec",))
            for name, game in _GAMES.items()
        ]

    def candidates(self, task: str) -> Sequence[str]:
        return (task, f"pgx/{task}") if task.startswith("minatar-") else (task,)

    @property
    def server_variables(self) -> Mapping[str, str]:  # type: ignore[override]
        return compiled_once(self.name)

    def wanted(self, spec: EnvSpec, arguments: Mapping[str, Any]) -> InstanceRequest:
        return replace(super().wanted(spec, {"game": spec.short_id, **arguments}), begin_s=_BEGIN_S)

    def hidden_information(self, spec: EnvSpec) -> bool:
        return _GAMES[spec.short_id].hidden

    def title_of(self, spec: EnvSpec) -> str:
        return _GAMES[spec.short_id].title

    def summary(self, spec: EnvSpec) -> str:
        return _GAMES[spec.short_id].summary

    def doc_url(self, spec: EnvSpec) -> str:
        page = spec.short_id.replace("-", "_").removesuffix("_9x9").removesuffix("_19x19")
        return f"https://www.sotets.uk/pgx/{page}/"

    def pace(self, spec: EnvSpec) -> Pace:
        return Pace(realtime=True, rate=6) if spec.short_id.startswith("minatar") else Pace(rate=2)

    def keys(self, environment: Instance, agent: str, player: int) -> KeyScheme:
        scheme = super().keys(environment, agent, player)
        if environment.spec.short_id == "tic_tac_toe":
            return replace(scheme, bindings={key: i for i, key in enumerate(LAYOUTS[player].square)})
        return scheme


def compiled_once(family: str) -> Mapping[str, str]:
    """Return environment variables with which JAX uses the CPU and caches compiled code.

    Args:
        family: Name of the family, whose folder in the cache directory stores the code.
    """
    return {
        "JAX_COMPILATION_CACHE_DIR": str(cache_dir() / "environments" / family / "jax"),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.1",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        "JAX_PLATFORMS": "cpu",
    }
