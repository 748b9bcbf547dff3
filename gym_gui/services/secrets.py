"""Resolves the secrets that a slot's settings refer to."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any, Final

from gym_gui.core.errors import ExperimentError, MissingDependencyError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.inherited_environment import withhold
from gym_gui.core.secret_refs import SecretRef, references

KEYRING_SERVICE: Final = "mosaic"
_provided: dict[str, str] = {}


def provide(variables: Mapping[str, str]) -> None:
    """Make secrets available by variable name without putting them into this process's environment.

    A process that runs foreign code needs this, because the code could read the environment.
    """
    _provided.update(variables)


def resolve_secrets(assignment: WorkerAssignment) -> dict[str, str]:
    """Return the secrets of one slot, only for the handshake with its worker.

    ``settings`` keep their references. The returned secrets must never be written or logged.

    Returns:
        Secrets by their place in ``settings`` (``"api_key"``, ``"headers.Authorization"``).

    Raises:
        ExperimentError: A secret is missing or cannot be read.
        MissingDependencyError: A ``keyring:`` reference is used and the package is not installed.
    """
    return {place: _lookup(ref, place) for place, ref in references(assignment.settings)}


def _lookup(ref: SecretRef, place: str) -> str:
    if ref.store == "keyring":
        return _from_keyring(ref.name, place)
    withhold(ref.name)
    value = os.environ.get(ref.name, "") or _provided.get(ref.name, "")
    if not value:
        raise ExperimentError(
            f"environment variable {ref.name}, which setting {place!r} names, is not set",
            fix=f"Run: export {ref.name}=...",
        )
    return value


def _from_keyring(name: str, place: str) -> str:
    try:
        keyring: Any = importlib.import_module("keyring")
    except ModuleNotFoundError:
        raise MissingDependencyError("the keyring package", "mosaic install gui") from None
    try:
        value = keyring.get_password(KEYRING_SERVICE, name)
    except keyring.errors.KeyringError as error:
        raise ExperimentError(
            f"the system's keyring cannot be read for setting {place!r}: {error}",
            fix="Use an environment variable instead: 'env:NAME'",
        ) from None
    if not value:
        raise ExperimentError(
            f"the keyring has no entry {name!r}, which setting {place!r} names",
            fix=f"Run: keyring set {KEYRING_SERVICE} {name}",
        )
    return str(value)
