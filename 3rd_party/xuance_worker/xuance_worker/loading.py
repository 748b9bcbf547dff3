"""Imports XuanCe without its console output."""

from __future__ import annotations

import functools
import os
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from mosaic_worker.learning.training_command import ConfigError


def load_library() -> Any:
    """Import and return :mod:`xuance_worker.library`; this takes seconds.

    Raises:
        ConfigError: XuanCe is not installed.
    """
    # W&B must not ask the user for an account; no data is sent to W&B.
    os.environ.setdefault("WANDB_MODE", "disabled")
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    try:
        bars: Any = import_module("tqdm")
        # Progress bars would fill the log of a training; the library reads their state, so they are replaced,
        # not disabled.
        nowhere = Path(os.devnull).open("w")  # noqa: SIM115  # as long as the process
        bars.tqdm.__init__ = functools.partialmethod(bars.tqdm.__init__, file=nowhere, miniters=2**31)
        return import_module("xuance_worker.library")
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"{error.name} is not installed here. Run: mosaic workers install xuance_worker"
        ) from error
