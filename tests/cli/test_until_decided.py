"""``mosaic run`` until it is decided, and ``mosaic power`` beforehand."""

from __future__ import annotations

import json

import pytest

from tests.support.commands import Mosaic, experiment

pytestmark = pytest.mark.usefixtures("sessions_here")

PASSIVE = {"id": "still", "workers": {"agent": {"type": "passive"}}}


def test_it_ends_early_and_everything_takes_it_for_whole(mosaic: Mosaic) -> None:
    path = experiment(mosaic.home, {"id": "chance"}, PASSIVE, num_episodes=100, until="decided", batch=7)
    done = mosaic("run", path, "--json")
    assert done.status == 0, done.err
    result = done.json()
    each = result["episodes"] // 2
    (verdict,) = result["verdicts"]
    assert each % 7 == 0 and each < 100 and f"decided after {each} of 100 seeds" in verdict
    progress = [json.loads(line)["progress"] for line in done.err.splitlines() if line.startswith("{")]
    assert any(
        each["at_most"] and each["total"] == 100 for line in progress for each in line if "at_most" in each
    )

    again = mosaic("run", "--resume", result["run"])
    assert again.status == 0 and f"Nothing is left to play: all {2 * each} episodes are done" in again.out
    checked = mosaic("verify", result["run"])
    assert checked.status == 0 and f"Verified: {2 * each} episodes" in checked.out
    shown = mosaic("runs", "show", result["run"], "--json").json()
    assert [(o["done"], o["episodes"]) for o in shown["operators"]] == [(each, each)] * 2

    power = mosaic("power", result["run"], "--seeds", "50", "--json").json()
    (pair,) = power["comparisons"]
    assert {pair["first"], pair["second"]} == {"chance", "still"} and pair["spread"]["seeds"] == each
    seen, half = pair["sizes"]
    assert seen["difference"] == 2 * half["difference"] and seen["seeds"] < half["seeds"]
    assert seen["low"] <= seen["seeds"] <= seen["high"] and half["power"] < seen["power"] <= 1


def test_one_line_where_there_is_nobody_to_compare(mosaic: Mosaic) -> None:
    done = mosaic("run", experiment(mosaic.home, num_episodes=20, until="decided"))
    assert done.status == 2
    assert done.err.startswith("mosaic: experiment.json: execution.until: 'decided' compares operators")
    assert "'op_0' is the only one of its task (CartPole-v1). Add an operator" in done.err
    assert done.err.count("\n") == 1


def test_power_of_what_is_named(mosaic: Mosaic) -> None:
    done = mosaic("power", "--difference", "10", "--spread", "25", "--comparisons", "3", "--seeds", "40")
    assert done.out.splitlines()[:2] == [
        "Spread 25.0 over seeds, 3 comparisons.",
        "  A difference of 10.0 (asked for) is detected 80 % of the time on 69 seeds, 52 % on 40.",
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "RUN, or --difference and --spread, are needed"),
        (
            ("--difference", "nan", "--spread", "1"),
            "a difference and a spread are finite numbers other than 0",
        ),
        (("--difference", "0", "--spread", "1"), "a difference and a spread are finite numbers other than 0"),
        (("nowhere",), "no run at nowhere"),
    ],
)
def test_power_says_what_is_missing(mosaic: Mosaic, arguments: tuple[str, ...], says: str) -> None:
    done = mosaic("power", *arguments)
    assert done.status == 2 and done.err.startswith(f"mosaic: {says}") and done.err.count("\n") == 1
