"""A screen of the tests' own, with a window manager; keys, a mouse and a camera for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from tests.support.waiting import eventually

NEEDED = ("Xvfb", "openbox", "xdotool", "xprop", "import")
"""``import`` is ImageMagick's; all of them are Debian packages of (nearly) these names."""
SIZE = (1280, 800)
_ALONE_S = 20.0

_OPENBOX = """<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
  <focus><focusNew>yes</focusNew><followMouse>no</followMouse></focus>
  <applications>
    <application type="normal"><decor>no</decor><maximized>yes</maximized></application>
  </applications>
</openbox_config>
"""
"""The window fills the screen; the window manager keeps no key for itself."""


def missing() -> list[str]:
    """Programs that are not installed here."""
    return [name for name in NEEDED if shutil.which(name) is None]


WITH_PARENT = ("setpriv", "--pdeathsig", "TERM")
"""Before a command that must not outlive the tests, however they end (Linux).

Not ``preexec_fn``: that forks with Python's and gRPC's own handlers, and where gRPC is at work in
another thread of the tests, the child now and then aborts before it becomes the command.
"""

_FRAMED = """<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
  <focus><focusNew>yes</focusNew><followMouse>no</followMouse></focus>
  <keyboard><keybind key="A-F4"><action name="Close"/></keybind></keyboard>
</openbox_config>
"""
"""As on a person's desktop: windows have a title bar and the size they ask for, and Alt+F4 closes one."""


class Desktop:
    """Xvfb on a display number that was free, and openbox in it.

    Args:
        size: Of the screen.
        framed: Windows have frames; else the one window fills the screen.
        also: More variables of the programs that show themselves here.
    """

    def __init__(
        self,
        size: tuple[int, int] = SIZE,
        *,
        framed: bool = False,
        also: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.size = size
        self._also = dict(also)
        self._home = tempfile.TemporaryDirectory(prefix="desktop")
        self._processes: list[subprocess.Popen[bytes]] = []
        self.display = self._start_screen()
        config = Path(self._home.name) / "openbox.xml"
        config.write_text(_FRAMED if framed else _OPENBOX)
        self._start(["openbox", "--config-file", str(config), "--sm-disable"])
        eventually(self._managed, "openbox manages the windows", _ALONE_S)

    @property
    def variables(self) -> dict[str, str]:
        """What makes a program show itself here, and nowhere else."""
        elsewhere = ("WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS")
        own = {name: value for name, value in os.environ.items() if name not in elsewhere}
        return {**own, "DISPLAY": self.display, **self._also}

    def close(self) -> None:
        """Switch it off."""
        for process in reversed(self._processes):
            process.terminate()
            process.wait(_ALONE_S)
        self._home.cleanup()

    # -- keys and mouse ---------------------------------------------------------------

    def press(self, *keys: str) -> None:
        """Press and release keys, one after the other: ``Return``, ``ctrl+q``, ``a``."""
        self._xdotool("key", "--delay", "12", *keys)

    def hold(self, key: str) -> None:
        """Put a key down."""
        self._xdotool("keydown", key)

    def release(self, key: str) -> None:
        """Let a key up."""
        self._xdotool("keyup", key)

    def type(self, text: str) -> None:
        """Type a text."""
        self._xdotool("type", "--delay", "12", text)

    def click(self, x: int, y: int, times: int = 1) -> None:
        """Go there and click."""
        self._xdotool("mousemove", str(x), str(y), "click", "--repeat", str(times), "--delay", "60", "1")

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Take something at one place and put it down at another."""
        middle = ((start[0] + end[0]) // 2, (start[1] + end[1]) // 2)
        self._xdotool("mousemove", *map(str, start), "mousedown", "1")
        self._xdotool("mousemove", *map(str, middle), "mousemove", *map(str, end))
        self._xdotool("mouseup", "1")

    def rest_pointer(self) -> None:
        """Move the pointer to where it is over nothing."""
        self._xdotool("mousemove", str(self.size[0] - 1), str(self.size[1] - 1))

    # -- the camera -------------------------------------------------------------------

    def brightness(self, x: int, y: int, width: int, height: int) -> float:
        """How bright a part of the screen is, 0 (black) to 1."""
        area = f"{width}x{height}+{x}+{y}"
        said = self._camera("-crop", area, "-colorspace", "Gray", "-format", "%[fx:mean]", "info:")
        return float(said)

    def look_of(self, x: int, y: int, width: int, height: int) -> str:
        """A fingerprint of a part of the screen: another picture, another fingerprint."""
        return self._camera("-crop", f"{width}x{height}+{x}+{y}", "-format", "%#", "info:")

    def photograph(self, path: Path) -> None:
        """A picture of the whole screen."""
        self._camera(str(path))

    # -- within -----------------------------------------------------------------------

    def _start_screen(self) -> str:
        reader, writer = os.pipe()
        try:
            size = f"{self.size[0]}x{self.size[1]}x24"
            command = [
                "Xvfb",
                "-displayfd",
                str(writer),
                "-screen",
                "0",
                size,
                "-nolisten",
                "tcp",
                "-noreset",
            ]
            self._start(command, pass_fds=(writer,), display=False)
            os.close(writer)
            with os.fdopen(reader) as told:
                number = told.readline().strip()
        except BaseException:
            self.close()
            raise
        assert number, "Xvfb did not start"
        return f":{number}"

    def _start(self, command: Sequence[str], *, pass_fds: tuple[int, ...] = (), display: bool = True) -> None:
        environment = self.variables if display else dict(os.environ)
        self._processes.append(
            subprocess.Popen(
                [*WITH_PARENT, *command],
                env=environment,
                pass_fds=pass_fds,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )

    def _managed(self) -> bool:
        said = subprocess.run(
            ["xprop", "-root", "_NET_SUPPORTING_WM_CHECK"],
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
        )
        return "window id" in said.stdout

    def _xdotool(self, *words: str) -> None:
        subprocess.run(["xdotool", *words], env=self.variables, check=True, timeout=_ALONE_S)

    def _camera(self, *words: str) -> str:
        command = ["import", "-silent", "-window", "root", *words]
        done = subprocess.run(
            command, env=self.variables, check=True, timeout=_ALONE_S, capture_output=True, text=True
        )
        return done.stdout.strip()
