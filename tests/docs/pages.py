"""Runs what the documentation shows and holds it against what the documentation says.

A fenced block is one of these, by its language and its first line:

* any language, first line ``# name.py`` (or another file name): a file, written to the folder;
* ``python``: executed, all blocks of a page in one namespace, in order;
* ``console``: each line that begins with ``$`` is run, the lines below it are what it prints;
* ``sh`` or ``bash``: each line is run, and ends with status 0;
* ``text`` below ``python``, with nothing between them: what the block prints;
* anything else is for reading only.

What is printed is compared as words, so that a column may be wider elsewhere. ``…`` stands for
anything; run ids, times, versions and what a machine is may differ, but a run id must be the same
wherever it stands. ``/home/you`` is the folder in which it is done. No command is left out but those
that :mod:`tests.docs.not_run` names.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.docs.not_run import ONLY_IN_FULL, SHORTER, not_run
from tests.support.commands import ROOT, Mosaic

DOCS = sorted(page for page in (ROOT / "docs").rglob("*.md") if "_written" not in page.parts)
"""Pages that are kept: scripts write others where the documentation is built."""
_COMMAND = re.compile(r"^(?:\$ |(?:mosaic|python|pip|\./scripts/\S+) )[^\[─]*$", re.MULTILINE)
_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# ([\w./-]+\.\w+)\n")
_RUN_ID = r"[0-9A-HJKMNP-TV-Z]{26}"
_VARIES = (
    (r"\b[\d.,e-]+ (?:us|ms|s|min)\b", "TIME"),  # how long it took
    (r"\b[\d.,]+ [KMG]B\b", "SIZE"),
    (r"\bmean return [\d.]+ in its evaluation", "RETURN"),  # sums in another order on another processor
    (r"\b\d+\.\d+\.\d+(?:\+\w+)?", "VERSION"),
    (r"\b[0-9a-f]{12}\b(?: with changes)?", "COMMIT"),
    (r"\bLinux-\S+, \d+ cores?", "MACHINE"),
    (r"\bProcesses: \d+", "PROCESSES"),  # one for each core
    (r"\b\d\d \w{3} \d\d:\d\d\b", "WHEN"),
    (r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[+\d:]*", "WHEN"),
    (r"─+", "─"),
)
WRITES = "MOSAIC_WRITE_TRANSCRIPTS"
"""Where ``scripts/pages/transcripts.py`` sets it, what differs is written to the page, and fails nothing."""
_PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
_NO_DISPLAY = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "QT_QPA_PLATFORM": ""}


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


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """Commands of a block, each with the output shown below it; of other blocks than a shell's, none."""
    text = block.text.replace("\\\n", " ")
    if block.language == "console":
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            yield " ".join(command.split()), shown
    elif block.language in ("sh", "bash", "shell"):
        for line in text.splitlines():
            if command := re.sub(r"(?:^|\s)# .*", "", line):
                yield " ".join(command.split()), ""


def hidden_commands(block: Block) -> list[str]:
    """Commands in a block that is no shell block, where no test would run them; a synopsis does not count."""
    return _COMMAND.findall(block.text) if block.language in ("", "text") else []


