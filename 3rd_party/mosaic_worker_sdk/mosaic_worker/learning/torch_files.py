"""What ``torch.save`` wrote, read as tensors and plain containers within limits: nothing in it is run.

For workers that take over policies of other programs; only they need it, and torch, to be there.
"""

# torch annotates only part of its functions.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any, BinaryIO, Dict, Mapping

import torch
from torch import Tensor

from mosaic_worker.archive_members import check_torch_archive
from mosaic_worker.learning.importing import ImportRefused
from mosaic_worker.limits import memory_for
from mosaic_worker.plain_files import open_file

MOST_NUMBERS = 2**30
"""Of all tensors of a file: many may show the same data."""


def read_torch_file(path: Path, limit: int, fix: str = "") -> Any:
    """What a file of ``torch.save`` holds.

    Args:
        path: The file.
        limit: Bytes that it may have.
        fix: A sentence on what to do where it holds more than tensors and plain containers.

    Raises:
        ImportRefused: It cannot be read, is damaged, no such file, too large, or holds anything else.
    """
    try:
        with open_file(path, links=True) as file, memory_for(path):
            size = os.fstat(file.fileno()).st_size
            if size > limit:
                raise ImportRefused(f"{path} has {size:,} bytes, more than a policy can have")
            return read_torch(file, size, str(path), fix)
    except MemoryError:
        raise ImportRefused(f"{path} asks for more memory than a file of its size may take") from None
    except OSError as error:
        raise ImportRefused(f"{path} cannot be read: {error.strerror or error}") from error


def read_torch(file: BinaryIO, size: int, what: str, fix: str = "") -> Any:
    """As :func:`read_torch_file`, of what was opened.

    Args:
        file: Read from its beginning.
        size: Its length in bytes.
        what: What it is called, for messages.
        fix: As there.

    Raises:
        ImportRefused: As there.
        MemoryError: There is not enough.
    """
    try:
        check_torch_archive(file, size)
    except ValueError as error:
        raise ImportRefused(f"{what} is refused: {error}. Copy it again") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an unusual pickle protocol: it is read or refused
            return torch.load(file, map_location="cpu", weights_only=True)
    except MemoryError:
        raise
    except Exception as error:  # whatever a damaged or hostile file provokes
        raise ImportRefused(f"{what} is refused: {_reason(error, fix)}") from error


def weights_in(found: Any, what: str) -> Dict[str, Tensor]:
    """Tensors by name, as a state dict has them.

    Args:
        found: Of :func:`read_torch`, or a part of it.
        what: What it is called, for messages.

    Raises:
        ImportRefused: It is none, or its tensors are larger than what the file stores.
    """
    if not isinstance(found, Mapping) or not found:
        raise ImportRefused(f"{what} holds a {type(found).__name__} where a state dict is expected")
    for name, tensor in found.items():
        if not isinstance(name, str) or not isinstance(tensor, Tensor):
            raise ImportRefused(f"{what} holds {name!r:.60}, which is no tensor. Save model.state_dict()")
        if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
            raise ImportRefused(f"{what} holds {name!r:.60}, which is larger than its data")
    if sum(tensor.numel() for tensor in found.values()) > MOST_NUMBERS:
        raise ImportRefused(f"{what} holds tensors that are larger than a policy can be")
    return dict(found)


def _reason(error: Exception, fix: str) -> str:
    words = " ".join(str(error).split())
    more = f". {fix}" if fix else ""
    for mark in ("Unsupported global: GLOBAL ", "Unsupported class ", "Trying to load unsupported GLOBAL "):
        if mark in words:
            name = words.partition(mark)[2].split(" ")[0].rstrip(".,")
            return f"it needs {name}, and only tensors and plain data are read{more}"
    if "TorchScript" in words:
        return f"it is a TorchScript archive, which holds code{more}"
    if "Weights only load failed" in words or "Unsupported operand" in words:
        return f"it holds more than tensors and plain containers{more}"
    return f"it is damaged, or was not written by torch.save ({type(error).__name__})"
