"""Converts a recorded episode to a program without MOSAIC: the plain loop of Gymnasium or PettingZoo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pprint import pformat
from typing import Any, Final

from gym_gui.controllers.engine.resolved_operator import checked_permissions, make_environment
from gym_gui.controllers.replays.replay_session import ReplayOrder
from gym_gui.core.config import OperatorConfig
from gym_gui.core.enums import EpisodeStatus
from gym_gui.core.errors import UsageError
from gym_gui.core.records import StepRecord
from gym_gui.envs import Environment
from gym_gui.envs.environment_source import EnvironmentSource
from gym_gui.services.runs.recorded_episode import RecordedEpisode

_WRITABLE: Final = frozenset({"Discrete", "Box", "MultiDiscrete", "MultiBinary", "Text"})
_OTHERWISE: Final = "Replay the episode with MOSAIC: mosaic replay, mosaic verify"

_SINGLE: Final = """
env = {make}
observation, info = env.reset(seed={seed})
for step, (action, expected) in enumerate(STEPS):
    observation, reward, terminated, truncated, info = env.step({action})
    assert float(reward) == expected, f"step {{step}}: reward {{reward}}, recorded {{expected}}"
{ended}env.close()
"""
_TURNS: Final = '''
env = {make}
env.reset(seed={seed})
earned, last, moves = {{}}, {{}}, iter(enumerate(STEPS))


def settle(agent):
    """What an agent has earned since its move is known when it is its turn again."""
    if agent in last:
        expected = STEPS[last[agent]][2]
        assert earned[agent] == expected, f"move {{last[agent]}}: {{earned[agent]}}, recorded {{expected}}"
        earned[agent] = 0.0


while env.agents:
    agent = env.agent_selection
    observation, reward, terminated, truncated, info = env.last()
    earned[agent] = earned.get(agent, 0.0) + float(reward)
    settle(agent)
    if terminated or truncated:
        env.step(None)
        last.pop(agent, None)
        continue
    number, move = next(moves, (None, None))
    if move is None:
        break  # the episode was cut off here
    assert agent == move[0], f"move {{number}}: it is {{agent}}'s turn, recorded {{move[0]}}'s"
    env.step({action})
    last[agent] = number
assert next(moves, None) is None, "the game ended before its record"
{ended}env.close()
'''
_AT_ONCE: Final = '''
env = {make}
observations, infos = env.reset(seed={seed})
earned, last = {{}}, {{}}


def settle(agent):
    """What an agent has earned since its move is known when it moves again, or at the end."""
    if agent in last:
        step, got = last[agent], earned[agent]
        expected = STEPS[step][agent][1]
        assert got == expected, f"step {{step}}, {{agent}}: {{got}}, recorded {{expected}}"
        earned[agent] = 0.0


for step, moves in enumerate(STEPS):
    for agent in moves:
        settle(agent)
        last[agent] = step
    actions = {{agent: {action} for agent, (move, _) in moves.items()}}
    observations, rewards, terminations, truncations, infos = env.step(actions)
    for agent, reward in rewards.items():
        earned[agent] = earned.get(agent, 0.0) + float(reward)
for agent in last:
    settle(agent)
{ended}env.close()
'''


def export_python(recorded: RecordedEpisode, versions: Mapping[str, Any]) -> str:
    """Return a program that makes the environment, plays the recorded actions and asserts the rewards.

    All values of the record become literals in the program, so it never executes text from another user's
    run.

    Args:
        recorded: The episode.
        versions: Package versions of the run, by name.

    Raises:
        NotAllowedError: The run names code that the user has not allowed.
        RunFormatError: No seed is on record, or a row is damaged.
        UsageError: Only MOSAIC can make the environment, or its actions cannot be written as Python code.
    """
    order, episode, steps = ReplayOrder.of(recorded), recorded.episode, recorded.steps()
    config = order.config
    checked_permissions(config, env_only=True)
    environment = make_environment(config)
    try:
        made = _made(environment, config)
        # The spaces of agents that appear later are assumed to be like those of the first agents.
        there = environment.adapter.possible_agents
        spaces = [environment.adapter.action_space(row.agent_id) for row in steps if row.agent_id in there]
        if unknown := {type(space).__name__ for space in spaces} - _WRITABLE:
            raise UsageError(
                f"actions of a {min(unknown)} space cannot be written as Python code", fix=_OTHERWISE
            )
        api = environment.spec.api
    finally:
        environment.close()
    arrays = any(isinstance(row.action, list) for row in steps)
    loop, action, space = _LOOPS[api]
    cut = episode.truncated or episode.status != EpisodeStatus.COMPLETED
    ended = "" if cut else "assert not env.agents\n"
    if api == "gymnasium":
        ended = f"assert bool(terminated) is {steps[-1].terminated}\n"
        # The run's own step limit may have cut the episode off, which the environment does not know.
        ended += "" if steps[-1].truncated else "assert not truncated\n"
    loop = loop.format(
        make=made.call,
        seed=order.seed,
        action=f"np.array({action}, dtype={space}.dtype)" if arrays else action,
        ended=ended,
    )
    imports = (*(("import numpy as np", "") if arrays else ()), *made.imports)
    known = ", ".join(f"{name} {version}" for name, version in versions.items())
    lines = [
        f"# Episode {order.index} of {recorded.name!r} in the run {recorded.run.name!r}, without MOSAIC.",
        f"# Recorded with {known!r}.",
        *imports,
        "",
        f"STEPS = {pformat(_played(api, steps), width=110, compact=True, sort_dicts=False)}",
    ]
    told = f'print("{episode.length} steps, every reward as recorded")\n'
    return "\n".join(lines) + "\n" + loop + told


def _made(environment: Environment, config: OperatorConfig) -> EnvironmentSource:
    """Return source code that makes the environment without MOSAIC.

    Raises:
        UsageError: The environment cannot be made without MOSAIC.
    """
    spec, adapter = environment.spec, environment.adapter
    if config.manager:
        raise UsageError(
            f"{spec.id} cannot be played without MOSAIC, which defines the options of its managers",
            fix=_OTHERWISE,
        )
    made = environment.family.as_source(spec, config.env_kwargs)
    renamed = False
    if spec.api != "gymnasium":
        agents = adapter.possible_agents
        own: list[Any] = [adapter.key_of(agent) for agent in agents]
        renamed = list(agents) != own or not callable(environment.env.action_space)
    if made is None or renamed:
        raise UsageError(
            f"{spec.id} cannot be played without MOSAIC, which makes it or names its agents", fix=_OTHERWISE
        )
    return made


def _played(api: str, steps: Sequence[StepRecord]) -> list[Any]:
    """Return the recorded actions and rewards: one entry per step, or per move in turn-based games."""
    if api == "gymnasium":
        return [(row.action, row.reward) for row in steps]
    if api == "aec":
        return [(row.agent_id, row.action, row.reward) for row in steps]
    rounds: dict[int, dict[str, tuple[Any, float | None]]] = {}
    for row in steps:
        rounds.setdefault(row.step_index, {})[row.agent_id] = row.action, row.reward
    return list(rounds.values())


_LOOPS: Final = {
    "gymnasium": (_SINGLE, "action", "env.action_space"),
    "aec": (_TURNS, "move[1]", "env.action_space(agent)"),
    "parallel": (_AT_ONCE, "move", "env.action_space(agent)"),
}
"""Text of the loop for each interface, with the expressions for an action and its space."""
