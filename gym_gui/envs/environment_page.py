"""Page of facts about an environment: description, agents, actions and keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import prod
from typing import Any, cast

import numpy as np

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import UsageError
from gym_gui.envs.documents.markdown import clean, first_sentence
from gym_gui.envs.environment import Environment
from gym_gui.envs.environment_registry import family_of, make, resolve
from gym_gui.envs.family import Family
from gym_gui.envs.keymaps import KeyScheme
from gym_gui.envs.spec import EnvSpec

Actions = tuple[tuple[int, str], ...]
_WORDED = 64
"""Largest number of unnamed actions that are listed one by one."""


@dataclass(frozen=True)
class EnvironmentPage:
    """All facts about an environment, as plain data that processes can exchange.

    Attributes:
        id: Canonical id.
        title: Display name.
        family: Display name of the environment's family.
        summary: One sentence; never empty.
        text: Documentation as Markdown; may be empty.
        doc_url: Web page with more details, or ``""``.
        paradigm: How the agents take turns.
        render_modes: See :func:`render_modes`.
        board: Whether the environment is a board game that can be drawn and clicked on.
        agents: Names of the agents.
        teams: Agents of each team.
        seats: The game's own names of agents, for agents that have one.
        max_steps: Longest episode in steps; ``None`` if unknown.
        actions: Number and name of each action, by agent; empty if actions are not numbers or too many to
            list. An action without a name is called ``action 3``.
        sees: Observation space of each agent, as text.
        does: Action space of each agent, as text.
        keys: Default keys of each agent, for the first and the second person at a keyboard.
        trouble: Why the environment cannot be made, with a fix; its agents are then unknown.
    """

    id: str
    title: str
    family: str
    summary: str
    text: str
    doc_url: str
    paradigm: SteppingParadigm
    render_modes: tuple[str, ...]
    board: bool
    agents: tuple[str, ...] = ()
    teams: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, Any])
    seats: Mapping[str, str] = field(default_factory=dict[str, str])
    max_steps: int | None = None
    actions: Mapping[str, Actions] = field(default_factory=dict[str, Any])
    sees: Mapping[str, str] = field(default_factory=dict[str, Any])
    does: Mapping[str, str] = field(default_factory=dict[str, Any])
    keys: Mapping[str, tuple[KeyScheme, KeyScheme]] = field(default_factory=dict[str, Any])
    trouble: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain data from which :meth:`from_json` makes an equal page."""
        return asdict(self) | {"paradigm": self.paradigm.name}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> EnvironmentPage:
        """Return a page from the data of :meth:`to_json`."""
        fields: dict[str, Any] = dict(data)
        fields["paradigm"] = SteppingParadigm[data["paradigm"]]
        fields["render_modes"], fields["agents"] = tuple(data["render_modes"]), tuple(data["agents"])
        fields["teams"] = {team: tuple(agents) for team, agents in data["teams"].items()}
        fields["actions"] = {
            agent: tuple((int(number), str(word)) for number, word in actions)
            for agent, actions in data["actions"].items()
        }
        fields["keys"] = {
            agent: tuple(KeyScheme.from_json(scheme) for scheme in schemes)
            for agent, schemes in data["keys"].items()
        }
        return cls(**fields)


def document(
    task: str | EnvSpec | Environment,
    *,
    env_name: str | None = None,
    api: str | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
) -> EnvironmentPage:
    """Return the page of facts about an environment.

    The environment is made once to get its agents and spaces, and never stepped. This imports the package,
    which takes a second or two the first time. Call this function in a thread, or in a separate process if
    the package may crash.

    Args:
        task: A name for :func:`gym_gui.envs.resolve`, its result, or an existing environment, which stays
            open.
        env_name: Family hint.
        api: Interface.
        env_kwargs: Keyword arguments for the environment.

    Raises:
        UsageError: There is no such environment. If it exists but cannot be made, the page has the reason
            in ``trouble``.
    """
    if isinstance(task, Environment):
        spec, facts = task.spec, _facts(task)
    else:
        spec = resolve(task, env_name=env_name, api=api) if isinstance(task, str) else task
        facts = _facts_of_new(spec, env_kwargs)
    family = family_of(spec)
    text = clean(family.documentation(spec))
    agents: tuple[str, ...] = facts.get("agents", ())
    return EnvironmentPage(
        id=spec.id,
        title=family.title_of(spec),
        family=family.title,
        summary=family.summary(spec) or first_sentence(text) or _plain_summary(family, agents),
        text=text,
        doc_url=family.doc_url(spec),
        render_modes=family.render_modes(spec),
        board=family.has_board(spec),
        **facts,
    )


def _facts_of_new(spec: EnvSpec, env_kwargs: Mapping[str, Any] | None) -> dict[str, Any]:
    try:
        environment = make(spec, env_kwargs=env_kwargs)
    except UsageError as error:
        return {"trouble": str(error), "max_steps": spec.max_episode_steps, "paradigm": spec.paradigm}
    try:
        return _facts(environment)
    finally:
        environment.close()


