"""The registry keeps names unambiguous and says what to do about unknown ones."""

from __future__ import annotations

import pytest

from gym_gui.core.enums import SteppingParadigm, WorkerKind
from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.workers.capabilities import WorkerCapabilities
from gym_gui.workers.registry import WorkerInputs, WorkerTypeDefinition, WorkerTypeRegistry


def worker(type_id: str, *aliases: str, **capabilities: object) -> WorkerTypeDefinition:
    return WorkerTypeDefinition(
        type_id=type_id,
        display_name=type_id,
        description="",
        capabilities=WorkerCapabilities(type_id, **capabilities),  # type: ignore[arg-type]
        aliases=aliases,
    )


@pytest.fixture(autouse=True)
def registry():
    with WorkerTypeRegistry.isolated() as isolated:
        yield isolated


def test_definition_is_made_as_the_design_document_writes_it():
    definition = WorkerTypeDefinition(
        type_id="cleanrl",
        display_name="CleanRL",
        description="Single-file RL implementations (PPO, DQN, SAC)",
        capabilities=WorkerCapabilities("cleanrl"),
        module_path="3rd_party.cleanrl_worker",
        entry_point="cleanrl_worker.main:run",
        config_schema=None,
        pip_dependencies=["torch", "gymnasium", "wandb"],
        system_dependencies=[],
    )
    WorkerTypeRegistry.register(definition)
    assert WorkerTypeRegistry.get("cleanrl") is definition
    assert definition.pip_dependencies == ("torch", "gymnasium", "wandb")
    assert definition.kind is WorkerKind.BASELINE


def test_get_of_an_unknown_id_is_none():
    assert WorkerTypeRegistry.get("nobody") is None


def test_aliases_of_the_manifest_and_of_old_experiments():
    WorkerTypeRegistry.register(worker("operators_worker", "dice"))
    for name in ("operators_worker", "dice", "operators", "random_worker", "passive_worker"):
        assert WorkerTypeRegistry.require(name).type_id == "operators_worker"


def test_spelling_may_imply_settings():
    WorkerTypeRegistry.register(worker("operators_worker"))
    assert WorkerTypeRegistry.resolve("passive_worker")[1] == {"behavior": "noop"}
    assert WorkerTypeRegistry.resolve("random_worker")[1] == {"behavior": "random"}
    assert WorkerTypeRegistry.resolve("pettingzoo_worker")[1] == {"behavior": "random"}
    assert WorkerTypeRegistry.resolve("operators_worker")[1] == {}


def test_worker_that_bears_an_old_spelling_as_its_name_keeps_it():
    WorkerTypeRegistry.register(worker("passive_worker"))
    definition, settings = WorkerTypeRegistry.resolve("passive_worker")
    assert (definition.type_id, settings) == ("passive_worker", {})


def test_unknown_worker_names_the_nearest():
    WorkerTypeRegistry.register(worker("cleanrl_worker"))
    with pytest.raises(UnknownNameError, match="Did you mean 'cleanrl_worker'"):
        WorkerTypeRegistry.require("cleanrl_wroker")
    with pytest.raises(KeyError):
        WorkerTypeRegistry.require("cleanrl_wroker")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("shimmy_worker", "environments in MOSAIC"),
        ("supersuit_worker", "the slot's `preprocess`"),
        ("vizdoom_worker", "environments in MOSAIC"),
        ("airsim_worker", "name airsim/Drone-v0"),
        ("unreal_map_worker", "name unreal/Map-v0"),
    ],
)
def test_what_is_no_worker_here_says_what_it_means(name: str, meant: str):
    with pytest.raises(UsageError, match=f"{name} is no worker here.*{meant}"):
        WorkerTypeRegistry.require(name)


def test_unknown_worker_with_nothing_near_says_where_workers_go():
    with pytest.raises(UnknownNameError, match="workers folder"):
        WorkerTypeRegistry.require("zzz")


