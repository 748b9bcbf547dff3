"""What a person must know of an environment before playing it, read in a process of its own.

Its documentation, slots, action words, spaces and keys can only be asked of an instance,
and making one imports its package: a window must not (time, memory, a crash). So a short
child process does, and prints a :class:`PlayCard` as JSON; :class:`PlayCards` asks it
and keeps the answers on disk until the environment's package, or this program, changes.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.metadata
import json
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, cast

from gym_gui.controllers.environment_probe import EnvironmentRequest
from gym_gui.core.errors import MosaicError, UsageError
from gym_gui.core.inherited import inherited
from gym_gui.core.subjects import Subject
from gym_gui.core.trust import TYPED, Origin, enforce, handed_on
from gym_gui.envs.keymaps import Axis, KeyScheme
from gym_gui.version import __version__
from gym_gui.workers.spawn import spawn
from gym_gui.workers.tree import tagged
from mosaic_worker.plain_files import replace_file

_log = logging.getLogger(__name__)

_FORMAT: Final = 2
_PATIENCE_S: Final = 90.0
PLAYERS: Final = 2
"""People for whom there are keys at one keyboard."""


@dataclass(frozen=True, slots=True)
class SlotCard:
    """One slot.

    Attributes:
        agent: Its name.
        observation: JSON data of the space it sees.
        action: JSON data of its action space.
        words: A word for each action number, where there are any.
        noop: Number of the action that does nothing, or ``None``.
        schemes: Keys for the first and the second person at a keyboard.
        offers: What it can be shown beside its observation, as :class:`~gym_gui.services.backends.SlotInfo`.
    """

    agent: str
    observation: Mapping[str, Any]
    action: Mapping[str, Any]
    words: Mapping[int, str]
    noop: int | None
    schemes: tuple[KeyScheme, ...]
    offers: tuple[str, ...] = ("legal_actions",)


@dataclass(frozen=True, slots=True)
class PlayCard:
    """See the module.

    Attributes:
        env_id: Canonical id.
        family: Name of its family.
        paradigm: How its agents take turns.
        title: Its name for people.
        summary: What it is about, in a sentence or two.
        text: Its documentation, Markdown.
        url: Its page on the web, or empty.
        max_steps: Its own limit of an episode, or ``None``.
        teams: Agents by team.
        slots: Its slots, in its own order.
        looks: What it can show: ``rgb_array``, ``ansi``.
    """

    env_id: str
    family: str
    paradigm: str
    title: str
    summary: str
    text: str
    url: str
    max_steps: int | None
    teams: Mapping[str, tuple[str, ...]]
    slots: Mapping[str, SlotCard]
    looks: tuple[str, ...]


def describe(
    task: str,
    env_name: str | None = None,
    api: str | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    origin: Origin = TYPED,
) -> PlayCard:
    """Make an instance and ask it; for the child process.

    Raises:
        UsageError: It is unknown, not installed, or cannot be made.
    """
    from gym_gui import envs
    from gym_gui.controllers.lineup import read_slots
    from gym_gui.core.spaces import space_to_spec

    environment = envs.make(task, env_name=env_name, api=api, env_kwargs=env_kwargs, origin=origin)
    try:
        adapter, spec = environment.adapter, environment.spec
        page = envs.document(spec, env_kwargs=env_kwargs)
        slots: dict[str, SlotCard] = {}
        read = read_slots(environment)
        for agent in adapter.possible_agents:
            space: Any = adapter.action_space(agent)
            first = int(getattr(space, "start", 0)) if hasattr(space, "n") else 0
            noop = environment.noop_action(agent)
            words = {first + i: word for i, word in enumerate(environment.action_meanings(agent)) if word}
            slots[agent] = SlotCard(
                agent,
                space_to_spec(adapter.observation_space(agent)),
                space_to_spec(space),
                words,
                int(noop) if noop is not None and hasattr(space, "n") else None,
                tuple(environment.keys(agent, player) for player in range(PLAYERS)),
                tuple(read[agent].offers),
            )
        return PlayCard(
            spec.id,
            spec.family,
            adapter.paradigm.name.lower(),
            page.title,
            page.summary,
            page.text,
            page.doc_url,
            page.max_steps,
            {team: tuple(agents) for team, agents in environment.teams.items()},
            slots,
            tuple(page.render_modes),
        )
    finally:
        environment.close()


def to_json(card: PlayCard) -> dict[str, Any]:
    """Plain data of a card."""
    return asdict(card)


def from_json(data: Mapping[str, Any]) -> PlayCard:
    """A card from its plain data.

    Raises:
        ValueError: It is none.
    """
    try:
        fields: dict[str, Any] = dict(data)
        fields["slots"] = {name: _slot(row) for name, row in data["slots"].items()}
        fields["teams"] = {team: tuple(agents) for team, agents in data["teams"].items()}
        fields["looks"] = tuple(data["looks"])
        return PlayCard(**fields)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no description of an environment: {error}") from error


def _slot(row: Mapping[str, Any]) -> SlotCard:
    fields: dict[str, Any] = dict(row)
    fields["schemes"] = tuple(map(_scheme, row["schemes"]))
    fields["offers"] = tuple(row["offers"])
    fields["words"] = {int(number): str(word) for number, word in row["words"].items()}
    return SlotCard(**fields)


def _scheme(row: Mapping[str, Any]) -> KeyScheme:
    fields: dict[str, Any] = {**row, "axes": tuple(Axis(**axis) for axis in row["axes"])}
    return KeyScheme(**fields)


class PlayCards:
    """Asks for cards, each in a child process the first time.

    Args:
        folder: Where answers are kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, PlayCard] = {}

    async def card(
        self,
        task: str,
        env_name: str | None = None,
        api: str | None = None,
        env_kwargs: Mapping[str, Any] | None = None,
        origin: Origin = TYPED,
    ) -> PlayCard:
        """The card of an environment.

        Raises:
            NotAllowedError: A file names code that the person has not allowed.
            UsageError: It is unknown, not installed, or cannot be made; as a sentence.
            MosaicError: The child ended without an answer.
        """
        asked = json.dumps([task, env_name, api, dict(env_kwargs or {}), asdict(origin)], sort_keys=True)
        if asked not in self._known:
            request = EnvironmentRequest(task, env_name or "", api, env_kwargs or {}, origin=origin)
            allowed = await asyncio.to_thread(request.vouch)
            known = await asyncio.to_thread(_fingerprint, request, asked, allowed)
            path = self._folder / f"{known}.json"
            card = await asyncio.to_thread(_read, path)
            if card is None:
                data = await _ask_child(asked, allowed)
                card = from_json(data)
                await asyncio.to_thread(_write, path, data)
            self._known[asked] = card
        return self._known[asked]


