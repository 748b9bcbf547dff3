"""Files of ``torch.save`` are read within limits, and what they hold is looked at before it is used."""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch

from mosaic_worker.learning.importing import ImportRefused
from mosaic_worker.learning.torch_files import read_torch_file, weights_in

LIMIT = 2**20


def saved(folder: Path, content: Any) -> Path:
    torch.save(content, folder / "it.pt")
    return folder / "it.pt"


def test_tensors_and_plain_data_are_read(tmp_path: Path) -> None:
    found = read_torch_file(saved(tmp_path, {"a": torch.arange(3.0), "n": [1, "x"]}), LIMIT)
    assert found["n"] == [1, "x"] and torch.equal(found["a"], torch.arange(3.0))
    assert list(weights_in({"a": found["a"]}, "it")) == ["a"]


def test_a_file_beyond_the_limit_is_not_opened(tmp_path: Path) -> None:
    path = saved(tmp_path, {"a": torch.zeros(LIMIT)})
    with pytest.raises(ImportRefused, match=r"bytes, more than a policy can have"):
        read_torch_file(path, LIMIT)


def test_what_to_do_is_said_where_a_file_holds_objects(tmp_path: Path) -> None:
    path = saved(tmp_path, torch.nn.Linear(2, 2))
    with pytest.raises(ImportRefused, match=r"only tensors and plain data are read\. Save less"):
        read_torch_file(path, LIMIT, "Save less")


def test_compressed_tensors_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, {"a": torch.zeros(1000)})
    with zipfile.ZipFile(path) as plain:
        members = {name: plain.read(name) for name in plain.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in members.items():
            packed.writestr(name, data)
    with pytest.raises(ImportRefused, match="its tensors are compressed"):
        read_torch_file(path, LIMIT)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ([], "a list where a state dict is expected"),
        ({}, "a dict where a state dict is expected"),
        ({"a": 1}, "'a', which is no tensor"),
        ({1: torch.zeros(1)}, "1, which is no tensor"),
        ({"a": torch.zeros(1).expand(10**6)}, "'a', which is larger than its data"),
        (dict.fromkeys(map(str, range(1025)), torch.zeros(2**20)), "larger than a policy can be"),
    ],
    ids=["list", "empty", "number", "unnamed", "expanded", "many of the same data"],
)
def test_what_is_no_state_dict_is_refused(found: Any, words: str) -> None:
    with pytest.raises(ImportRefused, match=f"the file holds .*{words}"):
        weights_in(found, "the file")
