"""From what a person writes to one environment, or to a sentence that helps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import pytest
from gymnasium.envs.classic_control import CartPoleEnv
from hypothesis import given, settings
from hypothesis import strategies as st
from mpe2 import simple_spread_v3

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import ExperimentError, MissingDependencyError, UnknownNameError, UsageError
from gym_gui.envs import EnvSpec, Family, families, list_specs, make, register, resolve
from gym_gui.envs.families.custom import registered
from gym_gui.envs.families.multigrid import MultiGridFamily
from gym_gui.envs.spec import newest_of, split_version

SINGLE, TURNS, AT_ONCE = (
    SteppingParadigm.SINGLE_AGENT,
    SteppingParadigm.SEQUENTIAL,
    SteppingParadigm.SIMULTANEOUS,
)


@pytest.mark.parametrize(
    ("task", "env_id", "family", "paradigm"),
    [
        ("CartPole-v1", "CartPole-v1", "gymnasium", SINGLE),
        ("Taxi-v4", "Taxi-v4", "gymnasium", SINGLE),
        ("chess_v6", "classic/chess_v6", "pettingzoo", TURNS),
        ("classic/chess_v6", "classic/chess_v6", "pettingzoo", TURNS),
        ("pettingzoo/classic/chess_v6", "classic/chess_v6", "pettingzoo", TURNS),
        ("pettingzoo.classic.chess_v6", "classic/chess_v6", "pettingzoo", TURNS),
        ("chess-v6", "classic/chess_v6", "pettingzoo", TURNS),
        ("rps_v2", "classic/rps_v2", "pettingzoo", TURNS),
        ("pistonball_v6", "butterfly/pistonball_v6", "pettingzoo", AT_ONCE),
        ("mpe2/simple_spread_v3", "mpe2/simple_spread_v3", "mpe2", AT_ONCE),
        ("simple_spread_v3", "mpe2/simple_spread_v3", "mpe2", AT_ONCE),
        ("pettingzoo.mpe.simple_tag_v3", "mpe2/simple_tag_v3", "mpe2", AT_ONCE),
        ("MiniGrid-Empty-8x8-v0", "MiniGrid-Empty-8x8-v0", "minigrid", SINGLE),
        ("BabyAI-GoToRedBall-v0", "BabyAI-GoToRedBall-v0", "minigrid", SINGLE),
        ("open_spiel/tic_tac_toe", "open_spiel/tic_tac_toe", "openspiel", TURNS),
        ("MosaicMultiGrid-S-2v2-IndAgObs-v1", "MosaicMultiGrid-S-2v2-IndAgObs-v1", "multigrid", AT_ONCE),
        ("MultiGrid-RedBlueDoors-6x6-v0", "MultiGrid-RedBlueDoors-6x6-v0", "ini_multigrid", AT_ONCE),
    ],
)
def test_a_name_is_understood(task: str, env_id: str, family: str, paradigm: SteppingParadigm) -> None:
    spec = resolve(task)
    assert (spec.id, spec.family, spec.paradigm) == (env_id, family, paradigm)


@pytest.mark.parametrize(
    ("task", "env_id"),
    [
        ("MosaicMultiGrid-Soccer-2vs2-IndAgObs-v0", "MosaicMultiGrid-S-2v2-IndAgObs-v1"),
        ("MosaicMultiGrid-Soccer-2vs2-v0", "MosaicMultiGrid-S-2v2-IndAgObs-v1"),
        ("MosaicMultiGrid-soccer-2v2-IndAgObs-v1", "MosaicMultiGrid-S-2v2-IndAgObs-v1"),
        ("MosaicMultiGrid-Basketball-3vs3-IndAgObs-v0", "MosaicMultiGrid-BB-3v3-IndAgObs-v1"),
        ("MosaicMultiGrid-AmericanFootball-1vs2-IndAgObs-v0", "MosaicMultiGrid-AF-1v2-IndAgObs-v1"),
        ("MosaicMultiGrid-Collect-IndAgObs-v0", "MosaicMultiGrid-C-IndAgObs-v1"),
    ],
)
def test_multigrid_names_of_earlier_releases(task: str, env_id: str) -> None:
    assert resolve(task, env_name="multigrid").id == env_id


def test_todays_multigrid_names_are_never_respelled() -> None:
    family = MultiGridFamily()
    for spec in family.specs():
        assert list(family.candidates(spec.id)) == [spec.id]


@pytest.mark.parametrize(
    ("task", "nearest"),
    [
        ("Taxi-v3", "Taxi-v4"),
        ("CartPole", "CartPole-v1"),
        ("CartPole-v9", "CartPole-v1"),
        ("CartPoel-v1", "CartPole-v1"),
        ("chess_v5", "classic/chess_v6"),
        ("connect_fuor_v3", "connect_four_v3"),
        ("simple_spread_v2", "mpe2/simple_spread_v3"),
        ("MiniGrid-Empty-8x8", "MiniGrid-Empty-8x8-v0"),
        ("MosaicMultiGrid-S-2v2-IndAgObs-v0", "MosaicMultiGrid-S-2v2-IndAgObs-v1"),
    ],
)
def test_an_unknown_name_brings_the_nearest(task: str, nearest: str) -> None:
    with pytest.raises(UnknownNameError, match=re.escape(f"Did you mean {nearest!r}?")):
        resolve(task)


def test_a_name_like_no_other_says_where_to_look() -> None:
    with pytest.raises(UnknownNameError, match="mosaic envs list"):
        resolve("q9")


@pytest.mark.parametrize(
    ("task", "env_name"),
    [
        ("MiniGrid-Empty-8x8-v0", "minigrid"),
        ("MiniGrid-Empty-8x8-v0", "gymnasium"),
        ("BabyAI-GoToRedBall-v0", "babyai"),
        ("CartPole-v1", "classic_control"),
        ("chess_v6", "pettingzoo"),
        ("chess_v6", "pettingzoo_classic"),
        ("simple_spread_v3", "pettingzoo"),
        ("tic_tac_toe", "open_spiel"),
        ("MosaicMultiGrid-Soccer-2vs2-IndAgObs-v0", "mosaic_multigrid"),
        ("MultiGrid-RedBlueDoors-6x6-v0", "multigrid"),
        ("MultiGrid-RedBlueDoors-6x6-v0", "gymnasium"),
    ],
)
def test_a_hint_that_fits(task: str, env_name: str) -> None:
    assert resolve(task, env_name=env_name) == resolve(task)


@pytest.mark.parametrize(
    ("task", "env_name", "said"),
    [
        ("CartPole-v1", "minigrid", "belongs to 'gymnasium', not to 'minigrid'"),
        ("MiniGrid-Empty-8x8-v0", "babyai", "does not belong to 'babyai'"),
        ("chess_v6", "butterfly", "does not belong to 'butterfly'"),
    ],
)
def test_a_hint_that_contradicts(task: str, env_name: str, said: str) -> None:
    with pytest.raises(ExperimentError, match=said):
        resolve(task, env_name=env_name)


def test_an_unknown_hint() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'pettingzoo'"):
        resolve("chess_v6", env_name="petingzoo")


def test_the_interface_may_be_chosen() -> None:
    assert resolve("rps_v2", api="parallel").paradigm is AT_ONCE
    assert resolve("MosaicMultiGrid-S-2v2-IndAgObs-v1", api="aec").paradigm is TURNS
    with pytest.raises(ExperimentError, match="no 'parallel' interface"):
        resolve("chess_v6", api="parallel")


def test_versions_are_told_from_names() -> None:
    assert split_version("Taxi-v3") == ("Taxi", 3)
    assert split_version("classic/chess_v6") == ("classic/chess", 6)
    assert split_version("tic_tac_toe") == ("tic_tac_toe", None)
    assert newest_of("a-v1", ["a-v2", "a-v10", "b-v11"]) == "a-v10"


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=40))
def test_no_name_gets_anything_but_a_spec_or_a_usage_error(text: str) -> None:
    try:
        assert isinstance(resolve(text), EnvSpec)
    except UsageError as error:
        assert str(error)


# -- environments of the user's own


@pytest.fixture
def own() -> Iterator[str]:
    yield "own/Pole"
    registered.remove("own/Pole")


def test_a_registered_factory(own: str) -> None:
    spec = register(own, CartPoleEnv)
    assert spec in list_specs("custom")
    environment = make(own, render_mode="rgb_array")
    assert resolve(own).paradigm is SINGLE
    assert environment.adapter.reset(seed=0)["agent_0"].shape == (4,)
    assert environment.adapter.render().shape == (400, 600, 3)
    with pytest.raises(UsageError, match="registered already"):
        register(own, CartPoleEnv)


def test_a_registered_factory_may_bring_its_family(own: str) -> None:
    class Poles(Family):
        name: ClassVar[str] = "poles"
        title: ClassVar[str] = "Poles"

        def build(self, spec: EnvSpec, *, render_mode: str | None, env_kwargs: Mapping[str, Any]) -> Any:
            return CartPoleEnv(**env_kwargs)

        def action_meanings(self, environment: Any, agent: str) -> tuple[str, ...]:
            return ("west", "noop")

    register(own, CartPoleEnv, family=Poles())
    environment = make(own)
    assert environment.action_meanings("agent_0") == ("west", "noop")
    assert environment.noop_action("agent_0") == 1


def test_a_family_that_makes_no_environments_is_named_with_what_it_lacks(own: str) -> None:
    class Poles(Family):
        name: ClassVar[str] = "poles"
        title: ClassVar[str] = "Poles"

    register(own, CartPoleEnv, family=Poles())
    with pytest.raises(UsageError) as refused:
        make(own)
    assert (
        refused.value.message
        == "the family 'poles' has neither built_by nor build(), so it cannot make environments"
    )
    assert "Poles" in refused.value.fix and 'built_by = "module:function"' in refused.value.fix


def test_a_module_and_a_factory() -> None:
    point = "gymnasium.envs.classic_control.cartpole:CartPoleEnv"
    assert resolve(point).family == "custom"
    assert make(point).adapter.paradigm is SINGLE


def test_how_an_own_environment_takes_turns_is_seen_when_it_is_made() -> None:
    environment = make("mpe2.simple_spread_v3:parallel_env", env_kwargs={"max_cycles": 5})
    assert environment.spec.paradigm is AT_ONCE
    assert environment.adapter.paradigm is AT_ONCE
    assert make("mpe2.simple_spread_v3:env").spec.paradigm is TURNS
    assert make("mpe2.simple_spread_v3:parallel_env", api="aec").spec.paradigm is TURNS, "it is converted"
    with pytest.raises(UsageError, match="has the gymnasium interface, not aec"):
        make("gymnasium.envs.classic_control.cartpole:CartPoleEnv", api="aec")


@pytest.mark.parametrize(
    ("point", "said"),
    [
        ("no_such_module:make", "there is no module 'no_such_module'"),
        ("mpe2.no_such:env", "there is no module 'mpe2.no_such'"),
        ("mpe2.simple_spread_v3:nothing", "defines no 'nothing'"),
        ("mpe2:__version__", "is no function or class"),
        ("builtins:dict", "is no environment"),
    ],
)
def test_a_module_and_a_factory_that_do_not_work(point: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        make(point)


def test_what_a_user_registers_with_gymnasium_is_found() -> None:
    gymnasium.register("OwnPole-v3", entry_point="gymnasium.envs.classic_control.cartpole:CartPoleEnv")
    try:
        assert resolve("OwnPole-v3").family == "gymnasium"
        make("OwnPole-v3").close()
    finally:
        gymnasium.registry.pop("OwnPole-v3")


def test_wrong_keywords_are_a_sentence() -> None:
    with pytest.raises(UsageError, match=r"CartPole-v1 could not be made: TypeError: .*gravitas"):
        make("CartPole-v1", env_kwargs={"gravitas": 1})


def test_keywords_reach_the_environment() -> None:
    assert make("simple_spread_v3", env_kwargs={"N": 5}).adapter.possible_agents[-1] == "agent_4"
    assert type(make("simple_spread_v3", api="parallel").env) is type(
        simple_spread_v3.parallel_env().unwrapped
    )


# -- packages that are missing, families of others


@pytest.fixture
def plugged_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two installed distributions with entry points: one sound family, one that cannot be imported."""
    info = tmp_path / "plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[mosaic.families]\nabsent = plugin_family:FAMILY\nbad = plugin_gone:X\n"
    )
    (tmp_path / "plugin_family.py").write_text(
        "from gym_gui.envs import Family\n"
        "class Absent(Family):\n"
        "    name, title, extra = 'absent', 'Absent', 'absent'\n"
        "    modules, prefixes = ('no_such_package_anywhere',), ('Absent-',)\n"
        "    hints = {'gone': ''}\n"
        "FAMILY = Absent()\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    families.cache_clear()
    yield
    families.cache_clear()


def test_a_family_comes_by_entry_point_and_a_broken_one_hurts_nobody(
    plugged_in: None, caplog: pytest.LogCaptureFixture
) -> None:
    assert families()["absent"].title == "Absent"
    assert "'bad' cannot be loaded" in caplog.text
    assert resolve("CartPole-v1").family == "gymnasium"


@pytest.mark.parametrize(
    ("task", "env_name"), [("Absent-Thing-v0", None), ("Thing-v0", "absent"), ("Thing-v0", "gone")]
)
def test_a_missing_package_brings_its_install_line(plugged_in: None, task: str, env_name: str | None) -> None:
    with pytest.raises(MissingDependencyError) as caught:
        resolve(task, env_name=env_name)
    assert caught.value.install == "mosaic envs install absent"
    assert "no_such_package_anywhere is not installed" in str(caught.value)


def test_listing_a_missing_family_says_so_and_listing_all_leaves_it_out(plugged_in: None) -> None:
    with pytest.raises(MissingDependencyError):
        list_specs("absent")
    assert "absent" not in {spec.family for spec in list_specs()}


def test_a_package_that_is_missing_only_when_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "half_there.py").write_text("def make():\n    import no_such_engine\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UsageError, match="half_there:make imports no_such_engine, which is not") as caught:
        make("half_there:make")
    # Nothing says that a package of a module's name is the right one, or a friendly one.
    assert caught.value.fix.endswith(" PACKAGE") and "half_there" not in caught.value.fix


def test_every_family_can_say_how_it_is_installed() -> None:
    for family in families().values():
        if family.modules:
            assert family.extra
        assert family.name and family.title


@pytest.mark.parametrize(
    ("task", "absent", "command"),
    [
        ("connect_four_v3", "pettingzoo", "mosaic envs install pettingzoo"),
        ("simple_spread_v3", "mpe2", "mosaic envs install mpe2"),
    ],
)
def test_a_name_of_a_package_that_is_absent_names_what_installs_it(
    task: str, absent: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    family = type(families()[absent])
    monkeypatch.setattr(family, "modules", ("a_package_that_nothing_has",))
    monkeypatch.setattr(family, "listable", False)
    with pytest.raises(MissingDependencyError, match=command):
        resolve(task)


def test_a_name_is_looked_up_and_not_searched_for_among_twenty_thousand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Registry(dict[str, Any]):
        def _walked(self) -> Any:
            raise AssertionError("the whole registry is read to find one name")

        items = values = __iter__ = _walked  # type: ignore[assignment]

    monkeypatch.setattr(gymnasium, "registry", Registry(gymnasium.registry))
    assert resolve("CartPole-v1").id == "CartPole-v1"
    assert resolve("Ant-v5").family == "mujoco"
