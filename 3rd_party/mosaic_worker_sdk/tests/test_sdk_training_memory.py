"""What does not fit into the memory of a training is refused with what would."""

from __future__ import annotations

import os
import re

import pytest

from mosaic_worker.learning.training_command import ConfigError
from mosaic_worker.learning.training_memory import MEMORY_MB, check_buffer_memory

IMAGE = 84 * 84 * 4


def refusal(name: str, count: int, row_bytes: int) -> str:
    with pytest.raises(ConfigError) as caught:
        check_buffer_memory(name, count, row_bytes)
    return str(caught.value)


def test_what_the_training_was_given_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MEMORY_MB, "1024")
    check_buffer_memory("buffer_size", 10_000, IMAGE)
    said = refusal("buffer_size", 1_000_000, 2 * IMAGE)
    assert said.startswith(
        "buffer_size = 1,000,000 steps of 56,448 bytes need 52.6 GiB, and this training may use"
    )
    assert said.endswith("or give the training more memory")


def test_the_number_that_is_named_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MEMORY_MB, "1024")
    named = re.search(r"set buffer_size to ([\d,]+) or less", refusal("buffer_size", 10**7, IMAGE))
    assert named is not None
    fits = int(named[1].replace(",", ""))
    check_buffer_memory("buffer_size", fits, IMAGE)
    refusal("buffer_size", fits + 1, IMAGE)


@pytest.mark.parametrize("told", ["", "none", str(10**9)])
def test_otherwise_the_machine_is_the_limit(told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MEMORY_MB, told)
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    check_buffer_memory("buffer_size", 1000, 1000)
    assert "this machine has" in refusal("buffer_size", machine // 1000, 1000)


def test_where_not_one_fits_no_number_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MEMORY_MB, "100")
    assert "choose smaller observations" in refusal("buffer_size", 10, IMAGE)
