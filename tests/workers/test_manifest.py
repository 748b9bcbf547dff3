"""A manifest is read without importing anything, and every mistake is named."""

from __future__ import annotations

import contextlib
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_gui.core.enums import SteppingParadigm, WorkerKind
from gym_gui.workers.manifest import ManifestError, parse_manifest, read_manifest
from gym_gui.workers.manifest_keys import SECTIONS, TOP
from gym_gui.workers.registry import ImportSpec, TrainSpec, WorkerTypeDefinition

REPO = Path(__file__).resolve().parents[2]
MINIMAL = 'id = "dice_worker"\nkind = "baseline"\n[launch]\nentry = "dice.main:Dice"\n'
FULL = """
id = "dice_worker"
name = "Dice"
kind = "rl"
version = "1.2"
description = "Throws dice"
aliases = ["dice"]
[launch]
entry = "dice_worker.main:Dice"
python = "venv"
env = {DICE = "6"}
inherits = ["WANDB_MODE"]
heartbeat_s = 2.5
session_secret = true
[train]
entry = "dice_worker.train"
algorithms = ["ppo"]
schema = "train_schema.json"
[import]
entry = "dice_worker.importing"
formats = [".zip", ".PT"]
[record]
reread = "dice_worker.reread"
[requires]
pip = ["numpy>=1.22"]
no_deps = ["greedy==1.4"]
system = ["stockfish"]
extra = "dice"
requirements = "requirements.txt"
workers = ["coin_worker"]
[inputs]
text = true
image = "optional"
messages = false
facts = false
state = false
[capabilities]
paradigm = "SEQUENTIAL"
supported_paradigms = ["SEQUENTIAL", "SINGLE_AGENT"]
env_types = ["pettingzoo"]
action_spaces = ["discrete", "text"]
observation_spaces = ["image", "any"]
environments = ["maze-*"]
max_agents = 4
supports_self_play = true
requires_gpu = true
gpu_memory_mb = 512
cpu_cores = 2
[limits]
memory_mb = 300
cpu_cores = 0.5
[defaults]
policy_id = "dice_six"
settings = {sides = 6}
"""
WHERE = Path("/nowhere/dice_worker/worker.toml")


def test_minimal_manifest_has_sensible_defaults():
    definition = parse_manifest(MINIMAL, WHERE)
    assert definition.display_name == "dice_worker"
    assert definition.capabilities.worker_type == "dice_worker"
    assert definition.capabilities.supported_paradigms == (SteppingParadigm.SINGLE_AGENT,)
    assert definition.launch.carrier == "socket"
    assert definition.launch.python is None
    assert definition.train is None
    assert definition.inputs.wanted == ()
    assert definition.folder == WHERE.parent


def test_every_key_arrives(tmp_path: Path):
    path = tmp_path / "worker.toml"
    path.write_text(FULL)
    (tmp_path / "dice_worker").mkdir()
    d = read_manifest(path, source="user")
    assert (d.type_id, d.display_name, d.kind, d.version) == ("dice_worker", "Dice", WorkerKind.RL, "1.2")
    assert (d.description, d.aliases, d.source) == ("Throws dice", ("dice",), "user")
    assert (d.module_path, d.entry_point) == ("dice_worker", "dice_worker.main:Dice")
    assert d.launch.python == tmp_path / "venv/bin/python"
    assert d.launch.python_path == (tmp_path,)
    assert (dict(d.launch.env), d.launch.heartbeat_s, d.launch.session_secret) == ({"DICE": "6"}, 2.5, True)
    assert d.launch.inherits == ("WANDB_MODE",)
    assert d.imports == ImportSpec("dice_worker.importing", (".zip", ".pt"))
    assert d.reread == "dice_worker.reread"
    assert d.train == TrainSpec("dice_worker.train", ("ppo",), tmp_path / "train_schema.json")
    assert (d.pip_dependencies, d.system_dependencies) == (("numpy>=1.22",), ("stockfish",))
    assert (d.extra, d.requirements) == ("dice", tmp_path / "requirements.txt")
    assert d.required_workers == ("coin_worker",)
    assert d.inputs.required == ("text",)
    assert d.inputs.wanted == ("text", "image")
    assert d.capabilities.paradigm is SteppingParadigm.SEQUENTIAL
    assert (d.capabilities.max_agents, d.capabilities.gpu_memory_mb) == (4, 512)
    assert (d.limits.memory_mb, d.limits.cpu_cores) == (300, 0.5)
    assert (d.default_policy_id, d.default_settings) == ("dice_six", {"sides": 6})


