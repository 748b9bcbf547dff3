"""Writes what BALROG's describers and MOSAIC's make of the same states: a part of ``docs/balrog_texts.md``.

    python scripts/pages/balrog_texts.py [--out docs/_written/balrog_texts.md]

The documentation's build runs it. BALROG's code runs in the interpreter that ``mosaic envs install balrog``
makes, MOSAIC's in this one; where that interpreter is missing, the page says so. The script compares what
tells states apart, and ends with an error where both are not in the same state. BabaIsAI is one object there,
which both describe.
"""

# BALROG is untyped, and lies in an interpreter of its own.
# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnusedImport=false

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

_ROOT = Path(__file__).resolve().parents[2]
OUT = _ROOT / "docs" / "_written" / "balrog_texts.md"
_LEFT, _RIGHT, _FORWARD, _PICKUP, _DROP, _TOGGLE = range(6)
_WAY_TO_KEY = (_FORWARD, _FORWARD, _PICKUP)
_CRAFTER = 12345


class State(NamedTuple):
    """A state that both are shown.

    Attributes:
        game: ``grid``, ``baba`` or ``crafter``.
        task: The environment, as Gymnasium or BabaIsAI calls it.
        seed: Of the episode.
        actions: That lead to the state, by number.
        title: For the page.
    """

    game: str
    task: str
    seed: int
    actions: tuple[int, ...]
    title: str


STATES = (
    State("grid", "BabyAI-GoToLocal-v0", 1, (), "BabyAI: things in view"),
    State("grid", "BabyAI-GoToLocal-v0", 2, (), "BabyAI: facing a wall"),
    State("grid", "BabyAI-GoToImpUnlock-v0", 1, (), "BabyAI: a room with a closed door"),
    State("grid", "MiniGrid-DoorKey-6x6-v0", 1, (), "MiniGrid: a locked door and its key"),
    State("grid", "MiniGrid-DoorKey-6x6-v0", 1, _WAY_TO_KEY, "MiniGrid: the key in hand"),
    State("baba", "two_room-break_stop-make_win", 0, (), "BabaIsAI: two rooms"),
    State("baba", "make_win", 0, (1, 2, 2), "BabaIsAI: after three moves"),
    State("crafter", "CrafterReward-v1", _CRAFTER, (), "Crafter: the beginning"),
    State("crafter", "CrafterReward-v1", _CRAFTER, (1,) * 4 + (5,) * 3, "Crafter: after seven steps"),
)


class Told(NamedTuple):
    """What one side says of a state.

    Attributes:
        text: Its words.
        state: What tells states apart, as plain data.
    """

    text: str
    state: Any


# -- in BALROG's interpreter


def _theirs(states: Sequence[Sequence[Any]]) -> Iterator[tuple[Told, Told | None]]:
    """BALROG's words; of BabaIsAI, which lives there too, ours as well."""
    for game, task, seed, actions, _ in states:
        if game == "grid":
            yield _balrogs_grid(task, seed, actions), None
        elif game == "baba":
            yield _both_of_baba(task, seed, actions)
        else:
            yield _balrogs_crafter(seed, actions), None


def _balrogs_grid(task: str, seed: int, actions: Sequence[int]) -> Told:
    import gymnasium
    from balrog.environments.babyai_text import babyai_env  # noqa: F401  # registers the levels
    from balrog.environments.babyai_text.clean_lang_wrapper import BabyAITextCleanLangWrapper

    env: Any = BabyAITextCleanLangWrapper(gymnasium.make(task))
    seen, _ = env.reset(seed=seed)
    for action in actions:
        seen = env.step(env.language_action_space[action])[0]
    grid = env.unwrapped.gen_obs()
    state = [grid["image"].tolist(), int(grid["direction"]), grid["mission"]]
    return Told(seen["text"]["long_term_context"], state)


def _both_of_baba(task: str, seed: int, actions: Sequence[int]) -> tuple[Told, Told]:
    from balrog.environments.babaisai.base import BabaIsAIWrapper

    from mosaic_env_server.shims.babaisai import BabaIsAI

    env: Any = BabaIsAI(task)
    env.reset(seed=seed)
    for action in actions:
        env.step(action)
    wrapped: Any = BabaIsAIWrapper(env._env)
    shown = wrapped.textworld_process_obsv(None)
    return Told(shown["text"]["long_term_context"], None), Told(env.mosaic_text("agent_0"), None)


