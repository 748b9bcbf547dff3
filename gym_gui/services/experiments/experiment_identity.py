"""Computes the identity of an experiment. Shards belong to one run only if their identities are equal.

Paths of files differ between machines. So only a file's name is part of the identity; its content is compared
separately.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from gym_gui.analysis.records.compare import essence
from gym_gui.core.record_fields import items, mapping
from gym_gui.core.trusted.user_code import digest, hash_of
from gym_gui.services.experiment_file import file_settings

_SLOTS = ("workers", "manager")


def identity_of(experiment: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recorded experiment without values that have no effect on its episodes.

    Args:
        experiment: The experiment in the form of ``run.json``.
    """
    kept = essence(experiment)
    kept["operators"] = [_operator(mapping(each) or {}) for each in items(kept.get("operators")) or []]
    return kept


def identity_digest(experiment: Mapping[str, Any]) -> str:
    """Return the SHA-256 of :func:`identity_of` as hexadecimal digits."""
    return sha256(orjson.dumps(identity_of(experiment), option=orjson.OPT_SORT_KEYS)).hexdigest()


def first_difference(one: object, other: object, where: str = "") -> str:
    """Return the first difference of plain data: ``execution.max_steps is 500, and 200``; empty if equal."""
    if one == other:
        return ""
    a, b, rows, others = mapping(one), mapping(other), items(one), items(other)
    pairs: Iterable[tuple[str, object, object]]
    if a is not None and b is not None:
        pairs = ((key, a.get(key), b.get(key)) for key in dict.fromkeys((*a, *b)))
    elif rows is not None and others is not None and len(rows) == len(others):
        pairs = ((str(i), *both) for i, both in enumerate(zip(rows, others, strict=True)))
    else:
        return f"{where} is {_shown(one)}, and {_shown(other)}"
    found = (first_difference(x, y, f"{where}.{key}".lstrip(".")) for key, x, y in pairs)
    return next(filter(None, found), "")


def content_of(path: Path) -> str:
    """Return the SHA-256 of the contents of a file or of all files in a folder; empty if there is neither.

    Raises:
        OSError: A file cannot be read.
    """
    if path.is_file():
        return hash_of(path)
    if not path.is_dir():
        return ""
    files = (each for each in path.rglob("*") if each.is_file() and not each.is_symlink())
    return digest({each.relative_to(path).as_posix(): hash_of(each) for each in files})


def _operator(operator: Mapping[str, Any]) -> dict[str, Any]:
    kept = dict(operator)
    for part in _SLOTS:
        if (slots := mapping(kept.get(part))) is not None:
            kept[part] = {slot: _assignment(mapping(each) or {}) for slot, each in slots.items()}
    if (groups := items(kept.get("link_groups"))) is not None:
        kept["link_groups"] = [_named(mapping(each) or {}, ("policy_path",)) for each in groups]
    return kept


def _assignment(assignment: Mapping[str, Any]) -> dict[str, Any]:
    settings = mapping(assignment.get("settings")) or {}
    names = file_settings(str(assignment.get("worker_id")))
    return {**assignment, "settings": _named(settings, names)}


def _named(values: Mapping[str, Any], paths: Container[str]) -> dict[str, Any]:
    """Return values in which paths are replaced by the names of their files."""
    return {
        key: Path(value).name if key in paths and isinstance(value, str) else value
        for key, value in values.items()
    }


def _shown(value: object) -> str:
    text = orjson.dumps(value).decode()
    return text if len(text) <= 60 else f"{text[:57]}..."
