"""Reads files of ``torch.save`` as tensors and plain containers, within limits and without running code.

Only workers that import policies of other programs need this module, and torch.
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
"""Largest number of elements of all tensors of a file together; many tensors may share the same data."""


def read_torch_file(path: Path, limit: int, fix: str = "") -> Any:
    """Return the content of a file of ``torch.save``.

    Args:
        path: The file.
        limit: Largest size of the file in bytes.
        fix: A sentence on what to do if the file holds more than tensors and plain containers.

    Raises:
        ImportRefused: The file cannot be read, is damaged, is no file of ``torch.save``, is too large, or
            holds other objects.
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
    """Return the content of an open file of ``torch.save``, as :func:`read_torch_file` does.

    Args:
        file: The file; it is read from its beginning.
        size: Size of the file in bytes.
        what: Name of the file, for messages.
        fix: As for :func:`read_torch_file`.

    Raises:
        ImportRefused: As for :func:`read_torch_file`.
        MemoryError: There is not enough memory.
    """
    try:
        check_torch_archive(file, size)
    except ValueError as error:
        raise ImportRefused(f"{what} is refused: {error}. Copy it again") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings of an unusual pickle protocol, which does no harm
            return torch.load(file, map_location="cpu", weights_only=True)
    except MemoryError:
        raise
    except Exception as error:  # a damaged or hostile file may raise any exception
        raise ImportRefused(f"{what} is refused: {_reason(error, fix)}") from error


def weights_in(found: Any, what: str) -> Dict[str, Tensor]:
    """Check that ``found`` is a state dict and return it as a dict of tensors by name.

    Args:
        found: Content returned by :func:`read_torch`, or a part of it.
        what: Name of the content, for messages.

    Raises:
        ImportRefused: ``found`` is no state dict, or its tensors are larger than their stored data.
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
