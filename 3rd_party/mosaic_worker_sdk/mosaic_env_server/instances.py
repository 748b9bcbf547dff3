"""Serves environments: sends their spaces once, then their state after every reset and step."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from mosaic_env_server.old_gym import modern
from mosaic_env_server.plain import dumps, info_text
from mosaic_worker.codec import Codec
from mosaic_worker.gymnasium_spaces import describe
from mosaic_worker.interfaces import api_of, spaces_of
from mosaic_worker.learning.action_masks import mask_method
from mosaic_worker.pb import environment_pb2 as pb

ANSWERS = ("text", "facts", "briefing", "success", "scores")
"""Names of optional requests; an environment supports a request by a method ``mosaic_<name>``."""
_OF_AN_AGENT = frozenset({"text", "facts", "briefing"})
_ALL = "__all__"
_LATER = "an action came for agent number {}, and there are {}"


class Instance:
    """Base class of served environments; the player refers to agents by their index.

    Args:
        env: The environment.
    """

    api = ""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.keys: List[Any] = []
        self._places: Dict[Any, int] = {}
        self._codecs: List[Tuple[Codec, Codec]] = []

    # -- description

    def made(self) -> pb.Made:
        """Return the description that is sent to the player once, when the environment has been created."""
        env = self.env
        return pb.Made(
            api=self.api,
            agents=[self._agent(i) for i in range(len(self.keys))],
            metadata=dumps(self._metadata()),
            render_mode=str(getattr(env, "render_mode", None) or ""),
            max_episode_steps=int(getattr(getattr(env, "spec", None), "max_episode_steps", None) or 0),
            answers=[name for name in ANSWERS if self._answerer(name) is not None],
        )

    def _metadata(self) -> Mapping[str, Any]:
        return dict(getattr(self.env, "metadata", None) or {})

    def _agent(self, place: int) -> pb.Agent:
        observing, acting = self._codecs[place]
        return pb.Agent(
            name=dumps(self.keys[place]),
            observation_space=dumps(observing.space.to_json()),
            action_space=dumps(acting.space.to_json()),
        )

    def _spaces(self, key: Any) -> Tuple[Any, Any]:
        """Return the observation space and the action space of one agent."""
        return self.env.observation_space(key), self.env.action_space(key)

    def _add(self, key: Any) -> int:
        """Return the index of an agent; add the agent if it is new."""
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self.keys)
            self.keys.append(key)
            observes, acts = self._spaces(key)
            self._codecs.append((Codec(describe(observes)), Codec(describe(acts))))
        return place

    # -- requests

    def reset(self, seed: Optional[int], options: Optional[Mapping[str, Any]]) -> pb.State:
        """Begin an episode."""
        raise NotImplementedError

    def step(self, actions: Sequence[pb.Action]) -> pb.State:
        """Play one action for each agent that acts."""
        raise NotImplementedError

    def render(self) -> Any:
        """Return the rendered frame, or ``None`` if the environment has no render mode."""
        return None if getattr(self.env, "render_mode", None) is None else self.env.render()

    def ask(self, name: str, place: int) -> str:
        """Call the environment's method ``mosaic_<name>`` for the agent with index ``place``; return its
        result as JSON.

        Raises:
            LookupError: The environment has no such method.
        """
        answer = self._answerer(name)
        if answer is None:
            raise LookupError(f"{type(self.env).__name__} has no mosaic_{name}()")
        return dumps(answer(self.keys[place]) if name in _OF_AN_AGENT else answer())

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    def _answerer(self, name: str) -> Any:
        if name not in ANSWERS:
            return None
        inner = getattr(self.env, "unwrapped", self.env)
        method = f"mosaic_{name}"
        return getattr(self.env, method, None) or getattr(inner, method, None)

    def _action(self, action: pb.Action) -> Any:
        if action.agent >= len(self.keys):
            raise LookupError(_LATER.format(action.agent, len(self.keys)))
        return self._codecs[action.agent][1].decode(action.value)

    def _observation(self, place: int, observation: Any) -> Sequence[bytes]:
        return self._codecs[place][0].encode(observation)


class SingleAgentInstance(Instance):
    """Serves an environment with Gymnasium's interface and one agent."""

    api = "gymnasium"

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._mask = mask_method(env)
        self._add("")

    def _spaces(self, key: Any) -> Tuple[Any, Any]:
        return self.env.observation_space, self.env.action_space

    def reset(self, seed: Optional[int], options: Optional[Mapping[str, Any]]) -> pb.State:
        observation, info = self.env.reset(seed=seed, options=options)
        return self._state(observation, 0.0, False, False, info)

    def step(self, actions: Sequence[pb.Action]) -> pb.State:
        return self._state(*self.env.step(self._action(actions[0])))

    def _state(
        self, observation: Any, reward: Any, terminated: Any, truncated: Any, info: Mapping[str, Any]
    ) -> pb.State:
        shown = pb.AgentState(
            observed=True,
            observation=self._codecs[0][0].encode(observation),
            reward=float(reward),
            terminated=bool(terminated),
            truncated=bool(truncated),
            info=info_text(self._with_mask(info) if not (terminated or truncated) else info),
        )
        return pb.State(agents=[shown])

    def _with_mask(self, info: Mapping[str, Any]) -> Mapping[str, Any]:
        # The player reads legal actions from the info, because it cannot call a method of the environment.
        return info if self._mask is None else {**info, "action_mask": self._mask()}


