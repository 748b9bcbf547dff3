"""What calls take, with requests that were announced and have not been accounted for."""

from __future__ import annotations

from typing import Any

from gym_gui.core.experiment.spending import NOTHING, Amount, SlotSpending


def call(announced: int, tokens: int, **more: Any) -> dict[str, Any]:
    """A row whose requests take at most 100 tokens each."""
    most = {"tokens": 100, "usd": 0.5}
    return {
        "tokens": {"input": tokens, "output": 0}, "usd": 0.25, "most": most, "announced": announced, **more,
    }  # fmt: skip


MOST = Amount(100, 0.5)


def test_an_announced_request_is_open_until_a_call_accounts_for_it() -> None:
    spending = SlotSpending().with_request(MOST).with_request(MOST).with_request(MOST)
    assert spending.open == Amount(300, 1.5) and spending.paid == NOTHING
    spending = spending.with_call(call(2, 40))  # one request and its retry
    assert spending.open == MOST and spending.paid == Amount(40, 0.25)
    assert spending.cut_off(7).paid == Amount(140, 0.75), "nothing is guessed"
    assert spending.cut_off(7).open == NOTHING, "counted once"


def test_a_call_that_was_announced_and_never_sent_has_cost_nothing() -> None:
    spending = SlotSpending().with_request(MOST).with_call(call(1, 0, usd=None))
    assert spending.cut_off().paid == NOTHING


def test_a_replayed_call_accounts_for_no_request() -> None:
    """Its row is that of the recording, which was announced in its own time."""
    spending = SlotSpending().with_request(MOST).with_call(call(1, 40, replayed=True))
    assert spending.open == MOST and spending.paid == NOTHING


def test_of_who_announces_nothing_requests_are_taken_to_be_under_way() -> None:
    spending = SlotSpending().with_call(call(0, 40))
    assert spending.cut_off(2).paid == Amount(240, 1.25)
    assert SlotSpending(announces=True).cut_off(2).paid == NOTHING