def _facts(environment: Environment) -> dict[str, Any]:
    adapter = environment.adapter
    agents = adapter.possible_agents
    return {
        "paradigm": adapter.paradigm,
        "agents": agents,
        "teams": dict(environment.teams),
        "seats": dict(environment.seat_names),
        "max_steps": step_limit(environment),
        "actions": {agent: _actions(environment, agent) for agent in agents},
        "sees": {agent: in_words(adapter.observation_space(agent)) for agent in agents},
        "does": {agent: in_words(adapter.action_space(agent)) for agent in agents},
        "keys": {agent: (environment.keys(agent, 0), environment.keys(agent, 1)) for agent in agents},
    }


def step_limit(environment: Environment) -> int | None:
    """Return the longest episode of an environment in steps, from its usual attributes.

    ``None`` if unknown.
    """
    if environment.max_episode_steps:
        return environment.max_episode_steps
    for name in ("max_steps", "max_cycles", "max_iter"):
        value: Any = getattr(environment.env, name, None)
        if isinstance(value, int) and value > 0:
            return value
    return None


def _actions(environment: Environment, agent: str) -> Actions:
    space: Any = environment.adapter.action_space(agent)
    n: Any = getattr(space, "n", None)
    if n is None or getattr(space, "shape", None):
        return ()
    first = int(getattr(space, "start", 0))
    words = environment.action_meanings(agent)
    if not words and n > _WORDED:
        return ()
    return tuple((first + i, words[i] if words else f"action {first + i}") for i in range(int(n)))


def _plain_summary(family: Family, agents: tuple[str, ...]) -> str:
    """Return a generated summary for an environment that has no description."""
    who = "one agent" if len(agents) == 1 else f"{len(agents)} agents" if agents else "agents"
    return f"An environment of {family.title} for {who}."


def keys(task: str | EnvSpec, agent: str | None = None, player: int = 0) -> KeyScheme:
    """Return the default keys for a person who plays an agent; the environment is made for this.

    Args:
        task: A name for :func:`gym_gui.envs.resolve`, or its result.
        agent: The agent; by default the first one.
        player: 0 for the first person at the keyboard, 1 for the second.

    Raises:
        UsageError: The environment or the agent does not exist, or the environment cannot be made.
    """
    environment = make(task)
    try:
        agents = environment.adapter.possible_agents
        if agent is not None and agent not in agents:
            raise UsageError(
                f"{environment.spec.id} has no agent {agent!r}", fix=f"It has {', '.join(agents)}"
            )
        return environment.keys(agent or agents[0], player)
    finally:
        environment.close()


def render_modes(task: str | EnvSpec) -> tuple[str, ...]:
    """Return which of ``rgb_array`` and ``ansi`` an environment has, pictures first; nothing is imported.

    Raises:
        UsageError: There is no such environment.
    """
    spec = resolve(task) if isinstance(task, str) else task
    return family_of(spec).render_modes(spec)


# -- descriptions of spaces ----------------------------------------------------------------


_PICTURE = 32
"""Smallest rows and columns of a byte array that counts as a picture. Smaller arrays are codes of cells."""


def in_words(space: Any) -> str:
    """Return a description of a space, such as ``one of 5``, ``4 numbers`` or ``picture 96 x 96``."""
    kind: str = type(space).__name__
    if kind == "Discrete":
        return f"one of {int(space.n)}"
    if kind == "Box":
        return _box(space)
    if kind == "MultiBinary":
        shape: tuple[int, ...] = space.shape
        return f"{prod(shape)} switches"
    if kind == "MultiDiscrete":
        choices: list[int] = np.ravel(space.nvec).tolist()
        return (
            f"{len(choices)} choices (of {', '.join(map(str, choices))})"
            if len(choices) <= 8
            else (f"{len(choices)} choices (of up to {max(choices)})")
        )
    if kind in ("Text", "MissionSpace"):
        return "text"
    children: Any = getattr(space, "spaces", None)
    if isinstance(children, Mapping):
        named = cast("Mapping[Any, Any]", children)
        return "; ".join(f"{name}: {in_words(part)}" for name, part in named.items()) or "nothing"
    if isinstance(children, (list, tuple)):
        return "; ".join(in_words(part) for part in cast("Sequence[Any]", children)) or "nothing"
    if kind == "Sequence":
        return f"any number of: {in_words(space.feature_space)}"
    return kind


def _box(space: Any) -> str:
    shape: tuple[int, ...] = space.shape
    whole = np.issubdtype(space.dtype, np.integer) or np.issubdtype(space.dtype, np.bool_)
    low, high = float(np.min(space.low)), float(np.max(space.high))
    if len(shape) == 3 and min(shape[:2]) >= _PICTURE and (low, high) == (0.0, 255.0):
        return f"picture {shape[1]} x {shape[0]}"
    what = "whole numbers" if whole else "numbers"
    size = "one number" if not shape or shape == (1,) else f"{' x '.join(map(str, shape))} {what}"
    return f"{size} from {low:g} to {high:g}" if _is_bounded(low, high, space.dtype) else size


def _is_bounded(low: float, high: float, dtype: Any) -> bool:
    """Return whether a space's bounds are informative, unlike infinity and the limits of a wide data type."""
    if np.issubdtype(dtype, np.bool_):
        return True
    ends = np.finfo(dtype) if np.issubdtype(dtype, np.floating) else np.iinfo(dtype)
    widest = ends.bits > 8 and (low <= float(ends.min) or high >= float(ends.max))
    return bool(np.isfinite(low) and np.isfinite(high)) and not widest
