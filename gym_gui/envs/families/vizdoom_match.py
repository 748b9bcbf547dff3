"""A ViZDoom match: 2 to 4 players in one world, each with an engine and a screen of its own.

The engines form a network game on this machine and are stepped tic by tic. With two players, the host
collects the actions (``-netmode 1``) and computes a tic before the other engine, whose action takes effect
one tic later. In some matches the host waits for the other's first action, which then takes effect at once;
such a match is started again, so that every match can be reproduced. With more players, engines do not reach
the first tic in this way. Then each sends its actions to all others (``-netmode 0``), and all are stepped at
once. An action sometimes takes effect one tic later, so such a match cannot be reproduced.
"""

# ViZDoom's stubs leave much out.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from functools import partial
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from typing import Any, ClassVar, NamedTuple

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding

from gym_gui.core.errors import UsageError
from gym_gui.envs.families.vizdoom_engine import Engine
from gym_gui.envs.families.vizdoom_env import BOUND, action_arguments, bound_of, delta_buttons, name_of

_START_S, _STEP_S, _CLOSE_S, _KILLED_S = 60.0, 20.0, 5.0, 1.0
"""Time limits in seconds for an engine's start, step and close, and for the end of a killed engine."""
_APART_S = 0.2
"""Seconds to wait between the starts of two engines."""
_STARTS, _AHEAD_S = 8, 1.0
"""Maximum number of starts of a match, and time limit in seconds for the host's first tic of each start."""
_WIDTH, _HEIGHT = 320, 240
_VARIABLES = (
    *("KILLCOUNT", "HEALTH", "ARMOR", "SELECTED_WEAPON", "SELECTED_WEAPON_AMMO"),
    *("FRAGCOUNT", "DEATHCOUNT"),
)
_BUTTONS = (
    *("ATTACK", "SPEED", "MOVE_RIGHT", "MOVE_LEFT", "MOVE_BACKWARD", "MOVE_FORWARD"),
    *("TURN_RIGHT", "TURN_LEFT", "SELECT_NEXT_WEAPON", "USE"),
)
_LENGTH = 4200
"""Default length of an episode in tics: two minutes, as in the package's deathmatch."""
_RULES = "+sv_forcerespawn 1 +sv_noautoaim 1 +sv_nocrouch 1 +viz_respawn_delay 0 +viz_nocheat 1"
_SAME = "+cl_noprediction 1 +cl_capfps 1 +net_ticbalance 0"
"""Engine arguments that disable predictions, so that screens show only what was played."""


class Scenario(NamedTuple):
    """Map and rules of a match.

    Attributes:
        wad: File among the package's scenarios; empty for the game's own maps.
        map: Name of the map in the file.
        rules: Command-line arguments of the engine.
        counts: Game variable that is the score; a step's reward is its increase.
        together: Whether all players are in one team.
        most: Largest number of players.
    """

    wad: str
    map: str
    rules: str
    counts: str
    together: bool
    most: int


SCENARIOS: Mapping[str, Scenario] = {
    "Deathmatch": Scenario(
        "multi_deathmatch.wad",
        "map01",
        "-deathmatch +sv_respawnprotect 1 +sv_spawnfarthest 1",
        "FRAGCOUNT",
        together=False,
        most=4,
    ),
    "Duel": Scenario("multi_duel.wad", "map01", "-deathmatch", "FRAGCOUNT", together=False, most=2),
    "Cooperative": Scenario("", "MAP01", "", "KILLCOUNT", together=True, most=4),
}


class _EngineThread(threading.Thread):
    """Thread that calls one engine's functions in the order in which they were queued.

    The package sometimes waits forever for an engine that was killed. The thread is then abandoned; as a
    daemon it does not block the end of the program.
    """

    def __init__(self, player: int) -> None:
        super().__init__(name=f"doom-{player}", daemon=True)
        self._jobs: SimpleQueue[tuple[Future[None], Callable[[], Any]] | None] = SimpleQueue()
        self.last: Future[None] | None = None

    def do(self, job: Callable[[], Any]) -> Future[None]:
        """Queue a function call and return its future."""
        done = self.last = Future[None]()
        self._jobs.put((done, job))
        return done

    def rest(self) -> None:
        """End the thread after the queued calls."""
        self._jobs.put(None)

    def run(self) -> None:
        """Run queued calls until :meth:`rest`."""
        while (each := self._jobs.get()) is not None:
            done, job = each
            try:
                job()
            except Exception as error:  # the border to foreign code
                done.set_exception(error)
            else:
                done.set_result(None)


