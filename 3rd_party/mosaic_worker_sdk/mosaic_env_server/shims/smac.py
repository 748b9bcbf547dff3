"""The StarCraft Multi-Agent Challenge: micromanagement in StarCraft II, with each unit of a side as an agent.

The task is that of Samvelyan et al., The StarCraft Multi-Agent Challenge (2019), on its maps. Observations,
ranges, actions and reward follow the paper's description.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportMissingModuleSource=false

from __future__ import annotations

import math
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from mosaic_env_server.shims.shapes import discrete
from mosaic_env_server.shims.simulators import SimulatorError, numbers, positive, rounded
from mosaic_env_server.shims.smac_link import StarCraft
from mosaic_worker.spaces import Space

SIGHT, REACH, STRIDE = 9.0, 6.0, 2.0
"""Distances that a unit sees, shoots and moves, in the map's units."""
KINDS = 3
"""Largest number of kinds of units on a side."""
_OWN, _THEIRS = 1, 4
_WAYS = (("north", 0, 1), ("south", 0, -1), ("east", 1, 0), ("west", -1, 0))
_FIRST = 2 + len(_WAYS)
_STOP, _MOVE, _ATTACK, _HEAL = 4, 16, 23, 386
"""StarCraft II's numbers of the abilities."""
_KILL, _WIN, _MOST = 10.0, 200.0, 20.0
_SEEN = 6 + KINDS
"""Features of another unit: whether it can be reached, distance, east, north, health, shield, and its
kind.
"""
_SELF = 2 + KINDS


