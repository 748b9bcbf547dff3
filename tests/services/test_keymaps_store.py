"""A person's own keys: kept for the family and its actions, safe from damage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gym_gui.core.errors import UsageError
from gym_gui.envs.keymaps import Axis, KeyScheme
from gym_gui.services.keymaps_store import KeymapName, KeymapsStore
from gym_gui.services.store import Store

KEYS = KeyScheme({"Left": 0, "Right": 1})
NAME = KeymapName.of("gymnasium", ["left", "right"])


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(data=tmp_path / "data")


def test_saved_keys_come_back(store: Store) -> None:
    mine = KeyScheme({"J": 0, "L": 1})
    KeymapsStore(store).save(NAME, mine)
    again = KeymapsStore(store)
    assert again.changed(NAME)
    assert again.apply(NAME, KEYS).bindings == {"J": 0, "L": 1}


def test_they_are_for_these_actions_and_this_player_alone(store: Store) -> None:
    maps = KeymapsStore(store)
    maps.save(NAME, KeyScheme({"J": 0, "L": 1}))
    for other in (
        KeymapName.of("gymnasium", ["left", "down"]),
        KeymapName.of("minigrid", ["left", "right"]),
        KeymapName.of("gymnasium", ["left", "right"], 1),
    ):
        assert maps.apply(other, KEYS) == KEYS


def test_what_the_scheme_says_else_stays(store: Store) -> None:
    maps = KeymapsStore(store)
    maps.save(NAME, KeyScheme({"J": 0, "L": 1}))
    after = maps.apply(NAME, KeyScheme({"Left": 0, "Right": 1}, realtime=True, rate=15.0))
    assert after.realtime and after.rate == 15.0


def test_actions_that_are_gone_have_no_key(store: Store) -> None:
    maps = KeymapsStore(store)
    maps.save(NAME, KeyScheme({"J": 0, "L": 1, "K": 7}))
    assert maps.apply(NAME, KEYS).bindings == {"J": 0, "L": 1}


def test_continuous_actions(store: Store) -> None:
    scheme = KeyScheme(axes=(Axis("Left", 0, -1.0, "left"), Axis("Right", 0, 1.0, "right")))
    name = KeymapName.of("gymnasium", ["left", "right"])
    KeymapsStore(store).save(name, KeyScheme(axes=(Axis("J", 0, -1.0), Axis("", 0, 1.0))))
    after = KeymapsStore(store).apply(name, scheme)
    assert [(axis.key, axis.word) for axis in after.axes] == [("J", "left"), ("", "right")]


def test_reset(store: Store) -> None:
    maps = KeymapsStore(store)
    maps.save(NAME, KeyScheme({"J": 0}))
    maps.reset(NAME)
    assert not KeymapsStore(store).changed(NAME)
    assert maps.apply(NAME, KEYS) == KEYS


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"format": 1, "maps": [{"family": 3}]}'],
)
def test_a_damaged_file_is_put_aside(store: Store, text: str, caplog: pytest.LogCaptureFixture) -> None:
    maps = KeymapsStore(store)
    maps.path.parent.mkdir(parents=True)
    maps.path.write_text(text, "utf-8")
    assert maps.apply(NAME, KEYS) == KEYS
    assert "cannot be read" in caplog.text
    maps.save(NAME, KeyScheme({"J": 0}))
    assert maps.path.with_suffix(".unreadable.json").read_text("utf-8") == text
    assert json.loads(maps.path.read_text("utf-8"))["maps"][0]["bindings"] == {"J": 0}


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file", "utf-8")
    maps = KeymapsStore(Store(data=tmp_path / "data"))
    with pytest.raises(UsageError, match="MOSAIC_DATA_DIR"):
        maps.save(NAME, KeyScheme({"J": 0}))
    assert maps.apply(NAME, KEYS).bindings == {"J": 0}  # they hold until the window closes