class MultiAgentInstance(Instance):
    """Base class for interfaces with several agents, which may join during an episode."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._told = 0
        for key in self._possible():
            self._add(key)
        self._told = len(self.keys)

    def _possible(self) -> Iterable[Any]:
        listed = getattr(self.env, "possible_agents", None)
        if listed is None:
            self.env.reset()
            listed = self.env.agents
        return list(listed)

    def _close_state(self, state: pb.State) -> pb.State:
        """Add agents that have joined since the last state to ``state`` and return it."""
        for place in range(self._told, len(self.keys)):
            state.joined.append(self._agent(place))
        self._told = len(self.keys)
        return state


class ParallelInstance(MultiAgentInstance):
    """Serves an environment whose agents act simultaneously: PettingZoo Parallel, or dicts by agent."""

    api = "parallel"

    def __init__(self, env: Any) -> None:
        self._by_dict = not callable(spaces_of(env, "observation_space"))
        super().__init__(env)

    def _possible(self) -> Iterable[Any]:
        if not self._by_dict:
            return super()._possible()
        acts: Any = spaces_of(self.env, "action_space")
        return list(getattr(acts, "spaces", acts))

    def _spaces(self, key: Any) -> Tuple[Any, Any]:
        found = [spaces_of(self.env, name) for name in ("observation_space", "action_space")]
        observes, acts = (space[key] if self._by_dict else space(key) for space in found)
        return observes, acts

    def reset(self, seed: Optional[int], options: Optional[Mapping[str, Any]]) -> pb.State:
        observations, infos = self.env.reset(seed=seed, options=options)
        living = list(observations) if self._by_dict else list(self.env.agents)
        state = pb.State(living=[self._add(key) for key in living])
        for key in living:
            state.agents.append(self._shown(key, observations, infos))
        return self._close_state(state)

    def step(self, actions: Sequence[pb.Action]) -> pb.State:
        played = {self.keys[action.agent]: self._action(action) for action in actions}
        observations, rewards, terminated, truncated, infos = self.env.step(played)
        ends, cut = bool(terminated.get(_ALL)), bool(truncated.get(_ALL))
        state = pb.State()
        for key in dict.fromkeys([*observations, *rewards, *terminated, *truncated]):
            if key == _ALL:
                continue
            shown = self._shown(key, observations, infos)
            shown.terminated = ends or bool(terminated.get(key, False))
            shown.truncated = cut or bool(truncated.get(key, False))
            if key in rewards:
                shown.paid, shown.reward = True, float(rewards[key])
            state.agents.append(shown)
        if self._by_dict:
            alive = [each.agent for each in state.agents if each.observed]
            over = {each.agent for each in state.agents if each.terminated or each.truncated}
            state.living.extend(place for place in alive if place not in over)
        else:
            state.living.extend(self._add(key) for key in self.env.agents)
        return self._close_state(state)

    def _shown(
        self, key: Any, observations: Mapping[Any, Any], infos: Optional[Mapping[Any, Any]]
    ) -> pb.AgentState:
        place = self._add(key)
        shown = pb.AgentState(agent=place, info=info_text((infos or {}).get(key)))
        if key in observations:
            shown.observed = True
            shown.observation.extend(self._observation(place, observations[key]))
        return shown


class AECInstance(MultiAgentInstance):
    """Serves a PettingZoo AEC environment, in which one agent acts at a time."""

    api = "aec"

    def _metadata(self) -> Mapping[str, Any]:
        layers = {type(env).__name__ for env in _layers(self.env)}
        return {**super()._metadata(), "parallel_to_aec": "parallel_to_aec_wrapper" in layers}

    def reset(self, seed: Optional[int], options: Optional[Mapping[str, Any]]) -> pb.State:
        self.env.reset(seed=seed, options=options)
        return self._state()

    def step(self, actions: Sequence[pb.Action]) -> pb.State:
        self.env.step(self._action(actions[0]) if actions and actions[0].value else None)
        return self._state()

    def _state(self) -> pb.State:
        env = self.env
        living = list(env.agents)
        state = pb.State(living=[self._add(key) for key in living])
        if not living:
            return self._close_state(state)
        selected = env.agent_selection
        state.selection = self._add(selected)
        owed: Mapping[Any, Any] = getattr(env, "_cumulative_rewards", None) or {}
        for key in living:
            shown = pb.AgentState(agent=self._add(key), reward=float(owed.get(key, 0.0)), paid=True)
            if key == selected:
                observation, reward, terminated, truncated, info = env.last()
                if observation is not None:
                    shown.observed = True
                    shown.observation.extend(self._observation(shown.agent, observation))
                shown.reward, shown.info = float(reward), info_text(info)
                shown.terminated, shown.truncated = bool(terminated), bool(truncated)
            else:
                shown.terminated = bool(env.terminations.get(key, False))
                shown.truncated = bool(env.truncations.get(key, False))
            state.agents.append(shown)
        return self._close_state(state)


def serve(env: Any, api: str = "", render_mode: str = "") -> Instance:
    """Return the served instance for an environment, by its interface.

    Args:
        env: The environment.
        api: Interface that the player requires; ``""`` for any.
        render_mode: Render mode with which the environment was made.

    Raises:
        ValueError: ``env`` is no environment, or has another interface.
    """
    found = api_of(env)
    if api and api != found:
        raise ValueError(f"{type(env).__name__} has the {found} interface, not {api}")
    if found == "gymnasium":
        return SingleAgentInstance(modern(env, render_mode))
    return ParallelInstance(env) if found == "parallel" else AECInstance(env)


def _layers(env: Any) -> Iterable[Any]:
    """Yield ``env`` and all environments that it wraps, from the outside in."""
    while env is not None:
        yield env
        env = getattr(env, "env", None)
