"""A preset comes back as it was saved, and a file that is none says so."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gym_gui.core.config import ExecutionConfig, OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.assignment import LinkGroup, WorkerAssignment
from gym_gui.services.experiment_file import load_experiment, needs_code
from gym_gui.services.preset_store import PresetError, PresetStore
from gym_gui.services.presets import CONFIGURATIONS, export_experiment

Presets = PresetStore[OperatorConfig]
SOCCER = "MosaicMultiGrid-S-2v2-IndAgObs-v1"
CHASER = WorkerAssignment("operators_worker", "baseline", {"behavior": "soccer_chaser"})
RANDOM = WorkerAssignment("", "random", on_invalid={"retry": 2, "then": "noop"}, deadline_s=2.5)


def mixed(**more: object) -> OperatorConfig:
    players = {"green_0": CHASER, "green_1": RANDOM, "blue_0": RANDOM, "blue_1": RANDOM}
    return OperatorConfig.multi_agent(
        operator_id="mixed",
        display_name="Grün gegen Blau",
        task=SOCCER,
        player_workers=players,
        max_steps=200,
        seats="swap",
        **more,  # type: ignore[arg-type]
    )


@pytest.fixture
def presets(tmp_path: Path) -> Presets:
    return PresetStore(tmp_path / "presets", CONFIGURATIONS)


def test_what_was_saved_is_loaded(presets: Presets):
    saved = presets.save("Mixed teams", mixed())
    assert presets.load("Mixed teams") == mixed()
    (listed,) = presets.presets()
    assert (listed.name, listed.environment, listed.problem) == ("Mixed teams", SOCCER, "")
    assert listed.path == saved.path and "saved_at" in json.loads(saved.path.read_text())


def test_linked_agents_and_managers_survive(presets: Presets, tmp_path: Path):
    (tmp_path / "joint.pth").write_bytes(b"weights")
    file = str(tmp_path / "joint.pth")
    config = OperatorConfig.multi_agent(
        operator_id="linked",
        task="simple_spread_v3",
        player_workers={"agent_0": WorkerAssignment("xuance_worker", "rl", {"checkpoint": file})},
        link_groups=[LinkGroup("agent_0", ["agent_1"], file, "mappo", color="#4a90d9")],
        manager={"agent_0": WorkerAssignment("", "random")},
    )
    presets.save("linked", config)
    assert presets.load("linked") == config


def test_an_unfinished_configuration_is_kept_too(presets: Presets):
    config = OperatorConfig("half", task=SOCCER, workers={"green_0": CHASER})
    presets.save("half", config)
    assert presets.load("half") == config


def test_saving_twice_needs_consent(presets: Presets):
    presets.save("mine", mixed())
    with pytest.raises(PresetError, match=r"already. Replace it"):
        presets.save("mine", mixed())
    other = OperatorConfig("other", task=SOCCER, workers={"green_0": CHASER})
    presets.save("mine", other, replace_it=True)
    assert presets.load("mine") == other


@pytest.mark.parametrize("name", ["", "  ", "a/b", "..", "con", ".hidden", "x" * 80, "tab\tbed"])
def test_a_name_that_is_no_file_name_is_refused(presets: Presets, name: str):
    with pytest.raises(PresetError, match="cannot have this name") as caught:
        presets.save(name, mixed())
    assert "folder of the run" not in str(caught.value)
    assert not presets.presets()


def test_deleted_presets_go_where_they_are_told(tmp_path: Path):
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    presets = PresetStore(tmp_path / "presets", CONFIGURATIONS, lambda path: shutil.move(path, bin_))
    presets.save("mine", mixed())
    presets.delete("mine")
    assert not presets.presets() and len(list(bin_.iterdir())) == 1
    with pytest.raises(PresetError, match="no preset 'mine'"):
        presets.delete("mine")
    with pytest.raises(PresetError, match="cannot be read"):
        presets.load("mine")


def test_a_shared_preset_is_taken_over_beside_one_of_its_name(presets: Presets, tmp_path: Path):
    shared = tmp_path / "from a friend.preset.json"
    presets.save("mine", mixed())
    CONFIGURATIONS.write(shared, "mine", mixed())
    assert presets.import_file(shared).name == "mine 2"
    assert presets.import_file(shared).name == "mine 3"
    assert presets.load("mine 3") == mixed()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("not json", "is not a preset"),
        ("[]", "is not a preset"),
        ('{"operators": []}', "Open experiment files under Script"),
        ('{"mosaic_preset": 2}', "later version"),
        ('{"mosaic_preset": 1}', "must be a mapping"),
        ('{"mosaic_preset": 1, "operator": {"id": "a", "type": "random"}}', "task"),
        ('{"mosaic_preset": 1, "operator": {"id": "a", "task": "x", "wrokers": {}}}', "wrokers"),
    ],
)
def test_a_file_that_is_no_preset_says_why(presets: Presets, content: str, words: str):
    presets.folder.mkdir()
    path = presets.folder / "bad.preset.json"
    path.write_text(content)
    with pytest.raises(PresetError) as caught:
        CONFIGURATIONS.read(path)
    assert words in str(caught.value) and "bad.preset.json" in str(caught.value)
    (listed,) = presets.presets()
    assert listed.name == "bad" and words in listed.problem


def test_a_key_written_out_is_refused(presets: Presets):
    presets.save("mine", mixed())
    path = presets.path_of("mine")
    data = json.loads(path.read_text())
    data["operator"]["workers"]["green_0"]["settings"]["api_key"] = "sk-" + "a" * 30
    path.write_text(json.dumps(data))
    with pytest.raises(PresetError, match="secret") as caught:
        presets.load("mine")
    assert "aaaa" not in str(caught.value)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path):
    (tmp_path / "presets").write_text("a file in its place")
    with pytest.raises(PresetError, match="cannot be written"):
        PresetStore(tmp_path / "presets", CONFIGURATIONS).save("mine", mixed())


@pytest.mark.parametrize("name", ["mixed.yaml", "mixed.yml", "mixed.py"])
def test_an_exported_experiment_reads_back_equal_and_is_plain_data(tmp_path: Path, name: str):
    path = tmp_path / name
    written = export_experiment(path, mixed(), execution=ExecutionConfig(4, seeds=7, max_steps=50))
    assert not needs_code(path)
    read = load_experiment(path, allow_code=False)
    assert read == written
    assert read.operators == (mixed(),)
    assert (read.execution.num_episodes, read.execution.seeds, read.execution.max_steps) == (
        4,
        (7, 8, 9, 10),
        50,
    )


def test_an_exported_experiment_finds_the_policy_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    policy = tmp_path / "shared" / "ppo"
    policy.mkdir(parents=True)
    config = OperatorConfig.single_agent(
        operator_id="ppo",
        task="CartPole-v1",
        worker_id="cleanrl_worker",
        settings={"checkpoint": str(policy)},
    )
    path = tmp_path / "shared" / "experiment.yaml"
    export_experiment(path, config)
    assert str(tmp_path) not in path.read_text()
    moved = tmp_path / "elsewhere"
    path.parent.rename(moved)
    monkeypatch.chdir(tmp_path)
    read = load_experiment(moved / "experiment.yaml", allow_code=False)
    assert read.operators[0].workers["agent_0"].settings["checkpoint"] == str(moved / "ppo")


def test_an_export_needs_a_format_and_a_whole_configuration(tmp_path: Path):
    with pytest.raises(PresetError, match="no known suffix"):
        export_experiment(tmp_path / "mixed.txt", mixed())
    with pytest.raises(UsageError, match="no slot has a player"):
        export_experiment(tmp_path / "mixed.yaml", OperatorConfig("empty", task=SOCCER))
    assert not list(tmp_path.iterdir())


NUMBERS = st.integers(-(2**40), 2**40) | st.floats(-1e6, 1e6)
LEAVES = st.none() | st.booleans() | NUMBERS | st.text(max_size=20)


def _nested(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)


@example({"a": {"ð\x85á": "x\u2028y"}}, ".yaml")
@given(
    st.dictionaries(
        st.text("abcdefgh_", min_size=1, max_size=8), st.recursive(LEAVES, _nested, max_leaves=8), max_size=4
    ),
    st.sampled_from([".yaml", ".py", ".preset.json"]),
)
def test_whatever_settings_say_survives_every_format(
    tmp_path_factory: pytest.TempPathFactory, settings: dict[str, object], suffix: str
):
    try:
        config = OperatorConfig("any", task="x", workers={"a": WorkerAssignment("w", "rl", settings)})
    except UsageError:
        return  # no settings that any configuration could hold
    path = tmp_path_factory.mktemp("any") / f"any{suffix}"
    if suffix == ".preset.json":
        CONFIGURATIONS.write(path, "any", config)
        assert CONFIGURATIONS.read(path)[1] == config
    else:
        export_experiment(path, config)
        assert load_experiment(path, allow_code=False).operators == (config,)
