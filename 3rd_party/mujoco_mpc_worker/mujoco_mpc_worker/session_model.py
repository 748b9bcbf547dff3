"""Compiles a copy of the model that the session simulates."""

# MuJoCo has no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false, reportAttributeAccessIssue=false

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from mosaic_worker.worker import LoadError


def compiled(about: Mapping[str, Any]) -> Any:
    """Compile the session's model.

    Raises:
        LoadError: The session has another version of MuJoCo, or its model does not compile from its text or
            compiles to a different one.
    """
    theirs, ours = f"{about.get('engine')} {about.get('version')}", f"mujoco {mujoco.__version__}"
    if theirs != ours:
        raise LoadError(
            f"the session simulates with {theirs}, this worker with {ours}, and plans of one are not valid "
            f"in the other: install mujoco=={about.get('version')} for the worker"
        )
    try:
        model: Any = mujoco.MjModel.from_xml_string(str(about["model"]))
    except ValueError as error:
        raise LoadError(
            f"the environment's model cannot be copied: it needs files beside its own ({error})"
        ) from error
    binary = np.zeros(int(mujoco.mj_sizeModel(model)), np.uint8)
    mujoco.mj_saveModel(model, None, binary)
    digest = about.get("model_sha256")
    if digest and digest != hashlib.sha256(binary.tobytes()).hexdigest():
        raise LoadError(
            "the environment's model has been changed since it was read from its file, so plans in "
            "a copy of the file would be wrong: let the environment load a file with the changed model"
        )
    return model
