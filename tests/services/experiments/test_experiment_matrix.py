"""Matrices in experiment files of every format, and the environments that say who sits where."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from gym_gui.core.errors import ExperimentError, UsageError
from gym_gui.services.experiment_file import load_experiment, needs_code

LITERAL = """
policies = {"careful": {"type": "baseline", "behavior": "tictactoe_one_ply"}}
matrix = {"task": "tictactoe_v3", "rows": [{"name": "row", "sides": ["careful", "random"]}]}
execution = {"num_episodes": 2, "seeds": 0}
"""
PROGRAM = LITERAL.replace('"row", "sides"', '"r" + "ow", "sides"')


def _write(folder: Path, text: str, name: str) -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text))
    return path


def test_python_literal_or_not_and_json_say_the_same(tmp_path: Path) -> None:
    literal, program = (_write(tmp_path, text, name) for text, name in ((LITERAL, "a.py"), (PROGRAM, "b.py")))
    assert (needs_code(literal), needs_code(program)) == (False, True)
    names: dict[str, object] = {}
    exec(LITERAL, names)
    data = _write(tmp_path, json.dumps({k: names[k] for k in ("policies", "matrix", "execution")}), "c.json")
    found = [load_experiment(path, allow_code=True) for path in (literal, program, data)]
    assert found[0] == found[1] == found[2]
    (operator,) = found[0].operators
    players = {slot: player.settings["behavior"] for slot, player in operator.workers.items()}
    assert players == {"player_1": "tictactoe_one_ply", "player_2": "random"}
    assert load_experiment(data, allow_code=False, episodes=6).execution.num_episodes == 6


def test_files_of_policies_lie_beside_it_and_those_that_cannot_be_had_cost_their_rows(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    file = """
    policies:
      near: {type: rl, checkpoint: kept}
      far: {type: rl, checkpoint: "library:nothing_of_that_name"}
    matrix: {task: CartPole-v1, players: [near, far, random]}
    """
    found = load_experiment(_write(tmp_path, file, "m.yaml"), allow_code=False)
    assert [operator.operator_id for operator in found.operators] == ["near", "random"]
    assert found.operators[0].workers["agent_0"].settings["checkpoint"] == str(tmp_path / "kept")
    assert found.matrix is not None
    (row,) = found.matrix.missing
    assert row.name == "far" and row.problem.startswith("policy 'far': unknown policy")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("matrix: {task: CartPole-v1}", "m.yaml: matrix: names no policy. Name the players"),
        ("policies: {a: {type: random}}\nmatrix:", "m.yaml: matrix: names no policy. Name the players"),
        (
            "matrix: {task: CartPole-v1, players: [random]}\noperators: []",
            "matrix: cannot be combined with 'operators'",
        ),
        (
            "matrix: {task: CartPole-v1, players: [random]}\npolicy: {}",
            "policy: unknown key. Did you mean 'policies'?",
        ),
        ("policies: {a: {type: random}}", "policies: unknown key"),
        (
            "matrix: {task: CartPole-v1, players: [random]}\nexecution: {num_episodes: 3, seeds: [1]}",
            "3 episodes",
        ),
        (
            "matrix: {task: 'own_module:Game', players: [random]}",
            "which has not been allowed",
        ),
        ("matrix: {asked: 1, players: [random]}", "names no operators"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "own_module.py").write_text("raise SystemExit('it was run')\n")
    with pytest.raises(UsageError) as refusal:
        load_experiment(_write(tmp_path, text, "m.yaml"), allow_code=False)
    assert said in str(refusal.value) and "\n" not in str(refusal.value)


def test_a_python_file_without_either_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="defines no 'operators'; it defines policies"):
        load_experiment(_write(tmp_path, "policies = {}\n", "m.py"), allow_code=False)
