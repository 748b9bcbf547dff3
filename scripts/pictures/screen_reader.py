"""What a screen reader is told of the window, over AT-SPI (D-Bus), and what is wrong with it.

``Bus`` is a session bus with the accessibility bus on it (Debian: ``dbus``, ``at-spi2-core``); a program
that is started with ``bus.variables`` tells its tree there, as it tells Orca on a person's desktop.
"""

# jeepney tells no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from jeepney import DBusAddress, HeaderFields, MessageType, new_method_call
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, open_dbus_connection

NEEDED: Final = ("dbus-daemon",)
_SERVICE: Final = Path("/usr/share/dbus-1/services/org.a11y.Bus.service")
_ACCESSIBLE: Final = "org.a11y.atspi.Accessible"
_ROOT: Final = "/org/a11y/atspi/accessible/root"
_PATIENCE_S: Final = 60.0
_MOST_ITEMS: Final = 60
"""Rows and cells of a table that are read; libraries have thousands."""
_MOST_NODES: Final = 6000

STATES: Final = {
    1: "active",
    4: "checked",
    7: "editable",
    8: "enabled",
    10: "expanded",
    11: "focusable",
    12: "focused",
    20: "pressed",
    23: "selected",
    24: "sensitive",
    25: "showing",
    30: "visible",
    41: "checkable",
}
"""Bits of ``GetState`` that are looked at."""
ITEMS: Final = frozenset({"table", "tree table", "list", "tree", "list box"})
"""Roles whose children are items of a view."""
SPEECHLESS: Final = frozenset({"", "unknown", "invalid", "filler"})
"""Roles that a screen reader says nothing of."""
SCROLLED: Final = ": arrow keys scroll"
"""What scrolls has no role in Qt, and says what it is in its name."""
OF_THE_TOOLKIT: Final = frozenset({"scroll bar", "separator", "split pane", "splitter"})
"""Made by Qt, announced by their role and value."""


def missing() -> list[str]:
    """What is not installed here."""
    absent = [name for name in NEEDED if shutil.which(name) is None]
    return absent if _SERVICE.exists() else [*absent, "at-spi2-core"]


@dataclass
class Node:
    """An element as a screen reader has it.

    Attributes:
        name: What is said of it first.
        description: What is said on demand.
        role: What it is.
        states: Names of :data:`STATES`.
        actions: What can be done with it.
        rect: On the screen: left, top, width, height.
        children: What it holds.
    """

    bus: str
    path: str
    name: str = ""
    description: str = ""
    role: str = ""
    states: frozenset[str] = frozenset()
    interfaces: frozenset[str] = frozenset()
    actions: tuple[str, ...] = ()
    rect: tuple[int, int, int, int] = (0, 0, 0, 0)
    children: list[Node] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        """Itself and everything in it, in reading order."""
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def reached(self) -> bool:
        """Whether the keyboard reaches it."""
        return "focusable" in self.states

    @property
    def acts(self) -> bool:
        """Whether one can do something with it besides going there."""
        return any(action.lower() not in ("setfocus", "set focus", "") for action in self.actions)

    def __str__(self) -> str:
        said = f"{self.role} {self.name!r}"
        return said + (f" ({self.description[:80]})" if self.description else "")


