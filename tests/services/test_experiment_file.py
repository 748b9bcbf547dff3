"""Experiment files on disk: both forms, three formats, and everything that goes wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gym_gui.core.config import Experiment
from gym_gui.core.errors import ExperimentError
from gym_gui.services.experiment_file import load_experiment, needs_code
from tests.support.groups import group

PEER_FORMS = """
operators = [
    {"id": "a", "name": "PPO", "env_name": "minigrid", "task": "MiniGrid-Empty-8x8-v0", "max_steps": 200,
     "workers": {"agent": {"type": "rl", "algorithm": "ppo", "policy_path": "runs/model.pt", "seed": 42}}},
    {"id": "b", "name": "Random", "type": "random", "worker_id": "random_worker",     # the older form
     "env_name": "minigrid", "task": "MiniGrid-Empty-8x8-v0"},
]
execution = {"auto_run": False, "num_episodes": 10, "seeds": range(1000, 1010),
             "environment_mode": "procedural",
             "step_delay_ms": 50}
"""

RANDOM = '{"id": "r", "task": "CartPole-v1", "type": "random"}'

TWO_OPERATORS: dict[str, object] = {
    "operators": [
        {
            "id": "team",
            "task": "soccer",
            "workers": {"a": {"type": "rl", "policy_path": "m.pt"}, "b": {"worker_id": "passive_worker"}},
            "teams": {"green": ["a"], "blue": ["b"]},
            "seats": "swap",
        },
        {"id": "old", "type": "random", "task": "soccer", "on_invalid": {"retry": 2, "then": "noop"}},
    ],
    "execution": {"num_episodes": 2, "seeds": [3, 4], "env_mode": "procedural"},
}


def write(folder: Path, text: str, name: str = "exp.py") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def refusal(path: Path, **options: object) -> str:
    with pytest.raises(ExperimentError) as caught:
        load_experiment(path, **({"allow_code": True} | options))  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    assert "Traceback" not in message
    return message


class TestForms:
    def test_both_forms_of_existing_scripts(self, tmp_path: Path) -> None:
        path = write(tmp_path, PEER_FORMS)
        assert not needs_code(path)
        experiment = load_experiment(path, allow_code=False)
        first, second = experiment.operators
        trained = first.resolved_slots()["agent_0"]
        assert (first.max_steps, trained.worker_id, trained.worker_type) == (200, "cleanrl_worker", "rl")
        assert trained.settings == {"algorithm": "ppo", "checkpoint": "runs/model.pt", "seed": 42}
        assert second.resolved_slots()["agent_0"].settings == {"behavior": "random"}
        assert experiment.execution.seeds == tuple(range(1000, 1010))
        assert (experiment.execution.num_episodes, experiment.execution.step_delay_ms) == (10, 50)

    @pytest.mark.parametrize("kind", ["rl", "llm", "vlm", "human", "random", "baseline", "passive"])
    @pytest.mark.parametrize("form", ['"type": "{}"', '"workers": {{"agent": {{"type": "{}"}}}}'])
    def test_every_type_seen_in_the_wild(self, tmp_path: Path, kind: str, form: str) -> None:
        text = 'operators = [{"id": "a", "task": "T", ' + form.format(kind) + "}]"
        slots = load_experiment(write(tmp_path, text), allow_code=False).operators[0].resolved_slots()
        assert slots["agent_0"].worker_type == {"random": "baseline", "passive": "baseline"}.get(kind, kind)

    def test_yaml_json_and_python_say_the_same(self, tmp_path: Path) -> None:
        yaml = pytest.importorskip("yaml")
        files = [
            write(tmp_path, json.dumps(TWO_OPERATORS), "e.json"),
            write(tmp_path, yaml.safe_dump(TWO_OPERATORS), "e.yaml"),
            write(
                tmp_path,
                f"operators = {TWO_OPERATORS['operators']}\nexecution = {TWO_OPERATORS['execution']}",
            ),
        ]
        loaded = [load_experiment(file, allow_code=False) for file in files]
        assert loaded[0] == loaded[1] == loaded[2]
        assert set(loaded[0].operators[0].resolved_slots()) == {"a", "b"}

    def test_literals_with_names_and_annotations(self, tmp_path: Path) -> None:
        path = write(
            tmp_path,
            """
            'An experiment.'
            from __future__ import annotations
            task = "CartPole-v1"
            seeds: list = list(range(3))
            operators: list[dict] = [{"id": "r", "task": task, "type": "random"}]
            execution = {"seeds": seeds, "step_delay_ms": -0.0}
            """,
        )
        assert not needs_code(path)
        assert load_experiment(path, allow_code=False).execution.seeds == (0, 1, 2)

    def test_run_folder_reads_back(self, tmp_path: Path) -> None:
        experiment = load_experiment(write(tmp_path, PEER_FORMS), allow_code=False)
        run = {"run_id": "01", "experiment": experiment.to_record(), "status": "completed"}
        write(tmp_path, json.dumps(run), "run.json")
        assert load_experiment(tmp_path, allow_code=False) == experiment

    def test_number_of_episodes_from_outside(self, tmp_path: Path) -> None:
        path = write(tmp_path, f'operators = [{RANDOM}]\nexecution = {{"num_episodes": 9, "seeds": 5}}')
        run = load_experiment(path, allow_code=False, episodes=2).execution
        assert (run.num_episodes, run.seeds) == (2, (5, 6))
        assert "must lie between" in refusal(path, episodes=0)


class TestBadFiles:
    @pytest.mark.parametrize(
        ("name", "text", "expected"),
        [
            ("exp.py", "operators = [", "exp.py:1: not valid Python: '[' was never closed"),
            ("exp.py", "x = \0", "exp.py"),
            ("exp.py", "operator = [{}]", "exp.py: defines no 'operators'; it defines operator"),
            ("exp.py", "operators = [{'id': 'a', 'id': 'b'}]", "exp.py:1: key 'id' is given twice"),
            ("exp.json", "{", "exp.json:1: not valid JSON"),
            ("exp.json", '{"operators": 1, "operators": 2}', "exp.json: cannot be read: key 'operators'"),
            ("exp.json", "[" * 100_000, "exp.json: cannot be read"),
            ("exp.json", "9" * 5000, "exp.json: cannot be read"),
            ("exp.json", "[]", "exp.json: experiment: must be a mapping, not a list"),
            ("exp.json", "{}", "exp.json: names no operators"),
            (
                "exp.json",
                '{"operators": [], "exection": {}}',
                "exp.json: exection: unknown key. Did you mean",
            ),
            ("exp.json", '{"operators": []}', "exp.json: operators: must not be empty"),
            ("exp.yaml", "operators: [", "exp.yaml:1: not valid YAML"),
            ("exp.yaml", "a: 1\na: 2", "exp.yaml:1: key 'a' is given twice"),
            ("exp.yaml", "operators: !!python/object/apply:os.system [id]", "exp.yaml:1: not valid YAML"),
            ("exp.yaml", "operators: &a [*a]", "exp.yaml: operators[0]: must be a mapping, not a list"),
            ("exp.yaml", "operators: 2001-99-99", "exp.yaml: not valid YAML: month must be in 1..12"),
            ("exp.yaml", "[" * 5000, "exp.yaml"),
            ("exp.txt", "", "exp.txt is not an experiment file"),
        ],
    )
    def test_refused(self, tmp_path: Path, name: str, text: str, expected: str) -> None:
        assert refusal(write(tmp_path, text, name)).startswith(expected)

    def test_yaml_that_grows_without_end(self, tmp_path: Path) -> None:
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
        lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
        text = "operators: [{id: a, task: T, type: random, settings: {x: *a11}}]"
        body = "\n".join(["x:", *(f"  {line}" for line in lines)])
        message = refusal(write(tmp_path, f"{body}\n{text}".replace("x:\n", "execution:\n", 1), "exp.yaml"))
        assert "is nested too deeply or too large" in message

    def test_missing_unreadable_or_no_text(self, tmp_path: Path) -> None:
        assert "does not exist" in refusal(tmp_path / "nowhere.py")
        assert "does not exist" in refusal(tmp_path)
        assert refusal(Path("\0.py")).startswith("'\\x00.py'")
        (tmp_path / "binary.py").write_bytes(b"\xff\xfe\x00")
        assert refusal(tmp_path / "binary.py") == "binary.py is not UTF-8 text (byte 0)"
        os.mkfifo(tmp_path / "pipe.py")
        assert "is not a file" in refusal(tmp_path / "pipe.py")
        write(tmp_path, "#" * (2**20 + 1), "large.py")
        assert "more than 1 MiB" in refusal(tmp_path / "large.py")


def test_import_is_light() -> None:
    code = (
        "import sys, gym_gui.services.experiment_file\n"
        "print(sorted({'gymnasium', 'torch', 'grpc', 'PyQt6', 'yaml'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_experiment_is_the_type_that_comes_back(tmp_path: Path) -> None:
    assert isinstance(load_experiment(write(tmp_path, PEER_FORMS), allow_code=False), Experiment)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(st.text(max_size=60), st.sampled_from(["e.py", "e.json", "e.yaml"]))
def test_any_text(tmp_path: Path, text: str, name: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", errors="replace")
    with pytest.raises(ExperimentError) as caught:
        load_experiment(path, allow_code=False)
    assert "\n" not in str(caught.value)


def documented_examples() -> list[tuple[str, str]]:
    docs = Path(__file__).parents[2] / "docs"
    pages = (docs / "experiment_format.md", *sorted((docs / "experiment_format").glob("*.md")))
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    blocks = re.findall(r"```(python|yaml)\n(.*?)```", text, re.DOTALL)
    return [(language, text) for language, text in blocks]


@pytest.mark.parametrize(("language", "text"), documented_examples())
def test_documented_example_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str, text: str
) -> None:
    monkeypatch.setenv("MOSAIC_RUNS_DIR", str(tmp_path / "runs"))
    for label in ("ppo", "dqn"):  # the groups of trainings that one of them names
        group(tmp_path / "runs", [500.0], label)
    path = write(tmp_path, text, {"python": "e.py", "yaml": "e.yaml"}[language])
    assert load_experiment(path, allow_code=True).operators


def test_documentation_has_examples_of_both_languages() -> None:
    assert {language for language, _ in documented_examples()} == {"python", "yaml"}


def test_files_that_settings_name_may_lie_beside_it(tmp_path: Path) -> None:
    (tmp_path / "programs").mkdir()
    program = tmp_path / "programs" / "walk.asl"
    program.write_text("!go.")
    text = """
    operators:
      - id: program
        task: MiniGrid-Empty-5x5-v0
        workers: {agent: {type: bdi, settings: {program: programs/walk.asl, idle: programs}}}
    """
    experiment = load_experiment(write(tmp_path, text, "exp.yaml"), allow_code=False)
    settings = next(iter(experiment.operators[0].workers.values())).settings
    assert settings["program"] == str(program)
    assert settings["idle"] == "programs"  # no path, whatever it is called
