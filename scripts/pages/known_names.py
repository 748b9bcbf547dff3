"""Writes the names of environments that can be found before their family is installed.

    python scripts/pages/known_names.py [--out FILE]

Each family that can be listed here is asked for its environments; one that cannot keeps what was written
before. The window's search reads the file (``gym_gui/envs/known_names.py``).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

from gym_gui.core.errors import MosaicError
from gym_gui.envs.families import BUILT_IN
from gym_gui.envs.family import Family
from gym_gui.envs.known_names import FILE, known_names
from gym_gui.envs.spec import split_version

_DERIVED = frozenset({"skills", "single_agent"})
"""Families that are made of the environments of others."""


def names_of(family: Family) -> dict[str, str]:
    """Titles by id, the newest version of each environment."""
    # A registry that is data needs no package to be read.
    family.require = lambda: None  # type: ignore[method-assign]
    newest: dict[str, tuple[int, str, str]] = {}
    for spec in family.specs():
        stem, version = split_version(spec.id)
        rank = version if version is not None else -1
        if stem not in newest or newest[stem][0] < rank:
            newest[stem] = (rank, spec.id, family.title_of(spec))
    return {env_id: title for _, env_id, title in newest.values()}


def main() -> None:
    """Write the file, and say which families were read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=FILE)
    out: Path = parser.parse_args().out
    found: dict[str, Mapping[str, str]] = dict(known_names())
    for family in BUILT_IN:
        if family.name in _DERIVED:
            continue
        try:
            names = names_of(family)
        except (MosaicError, ImportError, OSError) as error:
            print(f"{family.name}: kept as it was ({error})")
            continue
        if names:
            found[family.name] = names
            print(f"{family.name}: {len(names)}")
    lines = [f" {json.dumps(name)}: {json.dumps(found[name], sort_keys=True)}" for name in sorted(found)]
    out.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
