"""Logs that are too long to read are cut short and counted; others are passed on as they are."""

from __future__ import annotations

import logging

from gym_gui.workers.log_filter import BURST, LONGEST, PER_S, LogSieve


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def sieve() -> tuple[LogSieve, list[tuple[int, str]], Clock]:
    passed: list[tuple[int, str]] = []
    clock = Clock()
    return LogSieve(lambda level, _, text: passed.append((level, text)), "the worker w", clock), passed, clock


def test_few_lines_are_all_passed_on() -> None:
    taking, passed, clock = sieve()
    for i in range(5 * BURST):
        clock.now += 2 / PER_S
        taking.forward(logging.INFO, "w", str(i))
    taking.close()
    assert [text for _, text in passed] == [str(i) for i in range(5 * BURST)]


def test_a_flood_is_sampled_counted_and_hides_no_warning() -> None:
    taking, passed, clock = sieve()
    for i in range(100_000):
        clock.now += 0.0001
        taking.forward(logging.INFO, "w", f"line {i}")
        if i % 1000 == 0:
            taking.forward(logging.WARNING, "w", f"warning {i}")
    taking.close()
    texts = [text for _, text in passed]
    shown = sum(text.startswith("line ") for text in texts)
    assert texts[0] == "line 0" and BURST < shown < BURST + 10 * PER_S * 1.1
    assert sum(text.startswith("warning ") for text in texts) == 100
    assert any(text.endswith("further lines were left out") for text in texts[:-1])
    assert passed[-1] == (logging.WARNING, f"{100_000 - shown:,} further lines of the worker w were left out")


def test_a_line_that_nobody_reads_to_its_end_is_cut() -> None:
    taking, passed, _ = sieve()
    taking.forward(logging.INFO, "w", "x" * (15 << 20))
    ((_, text),) = passed
    assert len(text) < LONGEST + 40 and text.endswith("x (15,728,640 characters)")