class Battle:
    """A battle on one map, with PettingZoo's Parallel interface.

    All agents get the same reward, at most 20 in an episode.
    """

    def __init__(
        self,
        map_name: str,
        agents: int,
        enemies: int,
        limit: int,
        race: str,
        enemy_race: str,
        host: str = "127.0.0.1",
        port: Optional[int] = None,
        sc2_path: str = "",
        maps: str = "SMAC_Maps",
        difficulty: Any = 7,
        step_mul: Any = 8,
        timeout_s: float = 30.0,
        start_s: float = 120.0,
        version: str = "",
    ) -> None:
        if isinstance(difficulty, bool) or difficulty not in range(1, 11):
            raise ValueError(f"difficulty is 1 to 10, not {difficulty!r}")
        if isinstance(step_mul, bool) or not isinstance(step_mul, int) or step_mul < 1:
            raise ValueError(f"step_mul is a number of game loops, not {step_mul!r}")
        self.render_mode = None
        self._where = (
            host,
            port,
            sc2_path,
            positive("timeout_s", timeout_s),
            positive("start_s", start_s),
            version,
        )
        self._map, self._limit, self._loops = f"{maps}/{map_name}.SC2Map", limit, step_mul
        self._races, self._difficulty = (race, enemy_race), difficulty
        self._count = (agents, enemies)
        self.possible_agents = [f"unit_{i}" for i in range(agents)]
        self.agents: List[str] = []
        length = len(_WAYS) + _SEEN * (enemies + agents - 1) + _SELF
        self._acts = _FIRST + max(enemies, agents)
        mask = numbers(0, 1, self._acts)
        self._sees = Space("Dict", spaces={"observation": numbers(-2.0, 2.0, length), "action_mask": mask})
        self._does = discrete(self._acts)
        words = ["noop", "stop", *(f"move {way}" for way, _, _ in _WAYS)]
        words += [f"target {i}" for i in range(self._acts - _FIRST)]
        self.metadata: Mapping[str, Any] = {
            "render_modes": [],
            "action_meanings": words,
            "teams": {"team": self.possible_agents},
            "one_at_a_time": port is not None,
        }
        self._engine: Optional[StarCraft] = None
        self._units: Tuple[List[Any], List[Any]] = ([], [])
        self._tags: Tuple[List[int], List[int]] = ([], [])
        self._kinds: Tuple[List[int], List[int]] = ([], [])
        self._names: Dict[int, str] = {}
        self._area = (0.0, 0.0, 0.0, 0.0)
        self._steps, self._scale, self._won = 0, 1.0, False

    def observation_space(self, agent: str) -> Space:
        """Return the observation space, which is the same for all agents."""
        return self._sees

    def action_space(self, agent: str) -> Space:
        """Return the action space, which is the same for all agents."""
        return self._does

    # -- an episode

    def reset(
        self, seed: Optional[int] = None, options: Optional[Mapping[str, Any]] = None
    ) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """Begin a game on the map; the seed determines the engine's random numbers."""
        engine = self._ready()
        self._create(engine, seed)
        self._find(engine)
        self._steps, self._won = 0, False
        self.agents = list(self.possible_agents)
        worth = sum(unit.health_max + unit.shield_max + _KILL for unit in self._units[1])
        self._scale = _MOST / (worth + _WIN)
        return self._seen(), {agent: {} for agent in self.agents}

    def step(
        self, actions: Mapping[str, Any]
    ) -> Tuple[Dict[str, Any], Dict[str, float], Dict[str, bool], Dict[str, bool], Dict[str, Any]]:
        """Do one step: all agents act, then the game runs for ``step_mul`` loops."""
        if self._engine is None or not self.agents:
            raise SimulatorError("it has no episode: call reset first")
        from s2clientprotocol import sc2api_pb2

        engine, before = self._engine, [list(side) for side in self._units]
        orders = [self._order(i, int(actions[name])) for i, name in enumerate(self.possible_agents)]
        given = [order for order in orders if order is not None]
        if given:
            engine.ask("action", sc2api_pb2.RequestAction(actions=given))
        engine.ask("step", sc2api_pb2.RequestStep(count=self._loops))
        result = self._look(engine)
        self._steps += 1
        alive = [any(unit is not None for unit in side) for side in self._units]
        self._won = result == sc2api_pb2.Victory or (alive[0] and not alive[1])
        over = result is not None or not all(alive)
        cut = not over and self._steps >= self._limit
        reward = self._hurt(before[1], self._units[1]) + (_WIN if self._won else 0.0)
        agents, seen = list(self.agents), self._seen()
        if over or cut:
            self.agents = []
        return (
            seen,
            dict.fromkeys(agents, reward * self._scale),
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, cut),
            {agent: {} for agent in agents},
        )

    def render(self) -> None:
        """Do nothing; the engine draws in its own window."""

    def close(self) -> None:
        """Leave the game, and end an engine that this environment has started."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def mosaic_success(self) -> bool:
        """Return whether the battle was won."""
        return self._won

    # -- the engine

    def _ready(self) -> StarCraft:
        from s2clientprotocol import sc2api_pb2

        if self._engine is None or self._engine.lost:
            self.close()
            self._engine = StarCraft(*self._where)
        if self._engine.playing:
            self._engine.ask("leave_game", sc2api_pb2.RequestLeaveGame())
        return self._engine

    def _create(self, engine: StarCraft, seed: Optional[int]) -> None:
        from s2clientprotocol import common_pb2, sc2api_pb2

        races = [common_pb2.Race.Value(race) for race in self._races]
        setup = [
            sc2api_pb2.PlayerSetup(type=sc2api_pb2.Participant),
            sc2api_pb2.PlayerSetup(type=sc2api_pb2.Computer, race=races[1], difficulty=self._difficulty),
        ]
        local = sc2api_pb2.LocalMap(map_path=self._map)
        asked = sc2api_pb2.RequestCreateGame(local_map=local, player_setup=setup, realtime=False)
        if seed is not None:
            asked.random_seed = seed % (1 << 31)
        made = engine.ask("create_game", asked)
        if made.HasField("error"):
            kind = sc2api_pb2.ResponseCreateGame.Error.Name(made.error)
            if kind in ("MissingMap", "InvalidMapPath", "InvalidMapName"):
                raise SimulatorError(
                    f"{engine.who} has no map Maps/{self._map}. Put the maps of the challenge there: "
                    "SMAC_Maps.zip of github.com/oxwhirl/smac/releases"
                )
            raise SimulatorError(f"{engine.who} refused create_game: {kind} {made.error_details}".rstrip())
        options = sc2api_pb2.InterfaceOptions(raw=True, score=False)
        joined = engine.ask("join_game", sc2api_pb2.RequestJoinGame(race=races[0], options=options))
        if joined.HasField("error"):
            kind = sc2api_pb2.ResponseJoinGame.Error.Name(joined.error)
            raise SimulatorError(f"{engine.who} refused join_game: {kind} {joined.error_details}".rstrip())
        area = engine.ask("game_info", sc2api_pb2.RequestGameInfo()).start_raw.playable_area
        self._area = (area.p0.x, area.p0.y, area.p1.x, area.p1.y)
        told = engine.ask("data", sc2api_pb2.RequestData(unit_type_id=True))
        self._names = {kind.unit_id: kind.name for kind in told.units}

    def _find(self, engine: StarCraft) -> None:
        """Find the units of both sides and sort them by their positions."""
        from s2clientprotocol import sc2api_pb2

        sides: List[List[Any]] = [[], []]
        for _ in range(5):  # The units may appear only after a loop.
            told = engine.ask("observation", sc2api_pb2.RequestObservation()).observation.raw_data.units
            sides = [[unit for unit in told if unit.alliance == side] for side in (_OWN, _THEIRS)]
            if [len(side) for side in sides] == list(self._count):
                break
            engine.ask("step", sc2api_pb2.RequestStep(count=1))
        else:
            raise SimulatorError(
                f"{self._map} of {engine.who} has {len(sides[0])} units against {len(sides[1])}, not "
                f"{self._count[0]} against {self._count[1]}: is it another map of that name?"
            )
        ordered = [sorted(side, key=lambda unit: (unit.unit_type, unit.pos.x, unit.pos.y)) for side in sides]
        self._units = (ordered[0], ordered[1])
        self._tags = ([unit.tag for unit in ordered[0]], [unit.tag for unit in ordered[1]])
        kinds = [sorted({unit.unit_type for unit in side}) for side in ordered]
        self._kinds = (kinds[0], kinds[1])

    def _look(self, engine: StarCraft) -> Optional[int]:
        """Update the state of all units; return the result of the game, or ``None`` while it goes on."""
        from s2clientprotocol import sc2api_pb2

        told = engine.ask("observation", sc2api_pb2.RequestObservation())
        found = {unit.tag: unit for unit in told.observation.raw_data.units if unit.health > 0}
        self._units = ([found.get(tag) for tag in self._tags[0]], [found.get(tag) for tag in self._tags[1]])
        own = told.observation.player_common.player_id
        return next((each.result for each in told.player_result if each.player_id == own), None)

    # -- acting

    def _heals(self, unit: Any) -> bool:
        return "Medivac" in self._names.get(unit.unit_type, "")

    def _targets(self, number: int) -> List[Any]:
        """Return the targets of the actions from :data:`_FIRST` on: enemies, or for a healer, units of its
        own side.
        """
        unit = self._units[0][number]
        if not self._heals(unit):
            return self._units[1]
        return [
            None if i == number or (each and self._heals(each)) else each
            for i, each in enumerate(self._units[0])
        ]

    def _legal(self, number: int) -> Any:
        unit, legal = self._units[0][number], np.zeros(self._acts, np.float32)
        if unit is None:
            legal[0] = 1
            return legal
        legal[1] = 1
        for i, (_, east, north) in enumerate(_WAYS):
            x, y = unit.pos.x + STRIDE * east, unit.pos.y + STRIDE * north
            legal[2 + i] = self._area[0] <= x <= self._area[2] and self._area[1] <= y <= self._area[3]
        for i, target in enumerate(self._targets(number)):
            legal[_FIRST + i] = target is not None and _apart(unit, target) <= REACH
        return legal

    def _order(self, number: int, action: int) -> Any:
        from s2clientprotocol import common_pb2, raw_pb2, sc2api_pb2

        unit = self._units[0][number]
        if not self._legal(number)[action]:
            raise SimulatorError(f"action {action} is not legal for unit_{number} now")
        if unit is None:
            return None
        order = raw_pb2.ActionRawUnitCommand(unit_tags=[unit.tag], queue_command=False)
        if action == 1:
            order.ability_id = _STOP
        elif action < _FIRST:
            _, east, north = _WAYS[action - 2]
            order.ability_id = _MOVE
            place = common_pb2.Point2D(x=unit.pos.x + STRIDE * east, y=unit.pos.y + STRIDE * north)
            order.target_world_space_pos.CopyFrom(place)
        else:
            order.ability_id = _HEAL if self._heals(unit) else _ATTACK
            order.target_unit_tag = self._targets(number)[action - _FIRST].tag
        return sc2api_pb2.Action(action_raw=raw_pb2.ActionRaw(unit_command=order))

    @staticmethod
    def _hurt(before: List[Any], now: List[Any]) -> float:
        """Return the damage to the enemies, plus a bonus for each enemy that fell."""
        total = 0.0
        for old, new in zip(before, now):
            if old is not None:
                left = 0.0 if new is None else new.health + new.shield
                total += max(0.0, old.health + old.shield - left) + (_KILL if new is None else 0.0)
        return total

    # -- seeing

    def _seen(self) -> Dict[str, Any]:
        return {
            name: {"observation": self._features(i), "action_mask": self._legal(i)}
            for i, name in enumerate(self.possible_agents)
        }

    def _features(self, number: int) -> Any:
        """Return a unit's features: four free directions, enemies, other agents, itself; zeros for a dead
        unit.
        """
        unit, legal = self._units[0][number], self._legal(number)
        length = self._sees.spaces["observation"].shape[0]
        if unit is None:
            return np.zeros(length, np.float32)
        row: List[float] = list(legal[2:_FIRST])
        for side, others in enumerate((self._units[1], self._mates(number))):
            for other in others:
                row += self._other(unit, other, self._kinds[1 - side])
        row += [_part(unit.health, unit.health_max), _part(unit.shield, unit.shield_max)]
        row += _one_of(unit.unit_type, self._kinds[0])
        return np.array(row, np.float32)

    def _mates(self, number: int) -> List[Any]:
        return [unit for i, unit in enumerate(self._units[0]) if i != number]

    def _other(self, unit: Any, other: Any, kinds: List[int]) -> List[float]:
        if other is None or _apart(unit, other) > SIGHT:
            return [0.0] * _SEEN
        east, north, apart = other.pos.x - unit.pos.x, other.pos.y - unit.pos.y, _apart(unit, other)
        health, shield = _part(other.health, other.health_max), _part(other.shield, other.shield_max)
        near = [float(apart <= REACH), apart / SIGHT, east / SIGHT, north / SIGHT, health, shield]
        return [*near, *_one_of(other.unit_type, kinds)]

    def mosaic_briefing(self, agent: str) -> str:
        """Return a description of the battle."""
        return (
            f"You are one of {self._count[0]} units in StarCraft II, against {self._count[1]}. You see as "
            f"far as {SIGHT:g} and reach as far as {REACH:g}; a move goes {STRIDE:g}. You win together when "
            "the other side has fallen: hit the same ones, and step back when you are hurt. Target N is the "
            "enemy of that number, for who heals the unit of that number."
        )

    def mosaic_text(self, agent: str) -> str:
        """Return the observation of a unit as text: itself, and the numbered units in sight."""
        number = self.possible_agents.index(agent)
        unit = self._units[0][number] if self._units[0] else None
        if unit is None:
            return "You have fallen."
        lines = [f"You are {self._described(unit)}."]
        for whose, side in (("Enemy", self._units[1]), ("Unit", self._units[0])):
            for i, other in enumerate(side):
                if other is None or other is unit or _apart(unit, other) > SIGHT:
                    continue
                east, north = rounded((other.pos.x - unit.pos.x, other.pos.y - unit.pos.y), 1)
                lines.append(f"{whose} {i}: {self._described(other)}, {east:g} east, {north:g} north.")
        return "\n".join(lines)

    def mosaic_facts(self, agent: str) -> List[List[Any]]:
        """Return the observation as ground facts."""
        number = self.possible_agents.index(agent)
        unit = self._units[0][number] if self._units[0] else None
        if unit is None:
            return [["fallen"]]
        facts: List[List[Any]] = [["health", round(unit.health), round(unit.shield)]]
        for name, side in (("enemy", self._units[1]), ("unit", self._units[0])):
            for i, other in enumerate(side):
                if other is not None and other is not unit and _apart(unit, other) <= SIGHT:
                    away = rounded((other.pos.x - unit.pos.x, other.pos.y - unit.pos.y), 1)
                    facts.append([name, i, *away, round(other.health), round(other.shield)])
        return facts

    def _described(self, unit: Any) -> str:
        name = self._names.get(unit.unit_type, "unit").lower()
        shield = f", shield {unit.shield:.0f}" if unit.shield_max else ""
        return f"a {name}, health {unit.health:.0f} of {unit.health_max:.0f}{shield}"


def _apart(one: Any, other: Any) -> float:
    return math.hypot(one.pos.x - other.pos.x, one.pos.y - other.pos.y)


def _part(value: float, most: float) -> float:
    return value / most if most else 0.0


def _one_of(kind: int, kinds: List[int]) -> List[float]:
    return [float(i < len(kinds) and kinds[i] == kind) for i in range(KINDS)]