def _fingerprint(request: EnvironmentRequest, asked: str, allowed: Sequence[Subject]) -> str:
    """Changes with the environment's package and with what describes it here."""
    from gym_gui import envs
    from gym_gui.envs.distributions import distributions_of
    from gym_gui.envs.index import package_dir

    spec = envs.resolve(request.task, env_name=request.env_name or None, origin=request.origin)
    versions = sorted(f"{n}={importlib.metadata.version(n)}" for n in distributions_of(spec.package))
    place = package_dir(spec.package) if spec.package else None
    changed = place.stat().st_mtime_ns if place is not None and place.exists() else 0
    ours = max(path.stat().st_mtime_ns for path in Path(envs.__file__).parent.rglob("*.py"))
    code = [subject.sha256 for subject in allowed]
    facts = [_FORMAT, __version__, ours, asked, spec.id, versions, changed, code, sys.prefix]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:20]


def _read(path: Path) -> PlayCard | None:
    try:
        return from_json(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError):
        return None


def _write(path: Path, data: Mapping[str, Any]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, json.dumps(data).encode(), sync=False)
    except OSError as error:
        _log.info("the description of an environment is not kept: %s", error)


async def _ask_child(asked: str, allowed: Sequence[Subject]) -> dict[str, Any]:
    environment = handed_on(tagged(inherited(), "play-card"), allowed)
    child = await spawn(
        *(sys.executable, "-P", "-m", "gym_gui.controllers.play_card"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
    )
    try:
        said, complaint = await asyncio.wait_for(child.communicate(asked.encode()), _PATIENCE_S)
    except TimeoutError as error:
        raise MosaicError(f"the environment did not describe itself within {_PATIENCE_S:.0f} s") from error
    finally:
        if child.returncode is None:
            child.kill()
        await child.parted()
    try:
        answer: Any = json.loads(said)
    except ValueError as error:
        last = complaint.decode(errors="replace").strip().splitlines()
        why = last[-1] if last else f"exit status {child.returncode}"
        raise MosaicError(f"the environment could not be described: {why}") from error
    if "error" in answer:
        raise UsageError(str(answer["error"]), fix=str(answer["fix"]))
    return cast("dict[str, Any]", answer)


def main() -> None:
    """Answer on the real standard output; what packages print goes to standard error."""
    enforce()
    answer = os.dup(1)
    os.dup2(2, 1)
    task, env_name, api, env_kwargs, origin = json.loads(sys.stdin.read())
    try:
        data = to_json(describe(task, env_name, api, env_kwargs, Origin(**origin)))
    except UsageError as error:
        data = {"error": error.message, "fix": error.fix}
    with os.fdopen(answer, "w", encoding="utf-8") as out:
        json.dump(data, out)
    sys.stdout.flush()
    os._exit(0)  # some packages hold up the end of a process that has nothing more to say


if __name__ == "__main__":
    main()
