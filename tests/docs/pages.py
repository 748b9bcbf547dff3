"""Runs what the documentation shows and holds it against what the documentation says.

A fenced block is one of these, by its language and its first line:

* any language, first line ``# name.py`` (or another file name): a file, written to the folder;
* ``python``: executed, all blocks of a page in one namespace, in order;
* ``console``: each line that begins with ``$`` is run, the lines below it are what it prints;
* ``text`` below ``python``, with nothing between them: what the block prints;
* anything else is for reading only.

What is printed is compared as words, so that a column may be wider elsewhere. ``…`` stands for
anything; run ids and times may differ, but a run id must be the same wherever it stands.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.commands import ROOT, Mosaic

_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# ([\w./-]+\.\w+)\n")
_RUN_ID = r"[0-9A-HJKMNP-TV-Z]{26}"
_VARIES = (
    (r"\b[\d.,]+ (?:us|ms|s|min)\b", "TIME"),  # how long it took
    (r"\b\d\d \w{3} \d\d:\d\d\b", "WHEN"),
    (r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[+\d:]*", "WHEN"),
    (r"─+", "─"),
)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes:
        language: What stands behind the fence.
        text: Its lines.
        line: Line of the first of them in the page, from 1.
        follows: Whether it stands right below another block.
    """

    language: str
    text: str
    line: int
    follows: bool


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    end = 0
    for m in _FENCE.finditer(text):
        line = text.count("\n", 0, m.start(2)) + 1
        found.append(Block(m[1], m[2], line, bool(found) and not text[end : m.start()].strip()))
        end = m.end()
    return found


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Commands of a ``console`` block, each with the output shown below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.replace("\\\n", " ").partition("\n")
        yield command, shown


class Reader:
    """Someone who goes through a page and does what it says.

    Args:
        page: The page.
        mosaic: The command line.
        shorter: What takes less time instead of some words of a command.

    Attributes:
        home: The folder it is done in.
        counted: How many files, commands and Python blocks there were.
    """

    def __init__(self, page: Path, mosaic: Mosaic, shorter: Mapping[str, str] | None = None) -> None:
        self.page, self.mosaic, self.home = page, mosaic, mosaic.home
        self._shorter = dict(shorter or {})
        self.counted = {"files": 0, "commands": 0, "python": 0}
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._runs: dict[str, str] = {}

    def follow(self) -> None:
        """Do all of it.

        Raises:
            AssertionError: Something is not as the page says.
        """
        listed = blocks(self.page)
        for block, after in zip(listed, [*listed[1:], None], strict=True):
            if named := _FILE.match(block.text):
                self._write(named[1], block.text)
            elif block.language == "python":
                printed = self._execute(block)
                if after is not None and after.language == "text" and after.follows:
                    self._compare(after.text, printed, after.line)
            elif block.language == "console":
                for command, shown in commands(block.text):
                    self._command(command, shown, block.line)

    def _write(self, name: str, text: str) -> None:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.counted["files"] += 1

    def _execute(self, block: Block) -> str:
        # Blank lines before it, so that a traceback names the line of the page.
        code = compile("\n" * (block.line - 1) + self._real(block.text), str(self.page), "exec")
        self.counted["python"] += 1
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, self._names)
        return printed.getvalue()

    def _command(self, command: str, shown: str, line: int) -> None:
        for long, short in self._shorter.items():
            command = command.replace(long, short)
        program, *arguments = shlex.split(self._real(command))
        self.counted["commands"] += 1
        if program == "./scripts/run.sh":  # its own tests are in tests/packaging
            program, arguments = "mosaic", ["run", str(ROOT / "docs/examples/quickstart.py")]
        if program == "mosaic":
            done = self.mosaic(*arguments)
            printed, said, status = done.out, done.err, done.status
        elif program == "python" or shutil.which(program):
            process = subprocess.run(
                [sys.executable if program == "python" else program, *arguments],
                cwd=self.home,
                env=self.mosaic.env,
                capture_output=True,
                text=True,
                timeout=90,
                check=False,
            )
            printed, said, status = process.stdout, process.stderr, process.returncode
        else:  # jq and the like: whoever has them tries them
            return
        refusal = shown.startswith("mosaic: ")  # one line on stderr, where progress goes otherwise
        assert (status == 0) != refusal, f"{self.page.name}:{line}: {command}\n{printed}{said}"
        self._compare(shown, said if refusal else printed, line)

    def _real(self, text: str) -> str:
        """With the ids of our runs in place of those on the page."""
        return re.sub(_RUN_ID, lambda m: self._runs.get(m[0], m[0]), text)

    def _compare(self, shown: str, printed: str, line: int) -> None:
        if not shown.strip():
            return
        names: dict[str, str] = {}
        pattern = self._pattern(_words(shown), names)
        found = re.fullmatch(pattern, _words(printed))
        assert found, f"{self.page.name}:{line} shows\n{shown}\nbut what is printed is\n{printed}"
        self._runs.update({run: found[name] for run, name in names.items()})

    def _pattern(self, text: str, names: dict[str, str]) -> str:
        """A regular expression; ``names`` receives the group of each run id that is new."""
        parts: list[str] = []
        for piece in re.split(f"({_RUN_ID}|…)", text):
            if piece == "…":
                parts.append(".*?")
            elif not re.fullmatch(_RUN_ID, piece):
                parts.append(re.escape(piece))
            elif piece in self._runs:
                parts.append(self._runs[piece])
            elif piece in names:
                parts.append(f"(?P={names[piece]})")
            else:
                names[piece] = f"run{len(names)}"
                parts.append(f"(?P<{names[piece]}>{_RUN_ID})")
        return "".join(parts)


def _words(text: str) -> str:
    for pattern, word in _VARIES:
        text = re.sub(pattern, word, text)
    return " ".join(text.split())
