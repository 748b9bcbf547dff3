"""The list of hosts: kept in one file, with one clear answer for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from PyQt6.QtWidgets import QLineEdit, QListWidget, QPlainTextEdit

from gym_gui.services.submissions.hosts_file import HostsFile
from gym_gui.services.submissions.profile import Command
from gym_gui.services.submissions.ssh.ssh_profile import Host
from gym_gui.ui.context import AppContext
from gym_gui.ui.hosts.hosts_dialog import HostsDialog
from gym_gui.ui.hosts.runs_on import RunsOn
from gym_gui.ui.widgets import PrimaryButton, QuietButton
from tests.support.named import named
from tests.ui.conftest import messages

ONE = Host("one", folder="elsewhere", shards=3, command=Command("apptainer exec a.sif mosaic", ("cd lab",)))


@pytest.fixture(autouse=True)
def kept(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> HostsFile:
    monkeypatch.setenv("MOSAIC_CONFIG_DIR", str(tmp_path / "config"))
    file = HostsFile()
    file.put(ONE)
    file.put(Host("two"))
    return file


@pytest.fixture
def dialog(context: AppContext, qtbot: Any, kept: HostsFile) -> Iterator[HostsDialog]:
    result = HostsDialog(context)
    result.open()
    names = named(result, QListWidget, "hosts-list")
    qtbot.waitUntil(lambda: names.count() == 2)
    yield result
    result.close()


def text(dialog: HostsDialog, name: str) -> str:
    return named(dialog, QLineEdit, name).text()


def test_a_host_is_shown_as_it_was_written(dialog: HostsDialog) -> None:
    assert (text(dialog, "host-name"), text(dialog, "host-mosaic")) == ("one", "apptainer exec a.sif mosaic")
    assert named(dialog, QPlainTextEdit, "host-setup").toPlainText() == "cd lab"
    named(dialog, QListWidget, "hosts-list").setCurrentRow(1)
    assert (text(dialog, "host-name"), text(dialog, "host-mosaic")) == ("two", "")


def test_what_is_no_host_is_said_and_not_kept(dialog: HostsDialog, kept: HostsFile, qtbot: Any) -> None:
    named(dialog, QuietButton, "hosts-new").click()
    named(dialog, QLineEdit, "host-name").setText("two words")
    named(dialog, PrimaryButton, "hosts-save").click()
    qtbot.waitUntil(lambda: bool(messages(dialog)))
    assert "'two words' is not a host name" in messages(dialog)[0]
    named(dialog, QLineEdit, "host-name").setText("three")
    named(dialog, QPlainTextEdit, "host-setup").setPlainText("export OPENAI_API_KEY=sk-1")
    named(dialog, PrimaryButton, "hosts-save").click()
    qtbot.waitUntil(lambda: any("OPENAI_API_KEY" in said for said in messages(dialog)))
    assert [host.name for host in kept.load().hosts] == ["one", "two"]


def test_what_has_no_row_stays_when_a_host_is_changed(
    dialog: HostsDialog, kept: HostsFile, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")  # nothing here reaches anything
    named(dialog, QLineEdit, "host-name").setText("uno")
    with qtbot.waitSignal(dialog.changed):
        named(dialog, PrimaryButton, "hosts-save").click()
    assert kept.load().hosts[0] == replace(ONE, name="uno")
    qtbot.waitUntil(lambda: any(said.startswith("Error: ") for said in messages(dialog)))
    assert "OpenSSH's client" in messages(dialog)[0]


def test_what_was_found_is_shown_with_each_host_and_again_when_it_is_selected(
    dialog: HostsDialog, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")  # nothing here reaches anything
    names = named(dialog, QListWidget, "hosts-list")
    assert [tip(names, row) for row in (0, 1)] == ["Not checked yet"] * 2
    named(dialog, PrimaryButton, "hosts-save").click()
    qtbot.waitUntil(lambda: "OpenSSH's client" in tip(names, 0))
    names.setCurrentRow(1)
    assert not messages(dialog) and tip(names, 1) == "Not checked yet"
    names.setCurrentRow(0)
    qtbot.waitUntil(lambda: bool(messages(dialog)))
    assert "OpenSSH's client" in messages(dialog)[0]


def tip(names: QListWidget, row: int) -> str:
    item = names.item(row)
    assert item is not None
    return item.toolTip()


def test_who_has_no_hosts_is_asked_for_the_first(
    context: AppContext, qtbot: Any, kept: HostsFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.path.unlink()
    monkeypatch.setenv("PATH", "")  # nothing here reaches anything
    dialog = HostsDialog(context)
    dialog.open()
    names, line = named(dialog, QListWidget, "hosts-list"), named(dialog, QLineEdit, "host-name")
    qtbot.waitUntil(line.hasFocus)
    assert not names.isVisible() and line.isVisible()
    line.setText("three")
    with qtbot.waitSignal(dialog.changed):
        named(dialog, PrimaryButton, "hosts-save").click()
    assert names.isVisible() and names.count() == 1
    dialog.close()


def test_a_host_is_removed(dialog: HostsDialog, kept: HostsFile, qtbot: Any) -> None:
    with qtbot.waitSignal(dialog.changed):
        named(dialog, QuietButton, "hosts-remove").click()
    assert [host.name for host in kept.load().hosts] == ["two"] and text(dialog, "host-name") == "two"


def test_an_operator_is_offered_every_host(context: AppContext, qtbot: Any) -> None:
    box = RunsOn(context)
    qtbot.addWidget(box)
    box.set_host("gone")
    qtbot.waitUntil(lambda: box.findText("two") > 0)
    assert box.currentText() == "gone", "who is no longer in the list is still shown"
    with qtbot.waitSignal(box.host_chosen) as chosen:
        box.activated.emit(box.findText("two"))
    assert chosen.args == ["two"]
