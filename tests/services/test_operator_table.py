"""Who plays side by side, kept from one start of the window to the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui.core.config import OperatorConfig
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.trusted.trust import Origin
from gym_gui.services.operator_table import OperatorTable


def operator(name: str, host: str = "", **more: object) -> OperatorConfig:
    player = WorkerAssignment("operators_worker", "baseline", {"behavior": "random"})
    return OperatorConfig(name, name, "", "CartPole-v1", {"agent_0": player}, host=host, **more)  # type: ignore[arg-type]


def test_all_of_it_is_there_again(tmp_path: Path) -> None:
    file = tmp_path / "operators.json"
    assert OperatorTable.load(file) is None
    there = operator("there", "me@two.example.org", named=False, origin=Origin("/x/maze.yaml", "/x"))
    table = OperatorTable((operator("here"), there), 77)
    table.save(file)
    found = OperatorTable.load(file)
    assert found == table
    assert [each.host for each in found.operators] == ["", "me@two.example.org"]
    last = found.operators[1]
    assert (last.named, last.origin) == (False, there.origin), "neither is compared"


def test_where_an_operator_runs_is_not_what_it_is() -> None:
    assert operator("a", "one").to_record() == operator("a").to_record(), "no experiment says it"


def test_one_that_was_kept_before_there_were_hosts_runs_here(tmp_path: Path) -> None:
    file = tmp_path / "operators.json"
    OperatorTable((operator("a"),), 1).save(file)
    assert "host" not in file.read_text()


@pytest.mark.parametrize("text", ["{", "[]", '{"mosaic_operators": 1, "operators": 7, "seed": 1}'])
def test_what_is_damaged_is_one_sentence(tmp_path: Path, text: str) -> None:
    file = tmp_path / "operators.json"
    file.write_text(text)
    with pytest.raises(UsageError, match="is damaged"):
        OperatorTable.load(file)