@pytest.mark.parametrize("name", ["ray_worker", "rllib", "zebra_worker"])
def test_absent_worker_is_not_taken_for_another_that_shares_its_suffix(name: str):
    WorkerTypeRegistry.register(worker("human_worker"))
    with pytest.raises(UnknownNameError, match="workers folder") as caught:
        WorkerTypeRegistry.require(name)
    assert "human_worker" not in str(caught.value)


def test_broken_worker_says_why_under_its_other_names_too():
    WorkerTypeRegistry.mark_broken("cleanrl_worker", "its manifest is empty")
    with pytest.raises(UsageError, match="'cleanrl_worker' cannot be used: its manifest is empty"):
        WorkerTypeRegistry.require("cleanrl")


def test_broken_worker_says_why_until_it_is_repaired():
    WorkerTypeRegistry.mark_broken("cleanrl_worker", "its manifest is empty")
    with pytest.raises(UsageError, match="its manifest is empty"):
        WorkerTypeRegistry.require("cleanrl_worker")
    WorkerTypeRegistry.register(worker("cleanrl_worker"))
    assert WorkerTypeRegistry.require("cleanrl_worker")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (worker("one_worker"), worker("one_worker")),
        (worker("one_worker", "dice"), worker("two_worker", "dice")),
        (worker("one_worker", "dice"), worker("dice")),
        (worker("one_worker"), worker("two_worker", "one_worker")),
    ],
)
def test_one_name_means_one_worker(first: WorkerTypeDefinition, second: WorkerTypeDefinition):
    WorkerTypeRegistry.register(first)
    with pytest.raises(UsageError, match="is taken by one_worker"):
        WorkerTypeRegistry.register(second)
    assert WorkerTypeRegistry.all() == (first,)


def test_unregister_frees_all_names():
    WorkerTypeRegistry.register(worker("one_worker", "dice"))
    WorkerTypeRegistry.unregister("one_worker")
    WorkerTypeRegistry.unregister("one_worker")
    WorkerTypeRegistry.register(worker("dice"))
    assert WorkerTypeRegistry.get("one_worker") is None


def test_find_compatible_looks_at_paradigm_environment_and_spaces():
    WorkerTypeRegistry.register(worker("single_worker", action_spaces=["discrete", "continuous"]))
    WorkerTypeRegistry.register(
        worker("turns_worker", paradigm=SteppingParadigm.SEQUENTIAL, env_types=["pettingzoo"], max_agents=2)
    )
    find = WorkerTypeRegistry.find_compatible

    def ids(found: list[WorkerTypeDefinition]) -> list[str]:
        return [definition.type_id for definition in found]

    assert ids(find(SteppingParadigm.SINGLE_AGENT, "gymnasium", "continuous")) == ["single_worker"]
    assert ids(find(SteppingParadigm.SINGLE_AGENT, "gymnasium", "text")) == []
    assert ids(find(SteppingParadigm.SEQUENTIAL, "pettingzoo", "discrete", agents=2)) == ["turns_worker"]
    assert ids(find(SteppingParadigm.SEQUENTIAL, "pettingzoo", "discrete", agents=3)) == []
    assert ids(find(SteppingParadigm.SEQUENTIAL, "gymnasium")) == []


def test_isolation_restores_even_after_an_error():
    WorkerTypeRegistry.register(worker("outer_worker"))
    with pytest.raises(RuntimeError), WorkerTypeRegistry.isolated(empty=False) as inner:
        inner.register(worker("inner_worker"))
        assert inner.get("outer_worker")
        raise RuntimeError
    assert [d.type_id for d in WorkerTypeRegistry.all()] == ["outer_worker"]


def test_inputs_tell_wanted_from_required():
    inputs = WorkerInputs(text="required", image="optional")
    assert inputs.wanted == ("text", "image")
    assert inputs.required == ("text",)
