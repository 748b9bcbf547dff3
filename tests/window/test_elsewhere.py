"""A user adds a host, puts an operator on it, loses it and goes on: by keys and mouse, over a real sshd."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from gym_gui.core import paths
from tests.support.sshd import Sshd, sshd
from tests.window.program import ROOT, Program

HERE, THERE = "ppo", "random"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Sshd]:
    with sshd(tmp_path / "sshd") as found:
        yield found


def prepare(window: Program, server: Sshd, tmp_path: Path) -> str:
    """Have ssh know the way; returns the line of shell that makes a login there this program's kind."""
    file = paths.hosts_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump({"ssh_config": str(server.config), "hosts": ["old"]}))
    variables = {
        **window.offspring.variables,
        "PYTHONPATH": ROOT,
        "SDL_VIDEODRIVER": "dummy",
        "MOSAIC_RUNTIME_DIR": window.runtime,
        **{f"MOSAIC_{name}_DIR": tmp_path / "there" / name.lower() for name in ("DATA", "CONFIG", "CACHE")},
    }
    lines = [f"export {name}='{value}'" for name, value in variables.items()]
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "env").write_text("\n".join(lines) + "\n")
    return f". {tmp_path}/there/env"


def add_host(window: Program, setup: str) -> None:
    """Add and check a host by keyboard alone."""
    window.press("ctrl+comma")
    window.until_page("settings")
    window.tab_to("open-hosts")
    window.press("space")
    window.until("the list is open", lambda s: s["dialog"] == "hosts-dialog")
    window.until("one of the hosts is shown", lambda _: window.text("host-name") == "old")
    for name in ("hosts-list", "hosts-new"):
        window.tab_to(name)
    window.press("space")
    window.until("it is a new one", lambda s: s["focus"][:1] == ["host-name"])
    window.type("nowhere")
    window.tab_to("host-mosaic")
    window.type(f"{sys.executable} -m gym_gu")
    window.tab_to("host-setup")
    window.type(setup)
    window.tab_to("host-keys")
    window.press("Return")  # as in any form
    window.until("it is reached, and the mistake told", lambda _: window.find("message-error"))
    window.tab_to("host-mosaic")
    window.press("End")
    window.type("i")
    window.press("Return")
    window.until("it is reached", lambda _: window.find("message-ok") or window.find("message-warning"))
    window.press("Escape")
    window.until("the list is shut", lambda s: s["dialog"] == "")


@pytest.mark.full
def test_an_operator_is_put_on_a_host_lost_and_had_again(
    window: Program, server: Sshd, tmp_path: Path
) -> None:
    add_host(window, prepare(window, server, tmp_path))
    window.press("ctrl+1")
    window.until_page("home")
    window.click("start-duel")
    window.until_page("operators")
    card = f"card-{THERE}"
    window.until_text("operator-status", lambda text: text == "Running", "it plays", card)
    window.click(card)
    box = window.ready("operator-host")
    window.click_at(box.rect)
    window.type("nowhere")
    window.press("Return")
    window.until_text("operator-place", lambda text: text == "on nowhere", "it says where", card)
    window.until_recorded(len(window.episodes(THERE)) + 1, THERE)
    window.press("ctrl+r")
    window.until_text("operator-status", lambda text: text == "Paused", "it is held", card)
    window.click("operator-card-name", card)  # the choice of hosts opens with Space
    window.press("space")
    window.press("ctrl+r")
    window.until_recorded(len(window.episodes(THERE)) + 1, THERE)
    server.end()
    sentence = window.until_text("operator-trouble", bool, "the card says what happened", card)
    assert sentence == "The session was lost: the connection to nowhere broke"
    window.until_recorded(len(window.episodes(HERE)) + 1, HERE)
    window.click("operator-restart", card)
    window.until_text("operator-trouble", lambda t: "cannot be reached" in t, "it is still away", card)
    server.start()
    window.click("operator-restart", card)
    played = len(window.episodes(THERE))
    window.until_recorded(played + 1, THERE)
    assert window.quit() == 0
    window.offspring.assert_none(20.0)
    assert not window.log
