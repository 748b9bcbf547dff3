"""Keyboards read from the kernel: real evdev events over pipes in place of devices."""

from __future__ import annotations

import errno
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

pytest.importorskip("evdev")

from evdev import InputEvent, ecodes

from gym_gui.ui.input.evdev_input import (
    LET_IN,
    EvdevInput,
    Keyboard,
    find_keyboards,
    key_name_of,
)
from tests.support.keyboards import FakeKeyboard as Fake


@pytest.fixture
def devices() -> Iterator[dict[str, Fake]]:
    made = {path: Fake(path, f"Keyboard {n}") for n, path in enumerate(("/dev/input/a", "/dev/input/b"))}
    yield made
    for device in made.values():
        device.close()


@pytest.fixture
def reader(qtbot: QtBot, devices: dict[str, Fake]) -> Iterator[EvdevInput]:
    result = EvdevInput(devices.__getitem__)
    yield result
    result.close_all()
    result.deleteLater()


def test_keys_say_which_keyboard(reader: EvdevInput, devices: dict[str, Fake], qtbot: QtBot) -> None:
    seen: list[tuple[str, str, str]] = []
    reader.pressed.connect(lambda key, device: seen.append(("down", key, device)))
    reader.released.connect(lambda key, device: seen.append(("up", key, device)))
    for path in devices:
        assert reader.open(path) == ""
    devices["/dev/input/a"].type((ecodes.KEY_UP, 1), (ecodes.KEY_UP, 2), (ecodes.KEY_UP, 0))
    devices["/dev/input/b"].type((ecodes.KEY_W, 1))
    qtbot.waitUntil(lambda: len(seen) == 3)
    assert sorted(seen) == [
        ("down", "Up", "/dev/input/a"),
        ("down", "W", "/dev/input/b"),
        ("up", "Up", "/dev/input/a"),
    ]


def test_while_the_window_is_behind_keys_only_go_up(
    reader: EvdevInput, devices: dict[str, Fake], qtbot: QtBot
) -> None:
    pressed: list[str] = []
    reader.pressed.connect(lambda key, _: pressed.append(key))
    reader.open("/dev/input/a")
    reader.active = False
    with qtbot.waitSignal(reader.released):
        devices["/dev/input/a"].type((ecodes.KEY_A, 1), (ecodes.KEY_A, 0))
    assert pressed == []


def test_unplugged(reader: EvdevInput, devices: dict[str, Fake], qtbot: QtBot) -> None:
    reader.open("/dev/input/a")
    with qtbot.waitSignal(reader.lost) as told:
        devices["/dev/input/a"].unplug()
    assert told.args is not None
    assert told.args[0] == "/dev/input/a" and "connect it and choose it again" in told.args[1]
    assert reader.devices == () and devices["/dev/input/a"].closed


def test_grabbing_is_optional_and_ends(reader: EvdevInput, devices: dict[str, Fake]) -> None:
    one, other = devices.values()
    assert reader.open(one.path) == "" and not one.grabbed
    assert reader.set_grabbed(one.path, True) == "" and one.grabbed
    reader.close(one.path)
    assert not one.grabbed and one.closed
    other.busy = True
    assert "another program" in reader.open(other.path, grab=True)


def test_a_device_that_may_not_be_read(qtbot: QtBot) -> None:
    def refuse(path: str) -> Fake:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    reader = EvdevInput(refuse)
    assert LET_IN in reader.open("/dev/input/event0")
    assert reader.devices == ()
    reader.deleteLater()


def test_finding_keyboards(devices: dict[str, Fake]) -> None:
    mouse = Fake("/dev/input/c", "Mouse", (ecodes.BTN_LEFT,))
    everything = {**devices, mouse.path: mouse}
    found = find_keyboards(lambda: everything, everything.__getitem__)
    assert found.problem == ""
    assert found.found == (Keyboard("/dev/input/a", "Keyboard 0"), Keyboard("/dev/input/b", "Keyboard 1"))
    assert mouse.closed


def test_no_permission_is_said_with_the_way_out() -> None:
    def refuse(path: str) -> Fake:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    found = find_keyboards(lambda: ["/dev/input/event0"], refuse)
    assert found.found == () and LET_IN in found.problem


def test_no_keyboard_at_all() -> None:
    assert "connect one and search again" in find_keyboards(list).problem


def test_this_machine_can_be_asked() -> None:
    found = find_keyboards()
    assert found.found or found.problem


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("KEY_A", "A"),
        ("KEY_1", "1"),
        ("KEY_KP7", "7"),
        ("KEY_UP", "Up"),
        ("KEY_SPACE", "Space"),
        ("KEY_LEFTSHIFT", "Shift"),
        ("KEY_ENTER", "Return"),
        ("KEY_F5", "F5"),
        ("KEY_VOLUMEUP", ""),
        ("KEY_MUTE", ""),
    ],
)
def test_names_of_keys(code: str, name: str) -> None:
    assert key_name_of(getattr(ecodes, code)) == name


def test_an_event_of_the_kernels_own_form() -> None:
    """The events used above are what evdev makes of the kernel's bytes."""
    event = InputEvent(1, 2, ecodes.EV_KEY, ecodes.KEY_A, 1)
    assert (event.type, event.code, event.value) == (ecodes.EV_KEY, ecodes.KEY_A, 1)
