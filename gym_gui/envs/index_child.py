"""Script for a short-lived process: imports a package and prints the environments it registers as JSON."""

from __future__ import annotations

import importlib
import itertools
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

_WORDED = 64


def gymnasium_rows(module: str) -> list[dict[str, Any]]:
    """Return the environments that importing ``module`` adds to Gymnasium's registry; for Gymnasium, all."""
    import gymnasium

    before: set[str] = set() if module == gymnasium.__name__ else set(gymnasium.registry)
    importlib.import_module(module)
    rows: list[dict[str, Any]] = []
    for env_id, spec in gymnasium.registry.items():
        point: Any = spec.entry_point
        if env_id in before and not _belongs(point, module):
            continue
        if not isinstance(point, str):
            point = f"{getattr(point, '__module__', '')}:{getattr(point, '__qualname__', '')}"
        limit = spec.max_episode_steps
        made_with = {name: value for name, value in spec.kwargs.items() if _is_plain(value)}
        rows.append({"id": env_id, "entry_point": point, "max_episode_steps": limit, "kwargs": made_with})
    return rows


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, cast("Iterable[Any]", value)))
    return value is None or isinstance(value, (bool, int, float, str))


def _belongs(point: Any, module: str) -> bool:
    """Return whether an entry point belongs to a package; Gymnasium itself may have imported it before."""
    where = point if isinstance(point, str) else getattr(point, "__module__", "")
    return where.partition(":")[0].partition(".")[0] == module.partition(".")[0]


def pettingzoo_rows(module: str) -> list[dict[str, Any]]:
    """Return the environments that PettingZoo registers, with the entry point of each interface."""
    package: Any = importlib.import_module(module)
    registries: dict[str, dict[str, Any]] = {
        "aec": package.aec_registry,
        "parallel": package.parallel_registry,
    }
    return [
        {
            "id": env_id,
            "points": {
                api: known[env_id].entry_point for api, known in registries.items() if env_id in known
            },
        }
        for env_id in dict.fromkeys(itertools.chain(*registries.values()))
    ]


def openspiel_rows(module: str) -> list[dict[str, Any]]:
    """Return OpenSpiel's games that load without parameters and that Shimmy can observe."""
    spiel: Any = importlib.import_module(module)
    turns = {spiel.GameType.Dynamics.SEQUENTIAL, spiel.GameType.Dynamics.SIMULTANEOUS}
    return [
        openspiel_row(game.short_name, spiel.load_game(game.short_name))
        for game in spiel.registered_games()
        if game.default_loadable and game.dynamics in turns and _observable(spiel, game)
    ]


def openspiel_row(name: str, loaded: Any) -> dict[str, Any]:
    """Return the facts that an OpenSpiel game declares about itself.

    Args:
        name: Name under which the game is loaded.
        loaded: The loaded game.
    """
    game = loaded.get_type()
    return {
        "id": name,
        "title": game.long_name,
        "utility": game.utility.name,
        "dynamics": game.dynamics.name,
        "chance": game.chance_mode.name,
        "information": game.information.name,
        "players": [game.min_num_players, game.max_num_players],
        "words": _action_words(loaded),
        "parameters": {name: str(value) for name, value in game.parameter_specification.items()},
    }


def envpool_rows(module: str) -> list[dict[str, Any]]:
    """Return EnvPool's environments without step limits, because making each takes most of a minute."""
    pool: Any = importlib.import_module(module)
    return [{"id": name} for name in pool.list_all_envs()]


def dm_control_rows(module: str) -> list[dict[str, Any]]:
    """Return the tasks of dm_control's suite, under the ids that Shimmy registers."""
    suite: Any = importlib.import_module(module)
    return [
        {"id": f"dm_control/{domain}-{task}-v0", "domain": domain, "task": task}
        for domain, task in suite.ALL_TASKS
    ]


def textarena_rows(module: str) -> list[dict[str, Any]]:
    """Return TextArena's registered games, except those that observe no text (``-raw``)."""
    arena: Any = importlib.import_module(f"{module}.envs.registration")
    games = Path(importlib.import_module(module).__file__ or "").parent / "envs"
    return [
        {"id": name, "game": game, "readable": _is_readable(games / game / "env.py")}
        for name, spec in arena.ENV_REGISTRY.items()
        for game in [spec.entry_point.split(".")[2]]
        if not name.endswith("-raw")
    ]


def bsuite_rows(module: str) -> list[dict[str, Any]]:
    """Return the ids of bsuite's experiment settings."""
    return [{"id": name} for name in importlib.import_module(f"{module}.sweep").SETTINGS]


def _is_readable(file: Path) -> bool:
    """Return whether this Python can compile a file; some games need a newer Python."""
    try:
        compile(file.read_bytes(), str(file), "exec")
    except (OSError, SyntaxError, ValueError):
        return False
    return True


def _observable(spiel: Any, game: Any) -> bool:
    """Return whether Shimmy can give players an observation.

    Some games declare observations but have none.
    """
    try:
        if game.provides_observation_tensor:
            return spiel.load_game(game.short_name).observation_tensor_shape() is not None
        if game.provides_information_state_tensor:
            return spiel.load_game(game.short_name).information_state_tensor_shape() is not None
    except spiel.SpielError:
        return False
    return bool(game.provides_observation_string or game.provides_information_state_string)


def _action_words(game: Any) -> list[str]:
    """Return names for the actions, if they are the same for all players in all positions; else none.

    For a game without names, OpenSpiel returns a text with a number for each action (``Action(id=0, …``).
    """
    try:
        said = [
            [game.action_to_string(player, a) for a in range(min(game.num_distinct_actions(), _WORDED))]
            for player in range(game.num_players())
        ]
    except Exception:  # SpielError, and C++ errors of games that answer only in their own positions
        return []
    if game.num_distinct_actions() > _WORDED or any(words != said[0] for words in said):
        return []
    return [] if any("Action(id" in word for word in said[0]) else [word.lower() for word in said[0]]


def main() -> None:
    """Print the rows on the real standard output; output of packages goes to standard error."""
    answer = os.dup(1)
    os.dup2(2, 1)
    kind, module = sys.argv[1:3]
    kinds = {
        "gymnasium": gymnasium_rows,
        "pettingzoo": pettingzoo_rows,
        "openspiel": openspiel_rows,
        "envpool": envpool_rows,
        "dm_control": dm_control_rows,
        "textarena": textarena_rows,
        "bsuite": bsuite_rows,
    }
    rows = kinds[kind](module)
    with os.fdopen(answer, "w", encoding="utf-8") as out:
        json.dump(rows, out)


if __name__ == "__main__":
    main()
