"""Changes key bindings of a slot, and finds keys that several slots use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gym_gui.controllers.human.human_input import split_chord
from gym_gui.envs.keymaps import KeyScheme


@dataclass(frozen=True, slots=True)
class ReboundKeys:
    """Key scheme of a slot after a change of one key.

    Attributes:
        scheme: The new scheme.
        lost: Actions (or pushes ``(component, value)``) that lost the key and have no key now.
    """

    scheme: KeyScheme
    lost: tuple[int | tuple[int, float], ...] = ()


def bind_action(scheme: KeyScheme, action: int, key: str) -> ReboundKeys:
    """Bind a key to an action as the action's only key, and remove the key from its former action.

    Args:
        scheme: The current scheme.
        action: The action's number.
        key: The key's name.
    """
    before = scheme.bindings.get(key)
    bindings = {k: a for k, a in scheme.bindings.items() if a != action and k != key}
    bindings[key] = action
    lost = before is not None and before != action and before not in bindings.values()
    scheme = replace(scheme, bindings=_ordered(bindings, scheme))
    return ReboundKeys(scheme, (before,) if lost and before is not None else ())


def bind_axis(scheme: KeyScheme, component: int, value: float, key: str) -> ReboundKeys:
    """Bind a key to one push of a continuous action, and remove the key from its former push."""
    lost = tuple(
        (axis.component, axis.value)
        for axis in scheme.axes
        if axis.key == key and (axis.component, axis.value) != (component, value)
    )
    axes = tuple(
        replace(axis, key=key)
        if (axis.component, axis.value) == (component, value)
        else replace(axis, key="")
        if axis.key == key
        else axis
        for axis in scheme.axes
    )
    return ReboundKeys(replace(scheme, axes=axes), lost)


def shared_keys(players: Mapping[str, tuple[KeyScheme, str]]) -> dict[str, tuple[str, ...]]:
    """Return keys that several slots use on the same keyboard.

    Args:
        players: Scheme and keyboard of each slot that a person plays.

    Returns:
        Slots by key, only for keys with several slots.
    """
    wanted: dict[tuple[str, str], list[str]] = {}
    for slot, (scheme, device) in players.items():
        for key in keys_of(scheme):
            wanted.setdefault((device, key), []).append(slot)
    return {key: tuple(slots) for (_, key), slots in wanted.items() if len(slots) > 1}


def keys_of(scheme: KeyScheme) -> tuple[str, ...]:
    """Return all keys that a scheme uses; chords are split into their keys."""
    names = [part for chord in scheme.bindings for part in split_chord(chord)]
    names += [axis.key for axis in scheme.axes if axis.key]
    return tuple(dict.fromkeys(names))


def _ordered(bindings: Mapping[str, int], like: KeyScheme) -> dict[str, int]:
    """Return the bindings sorted by action, in the order of the actions in ``like``."""
    order = {action: place for place, action in enumerate(dict.fromkeys(like.bindings.values()))}
    return dict(sorted(bindings.items(), key=lambda item: order.get(item[1], len(order))))
