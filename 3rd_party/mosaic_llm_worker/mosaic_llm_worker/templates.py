"""The texts that prompts are made of: files that a researcher edits."""

from __future__ import annotations

import fnmatch
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template
from typing import Any, Final

from mosaic_worker.plain_files import read_file
from mosaic_worker.renaming import Names

DEFAULTS: Final = Path(__file__).with_name("prompts")
_GAP: Final = re.compile(r"\n{3,}")
_ANY: Final = "any.toml"


class PromptError(Exception):
    """A file of the prompts cannot be used; the message is a sentence that names it."""


@dataclass(frozen=True)
class Role:
    """The instruction for one seat of a team.

    Attributes:
        name: By which settings choose it.
        text: The sentences in the prompt of its player.
        seats: Patterns of the agents that it is for.
    """

    name: str
    text: str
    seats: tuple[str, ...] = ("*",)

    def suits(self, agent: str) -> bool:
        """Whether it is for this seat."""
        return any(fnmatch.fnmatchcase(agent, seat) for seat in self.seats)


@dataclass(frozen=True)
class Example:
    """One turn of a game with its answer.

    Attributes:
        see: What is seen.
        answer: The action.
    """

    see: str
    answer: str


@dataclass(frozen=True)
class Game:
    """What is said of one game beside its own description.

    Attributes:
        hints: How a team plays it well.
        roles: For the seats of a team, in their order.
        examples: For the strategy ``few_shot``.
    """

    hints: str = ""
    roles: tuple[Role, ...] = ()
    examples: tuple[Example, ...] = ()

    def renamed(self, names: Names) -> Game:
        """The same in other names; roles keep theirs, by which settings choose them."""
        if not names:
            return self
        return Game(
            names.text(self.hints),
            tuple(replace(role, text=names.text(role.text)) for role in self.roles),
            tuple(Example(names.text(each.see), names.action(each.answer)) for each in self.examples),
        )


class Templates:
    """The files of one slot.

    Args:
        folder: With files in place of the defaults; ``""``: the defaults alone.

    Raises:
        PromptError: The folder does not exist.
    """

    def __init__(self, folder: str = "") -> None:
        self._folders = [DEFAULTS]
        if folder:
            own = Path(folder).expanduser()
            if not own.is_dir():
                raise PromptError(
                    f"prompt_folder {folder!r} is no folder; create it or leave the setting out"
                )
            self._folders.insert(0, own)

    def text(self, name: str) -> str:
        """A file's text.

        Args:
            name: Relative to the folder, ``strategies/robust.txt``.

        Raises:
            PromptError: It cannot be read.
        """
        return self._read_template(self._path(name)).rstrip("\n")

    def fill(self, name: str, **words: object) -> str:
        """A file's text with its ``$placeholders`` filled in, see :func:`filled`."""
        return filled(self.text(name), str(self._path(name)), **words)

    def strategy(self, name: str) -> tuple[str, str]:
        """What a strategy says once, and what it repeats at every turn (behind a line ``---``)."""
        once, _, always = self.text(f"strategies/{name}.txt").partition("\n---\n")
        return once.strip(), always.strip()

    def game(self, env_id: str) -> Game:
        """The file whose patterns fit the environment; own ones before the defaults, ``any.toml`` last.

        Raises:
            PromptError: A file has mistakes.
        """
        for folder in self._folders:
            for path in sorted(folder.glob("games/*.toml")):
                if path.name == _ANY:
                    continue
                data = self._toml(path)
                patterns: list[str] = data.get("environments", [])
                if any(fnmatch.fnmatchcase(env_id, pattern) for pattern in patterns):
                    return _game(path, data)
        path = self._path(f"games/{_ANY}")
        return _game(path, self._toml(path))

    def _path(self, name: str) -> Path:
        return next((f / name for f in self._folders if (f / name).is_file()), DEFAULTS / name)

    def _read_template(self, path: Path) -> str:
        try:
            # What a file of prompts leads to would be sent to a model's server.
            folder = next(f for f in (*self._folders, DEFAULTS) if path.is_relative_to(f))
            return read_file(path, inside=folder, links=folder == DEFAULTS).decode("utf-8")
        except (OSError, UnicodeDecodeError) as exc:
            why = exc.strerror if isinstance(exc, OSError) else exc
            raise PromptError(f"the prompt file {path} cannot be read: {why}") from None

    def _toml(self, path: Path) -> dict[str, Any]:
        try:
            return tomllib.loads(self._read_template(path))
        except tomllib.TOMLDecodeError as exc:
            raise PromptError(f"the prompt file {path} is not valid TOML: {exc}") from None


def filled(text: str, where: str, **words: object) -> str:
    """A text with its ``$placeholders`` filled in.

    Args:
        text: ``$$`` is a dollar sign.
        where: Named when something is wrong.
        words: By placeholder.

    Raises:
        PromptError: It has a placeholder that there is not.
    """
    try:
        return Template(text).substitute(words)
    except KeyError as exc:
        known = ", ".join(f"${word}" for word in sorted(words)) or "none"
        raise PromptError(
            f"{where} has the placeholder ${exc.args[0]}, which there is not; there are: {known}"
        ) from None
    except ValueError:
        raise PromptError(f"{where} has a $ that begins no placeholder; write $$ for a dollar sign") from None


def tidy(text: str) -> str:
    """Without empty lines at the ends and more than one in a row."""
    return _GAP.sub("\n\n", "\n".join(line.rstrip() for line in text.splitlines())).strip()


def _game(path: Path, data: dict[str, Any]) -> Game:
    unknown = sorted(data.keys() - {"environments", "hints", "roles", "examples"})
    try:
        if unknown:
            raise KeyError(unknown[0])
        roles = tuple(_role(entry) for entry in data.get("roles", ()))
        examples = tuple(Example(str(e["see"]), str(e["answer"])) for e in data.get("examples", ()))
    except (KeyError, TypeError) as exc:
        what = f"{exc.args[0]!r} is missing or not known" if isinstance(exc, KeyError) else "has a wrong form"
        raise PromptError(
            f"the prompt file {path}: {what}; a file has environments, hints, [[roles]] with name and text, "
            "[[examples]] with see and answer"
        ) from None
    return Game(str(data.get("hints", "")), roles, examples)


def _role(entry: dict[str, Any]) -> Role:
    seats: Sequence[str] = entry.get("seats", ["*"])
    return Role(str(entry["name"]), str(entry["text"]), tuple(seats))