class Bus:
    """A session bus of its own, on which programs tell what they show."""

    def __init__(self) -> None:
        self._daemon = subprocess.Popen(
            ["dbus-daemon", "--session", "--nofork", "--print-address"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._daemon.stdout is not None
        self.address = self._daemon.stdout.readline().strip()
        self._connection: DBusConnection | None = None

    @property
    def variables(self) -> dict[str, str]:
        """Of a program that is to be heard."""
        return {"DBUS_SESSION_BUS_ADDRESS": self.address, "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"}

    def close(self) -> None:
        """End it, and what was started on it."""
        if self._connection is not None:
            self._connection.close()
        self._daemon.terminate()
        self._daemon.wait()
        if self._daemon.stdout is not None:
            self._daemon.stdout.close()

    # -- reading ----------------------------------------------------------------------

    def application(self, pid: int) -> Node:
        """What a program shows: its windows, with everything in them.

        Raises:
            TimeoutError: It does not tell anything.
        """
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline:
            for bus, path in self._children("org.a11y.atspi.Registry", _ROOT):
                if self._pid(bus) == pid:
                    return self.read(bus, path)
            time.sleep(0.1)
        raise TimeoutError(f"process {pid} is not on the accessibility bus")

    def read(self, bus: str, path: str) -> Node:
        """An element with everything that is shown in it; asked level by level."""
        root = Node(bus, path)
        level, count = [root], 0
        while level and count < _MOST_NODES:
            count += len(level)
            self._tell(level)
            shown = [node for node in level if node is root or "showing" in node.states]
            answers = self._all([(node.bus, node.path, _ACCESSIBLE, "GetChildren", "", ()) for node in shown])
            level = []
            for node, answer in zip(shown, answers, strict=True):
                found = answer[0] if answer else []
                if node.role in ITEMS:
                    found = found[:_MOST_ITEMS]
                node.children = [Node(*each) for each in found if each[1] != "/org/a11y/atspi/null"]
                level += node.children
        _leave_out_what_is_not_shown(root)
        return root

    def _tell(self, nodes: Sequence[Node]) -> None:
        properties = "org.freedesktop.DBus.Properties"
        asked = [
            call
            for n in nodes
            for call in (
                (n.bus, n.path, properties, "Get", "ss", (_ACCESSIBLE, "Name")),
                (n.bus, n.path, properties, "Get", "ss", (_ACCESSIBLE, "Description")),
                (n.bus, n.path, _ACCESSIBLE, "GetRoleName", "", ()),
                (n.bus, n.path, _ACCESSIBLE, "GetState", "", ()),
                (n.bus, n.path, "org.a11y.atspi.Action", "GetActions", "", ()),
                (n.bus, n.path, "org.a11y.atspi.Component", "GetExtents", "u", (0,)),
            )
        ]
        answers = self._all(asked)
        for i, node in enumerate(nodes):
            name, description, role, state, actions, rect = answers[6 * i : 6 * i + 6]
            node.name = str(name[0][1]) if name else ""
            node.description = str(description[0][1]) if description else ""
            node.role = str(role[0]) if role else ""
            bits = state[0] if state else (0, 0)
            node.states = frozenset(word for bit, word in STATES.items() if bits[bit // 32] >> bit % 32 & 1)
            node.actions = tuple(str(each[0]) for each in actions[0]) if actions else ()
            node.rect = tuple(rect[0]) if rect else (0, 0, 0, 0)

    def _children(self, bus: str, path: str) -> list[tuple[str, str]]:
        (answer,) = self._all([(bus, path, _ACCESSIBLE, "GetChildren", "", ())])
        return [tuple(each) for each in answer[0]] if answer else []

    def _pid(self, name: str) -> int:
        connection = self._connect()
        reply = connection.send_and_get_reply(message_bus.GetConnectionUnixProcessID(name))
        return int(reply.body[0]) if reply.header.message_type is MessageType.method_return else 0

    def _connect(self) -> DBusConnection:
        if self._connection is None:
            with contextlib.closing(open_dbus_connection(self.address)) as session:
                where = DBusAddress("/org/a11y/bus", bus_name="org.a11y.Bus", interface="org.a11y.Bus")
                reply = session.send_and_get_reply(new_method_call(where, "GetAddress"))
            self._connection = open_dbus_connection(reply.body[0])
        return self._connection

    def _all(self, calls: Sequence[tuple[str, str, str, str, str, tuple[Any, ...]]]) -> list[Any]:
        """Answers to many questions that are all sent first; ``None`` where there is none."""
        connection = self._connect()
        answers: list[Any] = [None] * len(calls)
        for start in range(0, len(calls), 300):
            waiting: dict[int, int] = {}
            for place, call in enumerate(calls[start : start + 300], start):
                bus, path, interface, method, signature, body = call
                message = new_method_call(DBusAddress(path, bus, interface), method, signature, body)
                serial = next(connection.outgoing_serial)
                waiting[serial] = place
                connection.send(message, serial=serial)
            while waiting:
                reply = connection.receive(timeout=_PATIENCE_S)
                serial = reply.header.fields.get(HeaderFields.reply_serial)
                place = waiting.pop(serial, None) if serial is not None else None
                if place is not None and reply.header.message_type is MessageType.method_return:
                    answers[place] = reply.body
        return answers


def _leave_out_what_is_not_shown(node: Node) -> None:
    # Cells are told as they are; what of them is scrolled away is said too.
    node.children = [c for c in node.children if "showing" in c.states or node.role in ITEMS]
    for child in node.children:
        _leave_out_what_is_not_shown(child)


# ---------------------------------------------------------------------- what is wrong


def wrong(root: Node) -> list[str]:
    """What a person who listens would not understand, a sentence for each."""
    found: list[str] = []
    _look(root, (), found)
    return found


def _look(node: Node, above: tuple[str, ...], found: list[str]) -> None:
    place = " > ".join((*above[-3:], str(node)))
    used = (node.reached or node.acts) and node.role not in OF_THE_TOOLKIT
    if used and not _words(node.name):
        found.append(f"no name: {place}")
    if node.reached and node.role in SPEECHLESS and not node.name.endswith(SCROLLED):
        found.append(f"no role: {place}")
    if re.search(r"</?(b|i|p|br|qt|html|div|span|font)\b|object at 0x", node.name):
        found.append(f"no words: {place}")
    if node.role in ("table", "tree table", "tree", "list") and not _words(node.name):
        found.append(f"a table without a name: {place}")
    said = [(c.role, c.name) for c in node.children if c.reached or (c.acts and c.role != "table cell")]
    if node.role not in ITEMS:
        twice = [one for one, two in pairwise(said) if one == two]
        found += [f"twice side by side: {role} {name!r} in {place}" for role, name in twice]
    for child in node.children:
        _look(child, (*above, node.name or node.role), found)


def _words(text: str) -> bool:
    return any(c.isalnum() for c in text)


def spoken(root: Node) -> str:
    """The tree as text, one line an element."""
    lines: list[str] = []

    def tell(node: Node, depth: int) -> None:
        states = ",".join(sorted(node.states - {"enabled", "sensitive", "showing", "visible"}))
        lines.append(f"{'  ' * depth}{node}  [{states}] {'/'.join(node.actions)}")
        for child in node.children:
            tell(child, depth + 1)

    tell(root, 0)
    return "\n".join(lines) + "\n"
