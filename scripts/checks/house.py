"""Figures of the house: how its modules are divided, and what stands in it twice.

    python scripts/checks/house.py [--pairs] [ROOT]

Prints, of the checkout at ROOT (this one, if none is named):

- modules in a folder of gym_gui: the most, and the 90th percentile over folders;
- imports within functions of gym_gui;
- places that make the experiment runner, and that write the head of ``run.json``;
- near-copies: pairs of places in gym_gui that share six or more lines of code, alike but for names, strings
  and numbers. Imports, docstrings, comments, declared fields, and lines of brackets and single words do not
  count as lines; a pair counts where half of its lines differ from each other. ``--pairs`` lists them;
- lines of Python in gym_gui, 3rd_party and tests.
"""

from __future__ import annotations

import argparse
import ast
import io
import keyword
import re
import sys
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEAST = 6
"""Lines that make a near-copy."""
_TOO_COMMON = 8
"""Places in which a run may stand; one of more is how things are written here."""
_NOT_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING),
    tokenize.ENDMARKER,
}

Shape = tuple[str, ...]


def sources(root: Path) -> list[Path]:
    """The modules of gym_gui, without generated ones."""
    return [path for path in sorted((root / "gym_gui").rglob("*.py")) if "pb" not in path.parts]


def modules_in_folders(root: Path) -> list[int]:
    """How many modules each folder has, fewest first."""
    count: dict[Path, int] = {}
    for path in sources(root):
        count[path.parent] = count.get(path.parent, 0) + (path.name != "__init__.py")
    return sorted(count.values())


def late_imports(root: Path) -> int:
    """Import statements that stand in functions."""
    found: set[tuple[Path, int]] = set()
    for path in sources(root):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                inside = (each for each in ast.walk(node) if isinstance(each, ast.Import | ast.ImportFrom))
                found.update((path, each.lineno) for each in inside)
    return len(found)


def modules_that_call(root: Path, text: str) -> int:
    """Modules that call a function or class of this name."""
    call = re.compile(rf"(?<!def )\b{text}\(")
    return sum(call.search(path.read_text("utf-8")) is not None for path in sources(root))


def _left_out(text: str) -> set[int]:
    """Lines of imports, docstrings and declared fields."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        is_text = (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        )
        is_field = isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        if is_text or is_field or isinstance(node, ast.Import | ast.ImportFrom):
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))  # type: ignore[attr-defined]
    return lines


def shapes(text: str) -> list[tuple[int, Shape]]:
    """The lines of code of a module by number: tokens, with one word each for names, strings and numbers."""
    skipped, lines = _left_out(text), dict[int, list[str]]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in _NOT_CODE or token.start[0] in skipped:
            continue
        word = token.string
        if token.type == tokenize.NAME and not keyword.iskeyword(word):
            word = "name"
        elif token.type in (tokenize.STRING, tokenize.NUMBER):
            word = "value"
        lines.setdefault(token.start[0], []).append(word)
    return [(number, tuple(words)) for number, words in sorted(lines.items()) if len(words) > 2]


def near_copies(root: Path) -> Iterator[tuple[str, str]]:
    """Pairs of places that share lines of one shape, a pair of modules once for each run."""
    read = {path.relative_to(root).as_posix(): shapes(path.read_text("utf-8")) for path in sources(root)}
    places: dict[tuple[Shape, ...], list[tuple[str, int]]] = {}
    for name, lines in read.items():
        for at in range(len(lines) - LEAST + 1):
            run = tuple(shape for _, shape in lines[at : at + LEAST])
            if len(set(run)) > LEAST // 2:
                places.setdefault(run, []).append((name, at))
    alike = {
        (first, second)
        for found in places.values()
        if len(found) <= _TOO_COMMON
        for i, first in enumerate(found)
        for second in found[i + 1 :]
        if first[0] != second[0] or second[1] - first[1] >= LEAST
    }
    for (one, at), (other, there) in sorted(alike):
        if ((one, at - 1), (other, there - 1)) not in alike:  # the run begins here
            yield f"{one}:{read[one][at][0]}", f"{other}:{read[other][there][0]}"


def lines_of(root: Path, folder: str, tests: bool) -> int:
    """Lines of Python in a folder, of tests or of all else."""
    files = (path for path in (root / folder).rglob("*.py") if "pb" not in path.parts)
    return sum(
        path.read_bytes().count(b"\n")
        for path in files
        if ("tests" in path.relative_to(root).parts) == tests and "node_modules" not in path.parts
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Figures of the house.")
    parser.add_argument("root", nargs="?", type=Path, default=ROOT, help="a checkout (default: this one)")
    parser.add_argument("--pairs", action="store_true", help="list near-copies")
    asked = parser.parse_args(arguments)
    root: Path = asked.root.resolve()
    counts = modules_in_folders(root)
    pairs = list(near_copies(root))
    if asked.pairs:
        print(*(f"{one} ~ {other}" for one, other in pairs), sep="\n")
    rows: list[tuple[str, int]] = [
        ("modules in a folder, most", counts[-1]),
        ("modules in a folder, 90th percentile", counts[int(0.9 * len(counts))]),
        ("folders", len(counts)),
        ("imports within functions", late_imports(root)),
        (
            "modules that make the experiment runner",
            modules_that_call(root, "OperatorScriptExecutionManager"),
        ),
        ("modules that name the machine for run.json", modules_that_call(root, "made_here")),
        ("near-copies, pairs of places", len(pairs)),
        ("lines of gym_gui", lines_of(root, "gym_gui", tests=False)),
        ("lines of 3rd_party, tests left out", lines_of(root, "3rd_party", tests=False)),
        ("lines of tests", lines_of(root, "tests", tests=True) + lines_of(root, "3rd_party", tests=True)),
    ]
    for words, figure in rows:
        print(f"{words:45} {figure:9,}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