def test_it_may_live_in_the_interpreter_of_a_family(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path))
    launch = parse_manifest(MINIMAL + 'family = "some_games"\n', WHERE).launch
    assert (launch.family, launch.python) == ("some_games", tmp_path / "environments/some_games/bin/python")


def test_full_manifest_uses_every_documented_key_but_those_of_foreign_workers():
    data = tomllib.loads(FULL)
    used = {f"{s}.{k}" for s in SECTIONS for k in data.get(s, ())} | {k for k in data if k in TOP}
    documented = {f"{s}.{k}" for s, keys in SECTIONS.items() for k in keys} | set(TOP)
    left = {
        "launch.command",
        "launch.carrier",
        "launch.family",
        "inputs.legal_actions",
        "build.command",
        "build.sources",
    }
    left |= {"capabilities.worker_type", "capabilities.supports_population"}
    assert documented - used == left


def test_foreign_worker_speaks_json_lines_by_default():
    content = 'id = "node_worker"\nkind = "planner"\n[launch]\ncommand = ["node", "main.js"]\n'
    definition = parse_manifest(content, WHERE)
    assert definition.launch.command == ("node", "main.js")
    assert definition.launch.carrier == "jsonl"
    assert definition.entry_point == ""
    assert definition.launch.python_path == ()


def test_interpreter_file_is_kept_and_its_links_are_not_followed(tmp_path: Path):
    (tmp_path / "venv/bin").mkdir(parents=True)
    (tmp_path / "venv/bin/python").symlink_to("/bin/sh")
    content = MINIMAL + 'python = "venv/bin/python"\n'
    assert parse_manifest(content, tmp_path / "worker.toml").launch.python == tmp_path / "venv/bin/python"


def test_package_around_the_manifest_is_found(tmp_path: Path):
    folder = tmp_path / "dice"
    folder.mkdir()
    (folder / "__init__.py").touch()
    assert parse_manifest(MINIMAL, folder / "worker.toml").launch.python_path == (tmp_path,)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('id = "dice_worker"', "", "key 'id' is missing"),
        ('kind = "baseline"', "", "key 'kind' is missing"),
        ('kind = "baseline"', 'kind = "basline"', "kind is 'basline'.*one of rl, llm"),
        ('kind = "baseline"', 'kidn = "baseline"', "unknown key 'kidn'. Did you mean 'kind'"),
        ('id = "dice_worker"', 'id = "../evil"', "id is '../evil'"),
        ('id = "dice_worker"', "id = 7", "id is 7"),
        ("[launch]", "[lunch]", "unknown key 'lunch'. Did you mean 'launch'"),
        ("entry =", "entyr =", r"unknown key 'launch.entyr'. Did you mean 'entry'"),
        ("dice.main:Dice", "dice.main", "launch.entry is 'dice.main'.*package.module:Class"),
        ("entry =", 'command = ["x"]\nentry =', "both launch.entry and launch.command"),
        ('entry = "dice.main:Dice"', "", "no launch.entry is given"),
        ('entry = "dice.main:Dice"', "command = []", "launch.command is empty"),
        ('entry = "dice.main:Dice"', 'command = ["x"]\npython = "v"', "launch.python needs launch.entry"),
        (
            'entry = "dice.main:Dice"',
            'command = ["x"]\nfamily = "games"',
            "launch.family needs launch.entry",
        ),
        (
            'entry = "dice',
            'python = "v"\nfamily = "games"\nentry = "dice',
            "both launch.python and launch.family",
        ),
        ('entry = "dice.main:Dice"', 'command = ["x"]\ncarrier = "socket"', "supports JSON lines only"),
        ("[launch]\n", "[launch]\nheartbeat_s = nan\n", "launch.heartbeat_s is nan"),
        ("[launch]\n", "[launch]\nheartbeat_s = 1" + "0" * 400 + "\n", "launch.heartbeat_s"),
        ("[launch]\n", '[launch]\ncarrier = "pigeon"\n', "one of socket, jsonl"),
        ("[launch]\n", "[launch]\nenv = {A = 1}\n", "table of strings: 'A'"),
        ("[launch]\n", '[launch]\npython = "~nobody-here/venv"\n', "names an impossible path"),
        ("[launch]", "[limits]\nmemory_mb = 0\n[launch]", "limits.memory_mb is 0.*whole number from 1"),
        ("[launch]", "[limits]\nmemory_mb = true\n[launch]", "limits.memory_mb is True"),
        ("[launch]", '[inputs]\ntext = "yes"\n[launch]', 'true, false or "optional"'),
        ("[launch]", '[capabilities]\nparadigm = "TURNS"\n[launch]', "one of SINGLE_AGENT"),
        ("[launch]", '[capabilities]\naction_spaces = ["discret"]\n[launch]', "'discret' should be one of"),
        ("[launch]", '[train]\nalgorithms = ["ppo"]\n[launch]', "train.entry is missing"),
        ("[launch]", '[import]\nformats = [".zip"]\n[launch]', "import.entry is missing"),
        (
            "[launch]",
            '[capabilities]\nparadigm = "SEQUENTIAL"\nsupported_paradigms = ["SINGLE_AGENT"]\n[launch]',
            "capabilities: paradigm SEQUENTIAL is not among",
        ),
        ("[launch]", "[launch", "not valid TOML"),
        ("[launch]", "limits = 5\n[launch]", "limits should be a table"),
    ],
)
def test_each_mistake_is_named_with_its_fix(old: str, new: str, words: str):
    assert old in MINIMAL
    with pytest.raises(ManifestError, match=words) as caught:
        parse_manifest(MINIMAL.replace(old, new), WHERE)
    assert str(WHERE) in str(caught.value)


