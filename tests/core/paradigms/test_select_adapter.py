"""Which adapter an environment gets."""

from __future__ import annotations

from typing import Any

import gymnasium
import pytest
from gymnasium import spaces
from mpe2 import simple_spread_v3
from pettingzoo.classic.tictactoe.tictactoe import env as tictactoe

from gym_gui.core.errors import UsageError
from gym_gui.core.paradigms import SequentialAdapter, SimultaneousAdapter, SingleAgentAdapter, adapt
from gym_gui.core.paradigms.check import check_environment


class DictActions(gymnasium.Env[Any, Any]):
    """One agent whose action is a dict by name: no environment of many agents."""

    observation_space = spaces.Discrete(2)
    action_space = spaces.Dict(arm=spaces.Discrete(2), leg=spaces.Discrete(2))


class ByIndex(gymnasium.Env[Any, Any]):
    observation_space = spaces.Dict({0: spaces.Discrete(2), 1: spaces.Discrete(2)})
    action_space = spaces.Dict({0: spaces.Discrete(2), 1: spaces.Discrete(2)})


class ByName(gymnasium.Env[Any, Any]):
    possible_agents = ("red", "blue")
    observation_space = spaces.Dict(red=spaces.Discrete(2), blue=spaces.Discrete(2))
    action_space = spaces.Dict(red=spaces.Discrete(2), blue=spaces.Discrete(2))


class SpacesByName:
    """As RLlib's ``MultiAgentEnv`` is since its new stack: no space of the whole."""

    observation_space = action_space = None
    possible_agents = ("red", "blue")
    observation_spaces = {name: spaces.Discrete(4) for name in possible_agents}  # noqa: RUF012
    action_spaces = {name: spaces.Discrete(2 + i) for i, name in enumerate(possible_agents)}  # noqa: RUF012

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return {"red": 0, "blue": 0}, {}

    def step(self, actions: dict[str, int]) -> Any:
        over = {"__all__": actions["blue"] == 2}
        return dict(actions), {"red": 1.0, "blue": -1.0}, over, {"__all__": False}, {}


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: gymnasium.make("CartPole-v1"), SingleAgentAdapter),
        (DictActions, SingleAgentAdapter),
        (ByIndex, SimultaneousAdapter),
        (ByName, SimultaneousAdapter),
        (SpacesByName, SimultaneousAdapter),
        (simple_spread_v3.parallel_env, SimultaneousAdapter),
        (simple_spread_v3.env, SequentialAdapter),
        (tictactoe, SequentialAdapter),
    ],
)
def test_the_adapter_follows_from_what_the_environment_offers(make: Any, kind: type) -> None:
    assert type(adapt(make())) is kind


def test_spaces_by_agent_are_enough_to_play() -> None:
    adapter = adapt(SpacesByName())
    assert adapter.reset(seed=1) == {"red": 0, "blue": 0}
    assert adapter.possible_agents == ("red", "blue")
    assert [adapter.action_space(name).n for name in adapter.possible_agents] == [2, 3]
    assert adapter.observation_space("blue") == spaces.Discrete(4)
    assert adapter.step({"red": 1, "blue": 1}).rewards == {"red": 1.0, "blue": -1.0}
    assert not adapter.is_episode_done()
    adapter.step({"red": 0, "blue": 2})
    assert adapter.is_episode_done()


def test_an_interface_it_does_not_have_is_refused() -> None:
    with pytest.raises(UsageError, match="has the aec interface, not parallel"):
        adapt(tictactoe(), "parallel")
    with pytest.raises(UsageError, match="unknown api 'sequential'"):
        adapt(tictactoe(), "sequential")


@pytest.mark.parametrize("make", [simple_spread_v3.parallel_env, simple_spread_v3.env])
@pytest.mark.parametrize(("api", "kind"), [("aec", SequentialAdapter), ("parallel", SimultaneousAdapter)])
def test_either_interface_for_several_agents_is_made_of_the_other(make: Any, api: str, kind: type) -> None:
    assert type(adapt(make(), api)) is kind
    report = check_environment(lambda: adapt(make(max_cycles=10), api), steps=20)
    assert report.ok, "\n".join(report.lines())


def test_turns_that_are_no_convention_are_not_played_at_once() -> None:
    with pytest.raises(UsageError, match="is_parallelizable"):
        adapt(tictactoe(), "parallel")
    with pytest.raises(UsageError, match="its own Parallel interface"):
        adapt(ByIndex(), "aec")


@pytest.mark.parametrize("thing", [object(), 3, type("Half", (), {"reset": print, "step": print})()])
def test_what_is_no_environment_is_refused(thing: Any) -> None:
    with pytest.raises(UsageError, match="is no environment"):
        adapt(thing)


def test_the_names_asked_for_are_used() -> None:
    assert adapt(ByIndex(), rename=lambda i: f"p{i}").possible_agents == ("p0", "p1")


def test_adapters_have_the_names_of_the_design_documents() -> None:
    from gym_gui.core import paradigms
    from gym_gui.core.paradigms.sequential import PettingZooParadigmAdapter
    from gym_gui.core.paradigms.simultaneous import RLlibParadigmAdapter
    from gym_gui.core.paradigms.single_agent import GymParadigmAdapter

    adapter = paradigms.adapt(gymnasium.make("CartPole-v1"))
    assert isinstance(adapter, GymParadigmAdapter)
    assert paradigms.PettingZooParadigmAdapter is PettingZooParadigmAdapter is paradigms.SequentialAdapter
    assert paradigms.RLlibParadigmAdapter is RLlibParadigmAdapter is paradigms.SimultaneousAdapter