class DoomMatch:
    """PettingZoo Parallel environment in which several engines play one match.

    An observation is a dict of ``screen`` (240, 320, 3) ``uint8`` and ``gamevariables``, the numbers named by
    :attr:`variables`. A match ends by its length, as a truncation, or by ``frag_limit``.

    Args:
        scenario: Map and rules.
        players: Number of players.
        render_mode: ``"rgb_array"`` for a picture of all screens, or ``None``.
        env_kwargs: ``actions``, ``max_buttons_pressed``, ``deltas`` and ``delta`` as in the single-player
            scenarios; ``frame_skip`` tics per action; ``episode_timeout`` in tics; ``frag_limit``,
            ``doom_skill`` (1 to 5) and ``doom_map``.

    Raises:
        UsageError: An argument is unknown or invalid.
    """

    metadata: ClassVar[Mapping[str, Any]] = {
        "render_modes": ["rgb_array"],
        "render_fps": 35,
        "name": "vizdoom_match",
        "is_parallelizable": True,
    }

    def __init__(
        self, scenario: Scenario, players: int, render_mode: str | None, env_kwargs: Mapping[str, Any]
    ) -> None:
        kwargs = {"actions": "numbered", **env_kwargs}
        self.scenario, self.render_mode = scenario, render_mode
        self.possible_agents = [f"player_{i}" for i in range(players)]
        self.agents: list[str] = []
        pressed = action_arguments(kwargs.pop("actions"), kwargs)["max_buttons_pressed"]
        kwargs.pop("max_buttons_pressed", None)
        delta, deltas = bound_of(kwargs.pop("delta", None)), delta_buttons(kwargs.pop("deltas", []))
        self._skip = _whole(kwargs, "frame_skip", 1, least=1)
        self._length = _whole(kwargs, "episode_timeout", _LENGTH, least=1)
        self._frags = _whole(kwargs, "frag_limit", 0)
        self._skill = _whole(kwargs, "doom_skill", 3, least=1, most=5)
        self._map = str(kwargs.pop("doom_map", scenario.map))
        if kwargs:
            raise UsageError(
                f"a match has no argument {', '.join(kwargs)}",
                fix="Its arguments are actions, max_buttons_pressed, deltas, delta, frame_skip, "
                "episode_timeout, frag_limit, doom_skill and doom_map",
            )
        self._vzd: Any = import_module("vizdoom")
        binary = [self._vzd.Button.__members__[name] for name in _BUTTONS]
        self._available = [*(deltas if delta != 0 else []), *binary]
        self.deltas = tuple(
            name_of(button).removesuffix(" delta") for button in self._available[: -len(binary)]
        )
        self.buttons = tuple(map(name_of, binary))
        self.variables = [name.lower() for name in _VARIABLES]
        ways = [
            way
            for way in itertools.product((0, 1), repeat=len(binary))
            if pressed > 0 and sum(way) <= pressed
        ]
        self._ways = np.array(ways, np.float32)
        self.pressed = [tuple(name for name, on in zip(self.buttons, way, strict=True) if on) for way in ways]
        self._acts = self._action_space(BOUND if delta is None else delta)
        self._sees = spaces.Dict(
            {
                "screen": spaces.Box(0, 255, (_HEIGHT, _WIDTH, 3), np.uint8),
                "gamevariables": spaces.Box(-np.inf, np.inf, (len(_VARIABLES),), np.float32),
            }
        )
        self._games: list[Any] = []
        self._engines: list[Engine] = []
        self._threads: list[_EngineThread] = []
        self._lease: socket.socket | None = None
        self._random, _ = seeding.np_random()
        self._tics = 0
        self._seen: list[dict[str, Any]] = []

    @property
    def unwrapped(self) -> DoomMatch:
        return self

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the observation space, the same for all agents."""
        return self._sees

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the action space, the same for all agents."""
        return self._acts

    def observe(self, agent: str) -> dict[str, Any]:
        """Return a player's current observation."""
        return self._seen[self.possible_agents.index(agent)]

    @property
    def counts(self) -> dict[str, float]:
        """Current score of each player."""
        place = _VARIABLES.index(self.scenario.counts)
        return {
            agent: float(seen["gamevariables"][place])
            for agent, seen in zip(self.possible_agents, self._seen, strict=False)
        }

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> Any:
        """Begin a match with new engines; return observations and infos by agent.

        Raises:
            RuntimeError: An engine did not start.
        """
        self.close()
        if seed is not None:
            self._random, _ = seeding.np_random(seed)
        number = int(self._random.integers(0, 2**32, dtype=np.uint32))
        for _ in range(_STARTS):
            self._start(number)
            if self._in_step():
                break
            self.close()
        else:
            raise RuntimeError(
                f"the two engines of Doom did not synchronize in {_STARTS} starts; is the machine overloaded?"
            )
        self._tics, self.agents = 0, self.possible_agents[:]
        self._seen = [self._zeros() for _ in self._games]
        self._seen = [self._observation(game, self._zeros()) for game in self._games]
        return dict(zip(self.agents, self._seen, strict=True)), {agent: {} for agent in self.agents}

    def step(self, actions: Mapping[str, Any]) -> Any:
        """Play a step of all agents; return observations, rewards, terminations, truncations and infos.

        Raises:
            RuntimeError: An engine died or did not answer; the match is over.
        """
        before = self.counts
        acts = [self._pressed(actions[agent]) for agent in self.possible_agents]
        over = False
        for tic in range(self._skip):
            last = tic == self._skip - 1 or self._tics + 1 >= self._length
            for players in self._turns():
                self._all(
                    lambda i, last=last: self._tic(i, acts[i], last), _STEP_S, "did not answer", players
                )
            self._tics += 1
            over = any(game.is_episode_finished() for game in self._games)
            if over or last:
                break
        self._seen = [
            self._observation(game, seen) for game, seen in zip(self._games, self._seen, strict=True)
        ]
        cut = not over and self._tics >= self._length
        acted, counts = self.agents, self.counts
        self.agents = [] if over or cut else acted[:]
        rewards = {agent: counts[agent] - before[agent] for agent in acted}
        ends, cuts = dict.fromkeys(acted, over), dict.fromkeys(acted, cut)
        seen = dict(zip(self.possible_agents, self._seen, strict=True))
        return seen, rewards, ends, cuts, {agent: {} for agent in acted}

    def render(self) -> Any:
        """Return all screens side by side, (H, W, 3) ``uint8``; ``None`` without a render mode."""
        if self.render_mode is None:
            return None
        screens = [seen["screen"] for seen in self._seen] or [self._zeros()["screen"]]
        if len(screens) > 2 and len(screens) % 2:
            screens.append(np.zeros_like(screens[0]))
        rows = [np.hstack(screens[at : at + 2]) for at in range(0, len(screens), 2)]
        return np.vstack(rows)

    def close(self) -> None:
        """End all engines and their threads; a second call does nothing."""
        for patience in (_CLOSE_S, _KILLED_S):
            free = zip(self._games, self._threads, strict=True)
            free = [(game, thread) for game, thread in free if thread.last is None or thread.last.done()]
            _, hung = wait([thread.do(game.close) for game, thread in free], patience)
            if not hung:
                break
            self._kill()
        for thread in self._threads:
            thread.rest()
        for engine in self._engines:
            engine.kill()
            engine.remove()
        if self._lease is not None:
            self._lease.close()
        self._games, self._engines, self._threads, self._lease = [], [], [], None

    # -- engines

    def _start(self, seed: int) -> None:
        self._lease, port = _free_port()
        self._games = [self._game(i, seed, port) for i in range(len(self.possible_agents))]
        self._engines = [Engine(game) for game in self._games]
        self._threads = [_EngineThread(i) for i in range(len(self._games))]
        for thread in self._threads:
            thread.start()
        self._all(self._begin, _START_S, "did not start")

    def _in_step(self) -> bool:
        """Play the first tic without actions; return whether the host played it without waiting."""
        if len(self._turns()) == 1:
            return True
        idle = [0.0] * len(self._available)
        first = self._threads[0].do(partial(self._tic, 0, idle, True))
        ahead = bool(wait([first], _AHEAD_S).done)
        late = partial(self._all, lambda _: first.result(), _START_S, "did not start", [0])
        if ahead:
            late()  # it may have failed
        self._all(lambda i: self._tic(i, idle, True), _START_S, "did not start", [1])
        late()
        return ahead

    def _begin(self, player: int) -> None:
        """Start an engine after the previous one runs; two that start at once would abort this process."""
        until = time.monotonic() + _START_S
        while player and self._engines[player - 1].pid is None and time.monotonic() < until:
            time.sleep(_APART_S / 10)
        time.sleep(_APART_S * bool(player))
        self._games[player].init()

    def _game(self, player: int, seed: int, port: int) -> Any:
        vzd, scenario = self._vzd, self.scenario
        game = vzd.DoomGame()
        if scenario.wad:
            game.set_doom_scenario_path(str(Path(vzd.scenarios_path) / scenario.wad))
        game.set_doom_map(self._map)
        game.set_doom_skill(self._skill)
        game.set_mode(vzd.Mode.PLAYER)
        game.set_screen_resolution(vzd.ScreenResolution.RES_320X240)
        game.set_screen_format(vzd.ScreenFormat.RGB24)
        game.set_render_hud(True)
        game.set_render_messages(False)
        game.set_window_visible(False)
        game.set_sound_enabled(False)
        game.set_console_enabled(False)
        game.set_episode_timeout(0)
        game.set_available_buttons(self._available)
        game.set_available_game_variables([vzd.GameVariable.__members__[name] for name in _VARIABLES])
        game.set_seed(seed)
        if player == 0:
            frags = f"+fraglimit {self._frags}" if self._frags else ""
            count = len(self.possible_agents)
            mode = 1 if count == 2 else 0
            game.add_game_args(
                f"-host {count} -netmode {mode} -port {port} {scenario.rules} {_RULES} {frags}"
            )
        else:
            game.add_game_args(f"-join 127.0.0.1:{port}")
        game.add_game_args(f"+name player_{player} +colorset {player} {_SAME}")
        return game

    def _tic(self, player: int, act: Sequence[float], last: bool) -> None:
        game = self._games[player]
        game.set_action(act)
        game.advance_action(1, last)

    def _turns(self) -> Sequence[Sequence[int]]:
        """Return groups of players; the engines of one group compute a tic at the same time."""
        players = range(len(self._games))
        return [[player] for player in players] if len(players) == 2 else [players]

    def _all(
        self, do: Callable[[int], Any], patience: float, fails: str, players: Sequence[int] | None = None
    ) -> None:
        """Run a function on several engines at once, by default all; if one fails, end all engines.

        Raises:
            RuntimeError: An engine failed or exceeded the time limit, or no match is played.
        """
        if not self._threads:
            raise RuntimeError("no match is running: call reset() first")
        players = range(len(self._threads)) if players is None else players
        jobs = {i: self._threads[i].do(partial(do, i)) for i in players}
        done, waiting = wait(jobs.values(), patience, FIRST_EXCEPTION)
        broken = [i for i, job in jobs.items() if job in done and job.exception() is not None]
        if not broken and not waiting:
            return
        cause = jobs[broken[0]].exception() if broken else None
        at_fault = broken or [i for i, job in jobs.items() if job in waiting]
        said = self._engines[at_fault[0]].last_log_line if cause is not None else ""
        who = " and ".join(self.possible_agents[i] for i in at_fault)
        self._kill()
        wait(jobs.values(), _KILLED_S)
        self.close()
        self.agents = []
        what = "ended" if cause is not None else f"{fails} within {patience:g} s"
        said = f"; its last log lines: {said}" if said else ""
        raise RuntimeError(f"Doom of {who} {what}, and with it the match{said}") from cause

    def _kill(self) -> None:
        for engine in self._engines:
            engine.kill()

    # -- actions and observations

    def _action_space(self, bound: float) -> spaces.Space[Any]:
        count = len(self.buttons)
        binary = spaces.Discrete(len(self._ways)) if len(self._ways) else spaces.MultiBinary(count)
        if not self.deltas:
            return binary
        continuous = spaces.Box(-bound, bound, (len(self.deltas),), np.float32)
        return spaces.Dict({"binary": binary, "continuous": continuous})

    def _pressed(self, action: Any) -> list[float]:
        """Return an action as the engine's list of numbers: delta buttons first, then the other buttons."""
        numbers, buttons = (action["continuous"], action["binary"]) if self.deltas else ((), action)
        held = self._ways[int(buttons)] if len(self._ways) else buttons
        return [*map(float, numbers), *map(float, held)]

    def _zeros(self) -> dict[str, Any]:
        return {
            "screen": np.zeros((_HEIGHT, _WIDTH, 3), np.uint8),
            "gamevariables": np.zeros(len(_VARIABLES), np.float32),
        }

    @staticmethod
    def _observation(game: Any, before: dict[str, Any]) -> dict[str, Any]:
        """Return a player's observation; after the end of the match, ``before``."""
        state = game.get_state()
        if state is None:
            return before
        numbers = np.asarray(state.game_variables, np.float32)
        return {"screen": state.screen_buffer.copy(), "gamevariables": numbers}


def _whole(kwargs: dict[str, Any], name: str, default: int, *, least: int = 0, most: int = 10**9) -> int:
    value = kwargs.pop(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        upper = f" to {most}" if most < 10**9 else " or more"
        raise UsageError(f"{name} is {value!r}", fix=f"Write a whole number of {least}{upper}")
    return value


def _free_port() -> tuple[socket.socket, int]:
    """Return a free port with a socket that reserves it among matches while the socket is open.

    The engine uses UDP. Matches reserve the TCP port of the same number, because only one can bind it.
    """
    while True:
        lease = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        lease.bind(("127.0.0.1", 0))
        port = int(lease.getsockname()[1])
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(("", port))
            except OSError:
                lease.close()
                continue
        return lease, port
