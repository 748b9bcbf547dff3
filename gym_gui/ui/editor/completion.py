"""Completions of declared keys and their values in experiment files and worker manifests."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from gym_gui.core.declared_keys import Key, key_called, keys_at, name_of, words_of
from gym_gui.core.experiment import experiment_data, tournament
from gym_gui.ui.editor.cursor_context import CursorContext, spot_in
from gym_gui.ui.editor.file_request import Offer, Offers
from gym_gui.workers.manifest_keys import SECTIONS, WORKER_TOML

_LINK: Final = re.compile(r"\[([^]]*)\]\([^)]*\)")


def offers_in_experiment(suffix: str, text: str, at: int) -> Offers | None:
    """Return completions at an offset of an experiment or tournament file; ``None`` if there are none."""
    return _offers(suffix, text, at, _keys_of_experiment)


def offers_in_manifest(suffix: str, text: str, at: int) -> Offers | None:
    """Return completions at an offset of a ``worker.toml``; ``None`` if there are none."""
    return _offers(suffix, text, at, _keys_of_manifest)


def _keys_of_experiment(spot: CursorContext) -> Mapping[str, Key[Any]]:
    path = spot.path[1:] if spot.path[:1] == ("experiment",) else spot.path  # run.json
    if path and path[0] in experiment_data.FILE:
        return keys_at(experiment_data.FILE, path)
    if experiment_data.is_experiment_file(spot.written):
        return keys_at(experiment_data.FILE, path)
    if tournament.is_tournament_file(spot.written):
        return keys_at(tournament.FILE, path)
    return keys_at({**experiment_data.FILE, **tournament.FILE}, path)


def _keys_of_manifest(spot: CursorContext) -> Mapping[str, Key[Any]]:
    if spot.table:
        tables = {name: Key(None, "") for name in SECTIONS} | {n: k for n, k in WORKER_TOML.items() if k.each}
        return {} if spot.path else tables
    if spot.path and spot.path[0] in SECTIONS:
        return keys_at(SECTIONS[str(spot.path[0])], spot.path[1:])
    return {name: about for name, about in keys_at(WORKER_TOML, spot.path).items() if about.each is None}


def _offers(
    suffix: str, text: str, at: int, keys: Callable[[CursorContext], Mapping[str, Key[Any]]]
) -> Offers | None:
    spot = spot_in(suffix, text, at)
    if spot is None:
        return None
    listed = keys(spot)
    offered = _values(suffix, spot, listed) if spot.key else _keys(suffix, spot, listed)
    typed = spot.typed.casefold()
    begin = [each for each in offered if each.name.casefold().startswith(typed)]
    hold = [each for each in offered if typed[1:] and typed in each.name.casefold() and each not in begin]
    found = tuple(each for each in (*begin, *hold) if each.written != text[spot.start : spot.end])
    return Offers(spot.start, spot.end, spot.start < at, found) if found else None


def _keys(suffix: str, spot: CursorContext, listed: Mapping[str, Key[Any]]) -> list[Offer]:
    found: list[Offer] = []
    quote = spot.quote or ('"' if suffix in (".py", ".json") and spot.flow else "")
    assigns = suffix == ".toml" or (suffix == ".py" and not spot.flow)
    for attribute, about in listed.items():
        name = name_of(attribute, about)
        if spot.written & {name, *about.spellings} and not (spot.table and about.each):
            continue
        after = "." if spot.table and about.each else "]" if spot.table else " = " if assigns else ": "
        after = "" if spot.separated else after
        unit = f" ({about.unit})" if about.unit else ""
        usual = about.usual or ("required" if about.required else "")
        found.append(Offer(name, f"{quote}{name}{quote}{after}", plain(about.meaning) + unit, plain(usual)))
    return found


def _values(suffix: str, spot: CursorContext, listed: Mapping[str, Key[Any]]) -> list[Offer]:
    about = key_called(listed, spot.key)
    found: list[Offer] = []
    for word in words_of(about) if about is not None else ():
        if isinstance(word, bool):
            name = str(word) if suffix == ".py" else str(word).lower()
            written = "" if spot.quote else name
        else:
            name = str(word)
            quote = spot.quote or ("" if suffix in (".yaml", ".yml") else '"')
            written = f"{quote}{name}{quote}"
        found += [Offer(name, written)] if written else []
    return found


def plain(markdown: str) -> str:
    """Return a Markdown sentence without links and backticks."""
    return _LINK.sub(r"\1", markdown).replace("`", "")