class Reader:
    """Someone who goes through a page and does what it says.

    Args:
        page: The page.
        mosaic: The command line.
        shorter: What takes less time instead of some words of a command.
        full: Whether what takes minutes is done too, and nothing else in its place.

    Attributes:
        home: The folder it is done in.
        counted: How many files, commands and Python blocks there were.
    """

    def __init__(
        self, page: Path, mosaic: Mosaic, shorter: Mapping[str, str] | None = None, *, full: bool = False
    ) -> None:
        self.page, self.mosaic, self.home = page, mosaic, mosaic.home
        self._shorter = dict(shorter or {})
        name = page.relative_to(ROOT).as_posix()
        self._left_out = {*not_run(name), *(() if full else ONLY_IN_FULL.get(name, ()))}
        self._instead = {} if full else SHORTER.get(name, {})
        self.counted = {"files": 0, "commands": 0, "python": 0}
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._runs: dict[str, str] = {}
        self._drifted: list[tuple[int, str, str]] = []

    def follow(self, *, python: bool = True) -> None:
        """Do all of it.

        Args:
            python: Whether its Python is executed too.

        Raises:
            AssertionError: Something is not as the page says.
        """
        listed = blocks(self.page)
        try:
            self._follow(listed, python=python)
        finally:
            self._rewrite()

    def _follow(self, listed: list[Block], *, python: bool) -> None:
        for block, after in zip(listed, [*listed[1:], None], strict=True):
            if named := _FILE.match(block.text):
                self._write(named[1], block.text)
            elif block.language == "python" and python:
                printed = self._execute(block)
                if after is not None and after.language == "text" and after.follows:
                    self._compare(after.text, printed, after.line)
            for command, shown in commands(block):
                if command in self._instead:
                    self._command(self._instead[command], "", block.line)
                elif command not in self._left_out:
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
        command = self._real(command)
        self.counted["commands"] += 1
        if command == "./scripts/run.sh --headless":  # its own tests are in tests/packaging
            command = f"mosaic run {ROOT / 'docs/examples/quickstart.py'}"
        program, *arguments = shlex.split(command)
        if program == "mosaic":
            # Without a command it opens the window, where there can be one; that is the process's to say.
            here = self.mosaic if arguments else self.mosaic.process
            done = here(*arguments, **_NO_DISPLAY)
            printed, said, status = done.out, done.err, done.status
        elif shutil.which(program, path=_PATH):
            process = subprocess.run(
                ["bash", "-c", command],
                cwd=self.home,
                # A worker's own page speaks of its own folder.
                env={**self.mosaic.env, "PATH": _PATH, "PYTHONPATH": str(self.page.parent)},
                capture_output=True,
                text=True,
                timeout=90,
                check=False,
            )
            printed, said, status = process.stdout, process.stderr, process.returncode
        else:  # jq and the like: tried only on machines that have them
            return
        refusal = shown.startswith("mosaic: ")  # one line on stderr, where progress goes otherwise
        assert (status == 0) != refusal, f"{self.page.name}:{line}: {command}\n{printed}{said}"
        if refusal:
            printed = re.sub(r"^Note: .*\n", "", said, flags=re.MULTILINE)
        self._compare(shown, printed, line)

    def _real(self, text: str) -> str:
        """With the ids of our runs in place of those on the page."""
        return re.sub(_RUN_ID, lambda m: self._runs.get(m[0], m[0]), text)

    def _compare(self, shown: str, printed: str, line: int) -> None:
        if not shown.strip():
            return
        names: dict[str, str] = {}
        if self._instead:  # some runs have fewer
            shown, printed = (re.sub(r"\b\d+ episodes\b", "EPISODES", text) for text in (shown, printed))
        pattern = self._pattern(_words(shown.replace("/home/you", str(self.home))), names)
        found = re.fullmatch(pattern, _words(printed))
        if found is None and WRITES in os.environ and not self._instead:
            self._differs(shown, printed, line)
            return
        assert found, f"{self.page.name}:{line} shows\n{shown}\nbut what is printed is\n{printed}"
        self._runs.update({run: found[name] for run, name in names.items()})

    def _differs(self, shown: str, printed: str, line: int) -> None:
        """Keep what is to stand on the page from now on, with the page's own ids of runs and folder."""
        here = [found for found in dict.fromkeys(re.findall(_RUN_ID, shown)) if found not in self._runs]
        known = {ours: theirs for theirs, ours in self._runs.items()}
        new = [found for found in dict.fromkeys(re.findall(_RUN_ID, printed)) if found not in known]
        self._runs.update(zip(here, new, strict=False))
        known |= {ours: theirs for theirs, ours in self._runs.items()}
        text = re.sub(_RUN_ID, lambda found: known.get(found[0], found[0]), printed)
        self._drifted.append((line, shown, elided(shown, text.replace(str(self.home), "/home/you"))))

    def _rewrite(self) -> None:
        """Write the page with what was printed in place of what it showed."""
        if not self._drifted:
            return
        text = self.page.read_text(encoding="utf-8")
        for line, shown, printed in reversed(self._drifted):
            start = sum(map(len, text.splitlines(keepends=True)[: line - 1]))
            at = text.index(shown, start)
            text = text[:at] + printed + text[at + len(shown) :]
        self.page.write_text(text, encoding="utf-8")

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


def elided(shown: str, printed: str) -> str:
    """What is printed, as short as the page has it: lines are left out where ``…`` stands for them."""
    old, new = shown.splitlines(), [line.rstrip() for line in printed.splitlines()]
    gaps = [i for i, line in enumerate(old) if line.strip() == "…"]
    if not gaps:
        return "\n".join(new).rstrip("\n") + "\n" * (len(shown) - len(shown.rstrip("\n")))
    first, last = gaps[0], len(old) - 1 - gaps[-1]
    if first + last >= len(new):
        return "\n".join(new) + "\n"
    return "\n".join([*new[:first], old[first], *new[len(new) - last :]]) + "\n"


def _words(text: str) -> str:
    for pattern, word in _VARIES:
        text = re.sub(pattern, word, text)
    return " ".join(text.split())
