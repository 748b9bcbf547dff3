"""Computes the digest of a whole run, which the run's end adds to ``run.json``.

The digest is the SHA-256 of ``run.json``, written in the same way as lines of episodes
(:mod:`gym_gui.core.record_digest`). ``run.json`` contains the digests of the run's files:

* of ``episodes.jsonl`` the SHA-256 of the lines ``<index> <record_sha256>``, sorted as text, so that no
  episode can be removed or added;
* of ``calls.jsonl`` the SHA-256 of its lines in their order, without times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from gym_gui.analysis.records.jsonl import Line, packed, read_lines
from gym_gui.core.record_digest import KEY, without_times

FILES: Final = "files_sha256"


def run_digest(header: Mapping[str, Any]) -> str:
    """Return the digest of a run, which is the value of ``record_sha256`` in ``run.json``.

    Args:
        header: Content of ``run.json``.
    """
    return sha256(without_times(header)).hexdigest()


def files_digests(run: Path, operators: Iterable[str]) -> dict[str, str]:
    """Return the digests of the operators' files, by path in the run folder.

    Raises:
        UsageError: A file cannot be read.
        RunFormatError: A line is damaged.
    """
    found: dict[str, str] = {}
    for operator in operators:
        for name, digest in (("episodes.jsonl", digest_of_episodes), ("calls.jsonl", digest_of_calls)):
            path = run / "operators" / operator / name
            if path.exists() or packed(path).exists():
                found[path.relative_to(run).as_posix()] = digest(read_lines(path))
    return found


def digest_of_episodes(lines: Iterable[Line]) -> str:
    """Return the digest of the lines of an ``episodes.jsonl``."""
    digests = {line.value.get("episode_index"): line.value.get(KEY) for line in lines}
    text = "".join(sorted(f"{index} {digest}\n" for index, digest in digests.items()))
    return sha256(text.encode()).hexdigest()


def digest_of_calls(lines: Iterable[Line]) -> str:
    """Return the digest of the lines of a ``calls.jsonl``."""
    digest = sha256()
    for line in lines:
        digest.update(without_times(line.value))
    return digest.hexdigest()
