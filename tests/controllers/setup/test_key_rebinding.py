"""Changing keys: nothing is lost in silence."""

from __future__ import annotations

from gym_gui.controllers.setup.key_rebinding import bind_action, bind_axis, keys_of, shared_keys
from gym_gui.envs.keymaps import Axis, KeyScheme

KEYS = KeyScheme({"Left": 0, "Right": 1, "Space": 2, "Return": 2})


def test_a_free_key() -> None:
    after = bind_action(KEYS, 0, "J")
    assert after.scheme.bindings == {"J": 0, "Right": 1, "Space": 2, "Return": 2}
    assert next(iter(after.scheme.bindings.values())) == 0  # actions keep their order
    assert after.lost == ()


def test_a_taken_key_says_who_lost_it() -> None:
    after = bind_action(KEYS, 0, "Right")
    assert after.scheme.bindings == {"Right": 0, "Space": 2, "Return": 2}
    assert after.lost == (1,)


def test_an_action_with_two_keys_may_lose_one() -> None:
    after = bind_action(KEYS, 1, "Space")
    assert after.scheme.bindings == {"Space": 1, "Return": 2, "Left": 0}
    assert after.lost == ()


def test_its_own_key_again() -> None:
    after = bind_action(KEYS, 0, "Left")
    assert after.scheme.bindings["Left"] == 0 and after.lost == ()


def test_axes_swap_hands() -> None:
    scheme = KeyScheme(axes=(Axis("Left", 0, -1.0, "left"), Axis("Right", 0, 1.0, "right")))
    after = bind_axis(scheme, 0, -1.0, "Right")
    assert [(a.key, a.word) for a in after.scheme.axes] == [("Right", "left"), ("", "right")]
    assert after.lost == ((0, 1.0),)
    assert keys_of(after.scheme) == ("Right",)


def test_shared_keys_at_one_keyboard_only() -> None:
    other = KeyScheme({"Left": 3, "Up+Right": 4})
    assert shared_keys({"a": (KEYS, ""), "b": (other, "")}) == {"Left": ("a", "b"), "Right": ("a", "b")}
    assert shared_keys({"a": (KEYS, ""), "b": (other, "/dev/input/event1")}) == {}
