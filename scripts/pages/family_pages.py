"""Writes the built part of the page of each environment family.

    python scripts/pages/family_pages.py [FAMILY ...] [--out docs/_written/families]

The documentation's build runs it. ``docs/families/FAMILY.md`` holds the title and what people wrote, and
includes the part that is written here: picture, command that installs the family, facts of one environment,
environments, results. It comes from ``docs/families/checked.json`` (``scripts/pages/environments.py``) and
from the list of environments, so that no environment is made and no package of a family has to be installed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gym_gui.core.errors import MosaicError
from gym_gui.envs.describers.information_losses import losses_of
from gym_gui.envs.environment_registry import families
from gym_gui.envs.family import Family
from gym_gui.envs.known_names import known_names

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "families"
OUT = ROOT / "docs" / "_written" / "families"
_FACTS = ("agents", "turns", "observes", "does", "steps at most", "keys")
"""Rows of the table of an environment, in their order."""
_LISTED, _TOLD = 40, 1200
_WITHOUT_WORDS = "needs text"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the parts; exit status 2 for a family without a page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("family", nargs="*", help="a family; all that have a page by default")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the parts")
    wanted = parser.parse_args(arguments)
    named = sorted(page.stem for page in PAGES.glob("*.md") if page.stem != "index")
    if unknown := set(wanted.family) - set(named):
        parser.error(f"no page for {', '.join(sorted(unknown))}; there are pages for {', '.join(named)}")
    rows: dict[str, Any] = json.loads((PAGES / "checked.json").read_text("utf-8"))
    wanted.out.mkdir(parents=True, exist_ok=True)
    for name in wanted.family or named:
        write_if_new(wanted.out / f"{name}.md", part_of(families()[name], rows.get(name)))
    return 0


def write_if_new(file: Path, text: str) -> None:
    """Write a file unless it holds the text already: Sphinx reads again what is newer."""
    if not file.is_file() or file.read_text("utf-8") != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")


def part_of(family: Family, row: Mapping[str, Any] | None) -> str:
    """Return the built part of a family's page, as Markdown.

    Args:
        family: The family; its package need not be installed.
        row: Its entry of ``checked.json``; ``None`` for a family that was not checked.
    """
    lines: list[str] = []
    if row and row["picture"]:
        lines += [f"![{_plain(row['name'])}](pictures/{family.name}.png)", ""]
    if family.install:
        lines += ["```bash", family.install, "```", ""]
    if row:
        lines += _example(row)
    if losses := list(losses_of(family.name)):
        lines += ["What words leave out of what a seat observes:", ""]
        lines += [*(f"- `{loss.environments}`: {loss.sentence}" for loss in losses), ""]
    lines += ["## Environments", "", *_listed(family), ""]
    lines += _checked(row) if row else ["## Checked", "", "MOSAIC's checks were not run on this family.", ""]
    return "\n".join(lines)


def _example(row: Mapping[str, Any]) -> Iterator[str]:
    """The lines on one environment of the family."""
    yield from (f"## {_plain(row['name'])}", "")
    yield from (f"`{row['checks'][0]['id']}`: {_plain(row['summary'])}.", "")
    if row["facts"]:
        yield from ("| | |", "| --- | --- |")
        yield from (f"| {fact} | {_plain(row['facts'][fact])} |" for fact in _FACTS if fact in row["facts"])
        yield ""
    if text := row["example"]:
        told = text if len(text) <= _TOLD else f"{text[:_TOLD].rstrip()} …"
        yield from ("The first text of an episode, for agents that read:", "", "```text", told, "```", "")


def _listed(family: Family) -> Sequence[str]:
    """The environments, each with a sentence where the sentences differ."""
    about = _environments(family)
    if not about:
        return [f"Once the family is installed, `mosaic envs list {family.name}` lists them."]
    if len(about) <= _LISTED and len(set(about.values())) == len(about):
        return ["| id | |", "| --- | --- |", *(f"| `{env_id}` | {text} |" for env_id, text in about.items())]
    ids = ", ".join(f"`{env_id}`" for env_id in list(about)[:_LISTED])
    more = f", and {len(about) - _LISTED} more" if len(about) > _LISTED else ""
    return [f"{ids}{more}: `mosaic envs list {family.name}`."]


def _environments(family: Family) -> Mapping[str, str]:
    """A sentence or a title by id; of a family that cannot be listed here, the ids that are known by name."""
    # A list that is data needs no package to be read.
    family.require = lambda: None  # type: ignore[method-assign]
    try:
        return {spec.id: _plain(family.summary(spec) or family.title_of(spec)) for spec in family.specs()}
    except (MosaicError, ImportError, OSError):
        return {env_id: _plain(title) for env_id, title in known_names().get(family.name, {}).items()}


def _checked(row: Mapping[str, Any]) -> Iterator[str]:
    versions = ", ".join(f"{package} {version}" for package, version in row["versions"].items())
    yield from ("## Checked", "", f"On {row['when']}{f', with {versions}' if versions else ''}:", "")
    yield from (f"- {check_words(found)}" for found in row["checks"])
    yield f"- two episodes at random: {_plain(row['random'])}"
    described = "it has no words" if has_no_words(row["described"]) else _plain(row["described"])
    yield from (f"- twelve steps by a tiny language model: {described}", "")


def has_no_words(outcome: str) -> bool:
    """Return whether a language model could not play because nothing describes the observation."""
    return _WITHOUT_WORDS in outcome


def check_words(found: Mapping[str, Any], *, brief: bool = False) -> str:
    """Return the result of a check: a mark, the environment and, unless ``brief``, what failed."""
    mark = "✓" if found["ok"] else "✗"
    why = "" if brief else "".join(f" ({_plain(text)})" for text in found["failed"])
    return f"{mark} `{found['id']}`{why}"


def _plain(text: str) -> str:
    """Return a text on one line, as a cell of a Markdown table takes it."""
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())


if __name__ == "__main__":
    sys.exit(main())
