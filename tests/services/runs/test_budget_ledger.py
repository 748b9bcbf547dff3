"""The ledger of a run: what is reserved cannot be spent twice, whichever process asks or is killed."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.experiment.spending import Amount
from gym_gui.services.runs.budget_ledger import BudgetLedger
from gym_gui.services.shards.shard_budgets import ledger_sums

BUDGETS = {"run": Amount(usd=1.0), "a/agent_0": Amount(tokens=1000)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "budget.jsonl"


def test_what_is_reserved_is_there_until_it_is_settled(path: Path) -> None:
    ledger = BudgetLedger(path, BUDGETS)
    assert ledger.remaining("run") == (math.inf, 1.0) and ledger.remaining("a/agent_0") == (1000, math.inf)
    assert ledger.reserve("a/0", {"run": Amount(600, 0.7), "a/agent_0": Amount(600, 0.7)})
    assert not ledger.reserve("b/0", {"run": Amount(1, 0.31)}), "of which only 0.30 is left"
    assert not ledger.reserve("a/1", {"run": Amount(1, 0.1), "a/agent_0": Amount(401, 0.1)})
    ledger.settle("a/0", {"run": Amount(100, 0.1), "a/agent_0": Amount(100, 0.1)})
    assert ledger.remaining("run").usd == pytest.approx(0.9)
    assert ledger.reserve("a/1", {"run": Amount(900, 0.9), "a/agent_0": Amount(900, 0.9)})
    assert ledger.spent("a/agent_0") == Amount(100, 0.1)


def test_two_that_see_the_same_file_share_its_budgets(path: Path) -> None:
    first, second = BudgetLedger(path, BUDGETS), BudgetLedger(path, BUDGETS)
    assert first.reserve("a/0", {"run": Amount(usd=0.6)})
    assert not second.reserve("b/0", {"run": Amount(usd=0.6)})
    first.settle("a/0", {"run": Amount(usd=0.2)})
    assert second.reserve("b/0", {"run": Amount(usd=0.8)})


def test_who_comes_after_a_kill_finds_what_was_reserved(path: Path) -> None:
    ledger = BudgetLedger(path, BUDGETS)
    ledger.reserve("a/0", {"run": Amount(usd=0.5)})
    ledger.reserve("a/1", {"run": Amount(usd=0.3)})
    ledger.settle("a/1", {"run": Amount(usd=0.25)}, elapsed_s=7.5)
    with path.open("ab") as file:
        file.write(b'{"reserve": "a/2", "amou')  # killed within a line
    again = BudgetLedger(path, {"run": Amount(usd=2.0)})
    assert again.reserved() == {"a/0": {"run": Amount(usd=0.5)}}
    assert again.settled("a/1") == {"run": Amount(usd=0.25)} and again.elapsed_s == 7.5
    assert again.remaining("run").usd == pytest.approx(2.0 - 0.25 - 0.5)
    again.settle("a/0", {"run": Amount(usd=0.4)})
    assert BudgetLedger(path, BUDGETS).remaining("run").usd == pytest.approx(1.0 - 0.65)


def test_who_comes_after_a_kill_finds_what_was_announced(path: Path) -> None:
    ledger = BudgetLedger(path, BUDGETS)
    ledger.reserve("a/0", {"run": Amount(usd=0.5)}, announcing=["agent_0"])
    ledger.reserve("a/1", {"run": Amount(usd=0.3)})
    ledger.announce("a/0", "agent_0", Amount(100, 0.01))
    ledger.announce("a/0", "agent_0", Amount(150, 0.02))
    ledger.announce("a/0", "agent_1", Amount(7))
    assert ledger.remaining("run").usd == pytest.approx(0.2), "what is reserved pays for it"
    with path.open("ab") as file:
        file.write(b'{"announce": "a/0", "amou')  # killed within a line: its request was never sent
    again = BudgetLedger(path, BUDGETS)
    assert again.announced("a/0") == {"agent_0": Amount(250, 0.03), "agent_1": Amount(7)}
    assert set(again.announcing("a/0")) == {"agent_0"}
    assert not again.announced("a/1") and not again.announcing("a/1") and not again.announced("none")
    again.settle("a/0", {"run": Amount(usd=0.1)})
    assert again.reserve("a/0", {"run": Amount(usd=0.2)}), "it is played again, by another worker"
    assert not again.announcing("a/0") and again.announced("a/0")["agent_0"].tokens == 250


def test_a_damaged_line_is_named(path: Path) -> None:
    BudgetLedger(path, BUDGETS).reserve("a/0", {"run": Amount(usd=0.5)})
    path.write_bytes(b"nonsense\n" + path.read_bytes())
    with pytest.raises(UsageError, match="is damaged"):
        BudgetLedger(path, BUDGETS)


@pytest.mark.parametrize("kind", ["reserve", "settle"])
def test_a_negative_amount_leaves_no_more_to_spend(path: Path, kind: str) -> None:
    row = {kind: "a/0", "amounts": {"run": {"tokens": 0, "usd": -5.0}}}
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(UsageError, match="is damaged"):
        BudgetLedger(path, BUDGETS)
    with pytest.raises(MosaicError, match="is damaged"):
        ledger_sums(path.parent)