def test_files_that_cannot_be_read_are_named(tmp_path: Path):
    path = tmp_path / "worker.toml"
    with pytest.raises(ManifestError, match="cannot be read: No such file"):
        read_manifest(path)
    path.write_bytes(b'id = "\xff"')
    with pytest.raises(ManifestError, match="not UTF-8 at byte 6"):
        read_manifest(path)
    link = tmp_path / "endless"
    link.symlink_to("/dev/zero")
    with pytest.raises(ManifestError, match="not a regular file"):
        read_manifest(link)
    path.write_bytes(b"#" * 300_000)
    with pytest.raises(ManifestError, match="larger than 256 kB"):
        read_manifest(path)


def test_deep_nesting_is_refused():
    with pytest.raises(ManifestError):
        parse_manifest("a = " + "[" * 100_000, WHERE)


@given(st.text(max_size=200))
def test_any_text_gives_a_definition_or_a_manifest_error(content: str):
    with contextlib.suppress(ManifestError):
        assert isinstance(parse_manifest(content, WHERE), WorkerTypeDefinition)


_names = st.sampled_from(sorted({*TOP, *SECTIONS, *(k for s in SECTIONS.values() for k in s), "x"}))
_scalars = st.one_of(
    st.integers(-(10**400), 10**400),
    st.booleans(),
    st.floats().map(lambda f: float(f)),
    st.sampled_from(["", "a", "SEQUENTIAL", "discrete", "rl", "pkg.mod:Class", "optional", "~x", "n" * 400]),
)
_values = st.recursive(
    _scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(_names, v, max_size=4), max_leaves=6
)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else repr(value)


@given(st.dictionaries(_names, _values, max_size=5))
def test_any_shape_gives_a_definition_or_a_manifest_error(data: dict[str, Any]):
    launch = {"entry": "pkg.mod:Class"}
    data = {"id": "dice_worker", "kind": "rl", "launch": launch, **data}
    content = "\n".join(f"{key} = {_toml(value)}" for key, value in data.items())
    try:
        assert parse_manifest(content, WHERE).type_id
    except ManifestError as error:
        assert str(WHERE) in str(error)
