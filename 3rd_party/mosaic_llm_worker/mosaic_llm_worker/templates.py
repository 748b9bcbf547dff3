"""Loads the text files from which prompts are made; users may replace these files."""

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
    """A prompt file cannot be used; the message is a sentence that names the file."""


@dataclass(frozen=True)
class Role:
    """The instruction for one seat of a team.

    Attributes:
        name: Name by which settings choose the role.
        text: Sentences for the prompt of the player.
        seats: Patterns of the names of agents that the role suits.
    """

    name: str
    text: str
    seats: tuple[str, ...] = ("*",)

    def suits(self, agent: str) -> bool:
        """Return whether the role is for an agent."""
        return any(fnmatch.fnmatchcase(agent, seat) for seat in self.seats)


@dataclass(frozen=True)
class Example:
    """An example turn of a game with its answer.

    Attributes:
        see: The observation as text.
        answer: Word of the action.
    """

    see: str
    answer: str


@dataclass(frozen=True)
class Game:
    """Texts about a game in addition to its briefing.

    Attributes:
        hints: Advice on how a team plays the game well.
        roles: Roles for the seats of a team, in their order.
        examples: Example turns for the strategy ``few_shot``.
    """

    hints: str = ""
    roles: tuple[Role, ...] = ()
    examples: tuple[Example, ...] = ()

    def renamed(self, names: Names) -> Game:
        """Return the texts with other names for actions and objects; the names of roles are kept."""
        if not names:
            return self
        return Game(
            names.text(self.hints),
            tuple(replace(role, text=names.text(role.text)) for role in self.roles),
            tuple(Example(names.text(each.see), names.action(each.answer)) for each in self.examples),
        )


class Templates:
    """Prompt files of one slot.

    Args:
        folder: Folder with files that replace the defaults; ``""`` for the defaults only.

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
        """Return the text of a file.

        Args:
            name: Path relative to the folder, for example ``strategies/robust.txt``.

        Raises:
            PromptError: The file cannot be read.
        """
        return self._read_template(self._path(name)).rstrip("\n")

    def fill(self, name: str, **words: object) -> str:
        """Return a file's text with its ``$placeholders`` filled in, see :func:`filled`."""
        return filled(self.text(name), str(self._path(name)), **words)

    def strategy(self, name: str) -> tuple[str, str]:
        """Return a strategy's text for the system prompt, and its text for every turn (after ``---``)."""
        once, _, always = self.text(f"strategies/{name}.txt").partition("\n---\n")
        return once.strip(), always.strip()

    def game(self, env_id: str) -> Game:
        """Return the texts for an environment, from the first file whose patterns match: user files,
        defaults, ``any.toml``.

        Raises:
            PromptError: A file is invalid.
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
            # The content of a prompt file is sent to a model's server.
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
    """Return a text with its ``$placeholders`` filled in.

    Args:
        text: The text; ``$$`` stands for a dollar sign.
        where: Name of the file for error messages.
        words: Values by placeholder.

    Raises:
        PromptError: The text has an unknown placeholder.
    """
    try:
        return Template(text).substitute(words)
    except KeyError as exc:
        known = ", ".join(f"${word}" for word in sorted(words)) or "none"
        raise PromptError(
            f"{where} has the placeholder ${exc.args[0]}, which does not exist; there are: {known}"
        ) from None
    except ValueError:
        raise PromptError(f"{where} has a $ without a placeholder; write $$ for a dollar sign") from None


def tidy(text: str) -> str:
    """Remove empty lines at both ends of a text, and reduce several empty lines in a row to one."""
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