def _balrogs_crafter(seed: int, actions: Sequence[int]) -> Told:
    import crafter
    from balrog.environments.crafter.env import describe_frame

    game: Any = crafter.Env((64, 64), (9, 9), (64, 64), True, 10_000, seed=seed)
    game.reset()
    info: dict[str, Any] = {}
    for action in actions or (0,):
        info = game.step(action)[3]
    player = game._player
    more = {"sleeping": player.sleeping, "player_facing": player.facing, "dead": player.health <= 0}
    long, short = describe_frame({**info, **more, "view": game._view})
    return Told(f"{short}\n\n{long}", [info["semantic"].tolist(), [int(each) for each in player.pos]])


# -- here


def _ours(state: State) -> Told:
    from gym_gui import envs

    made: Any = envs.make(state.task)
    agent = made.adapter.possible_agents[0]
    seen = made.adapter.reset(seed=state.seed)[agent]
    game: Any = made.env.unwrapped.game if state.game == "crafter" else None
    if game is not None:
        game._seed, game._episode = state.seed, 0
        game.reset()
    for action in state.actions or (() if game is None else (0,)):
        seen = made.adapter.step({agent: action}).observations[agent]
    text = made.describer(agent).text(agent, seen)
    if game is None:
        found: Any = [seen["image"].tolist(), int(seen["direction"]), seen["mission"]]
    else:
        found = [game._sem_view().tolist(), [int(each) for each in game._player.pos]]
    made.close()
    return Told(text, found)


def _asked_there(states: Sequence[State]) -> list[tuple[Told, Told | None]]:
    from gym_gui.core.foreign_python import python_environment
    from gym_gui.core.paths import cache_dir
    from gym_gui.envs.environment_registry import families

    family: Any = families()["balrog"]
    family.require()
    env = {**python_environment(True, cache_dir() / "environments" / family.name), **family.server_variables}
    command = [str(family.interpreter), str(Path(__file__).resolve()), "--theirs"]
    done = subprocess.run(
        command, env=env, input=json.dumps(states), capture_output=True, text=True, check=False, timeout=600
    )
    if done.returncode != 0:
        sys.exit(f"BALROG's describers failed: {done.stderr.strip()[-2000:]}")
    rows = json.loads(done.stdout.splitlines()[-1])
    return [(Told(*theirs), None if ours is None else Told(*ours)) for theirs, ours in rows]


def page() -> str:
    """The part of the page that is written.

    Raises:
        MissingDependencyError: BALROG is not installed.
        SystemExit: The two do not stand in the same state.
    """
    parts: list[str] = []
    for state, (theirs, there) in zip(STATES, _asked_there(STATES), strict=True):
        ours = there or _ours(state)
        if ours.state != theirs.state:
            sys.exit(f"{state.title}: the two are not in the same state")
        steps = f", after {len(state.actions)} actions" if state.actions else ""
        parts.append(f"## {state.title}\n\n`{state.task}`, seed {state.seed}{steps}\n")
        parts.append(_SIZES.format(_size("BALROG", theirs), _size("MOSAIC", ours)))
        parts += [
            _QUOTED.format(who, told.text.strip()) for who, told in (("BALROG", theirs), ("MOSAIC", ours))
        ]
    return "\n".join(parts)


def _size(who: str, told: Told) -> str:
    text = told.text.strip()
    return f"| {who} | {len(text)} | {len(text.splitlines())} |"


_SIZES = "| | characters | lines |\n| --- | --- | --- |\n{}\n{}\n"
_QUOTED = "{}:\n\n```text\n{}\n```\n"
_ABSENT = "This page was built where BALROG is not installed, so the texts are not shown. {}\n"


def main() -> int:
    """Write the part of the page; with ``--theirs``, print BALROG's words for states on standard input."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=OUT, help="file of the part")
    parser.add_argument("--theirs", action="store_true", help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.theirs:
        states = json.load(sys.stdin)
        with contextlib.redirect_stdout(sys.stderr):
            told = list(_theirs(states))
        print(json.dumps(told))
        return 0
    # BALROG's interpreter, in which "--theirs" runs, has neither.
    from family_pages import write_if_new  # beside this file

    from gym_gui.core.errors import MissingDependencyError

    try:
        text = page()
    except MissingDependencyError as error:
        text = _ABSENT.format(f"`{error.install}` installs it.")
    write_if_new(wanted.out, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
