"""``mosaic doctor`` on machines that lack something."""

from __future__ import annotations

import os
import resource
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gym_gui.cli.installing import machine_checks
from tests.support.commands import Mosaic

Findings = Mapping[str, list[tuple[str, str, str]]]


def examined(mosaic: Mosaic, **env: str) -> Findings:
    """State, text and fix of each finding, by check."""
    done = mosaic("doctor", "--json", **env)
    found: dict[str, list[tuple[str, str, str]]] = {}
    for row in done.json()["findings"]:
        found.setdefault(row["check"], []).append((row["state"], row["text"], row["fix"]))
    problems = any(state == "problem" for rows in found.values() for state, _, _ in rows)
    assert done.status == problems
    return found


def worst(rows: list[tuple[str, str, str]]) -> tuple[str, str, str]:
    return max(rows, key=lambda row: ["ok", "note", "problem"].index(row[0]))


def program(folder: Path, name: str) -> Path:
    """A program that does nothing."""
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text("#!/bin/sh\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def test_a_sound_machine_has_no_problem_and_each_note_says_what_to_do(mosaic: Mosaic) -> None:
    found = examined(mosaic)
    assert {"versions", "folders", "window", "workers"} <= found.keys()
    assert [row for rows in found.values() for row in rows if row[0] == "problem"] == []
    assert not list(mosaic.home.iterdir()), "nothing was made"


def test_people_read_it_in_sentences(mosaic: Mosaic) -> None:
    pytest.importorskip("PyQt6")
    done = mosaic.process("doctor", DISPLAY="", QT_QPA_PLATFORM="", COLUMNS="60")
    assert done.status == 0 and "xvfb-run mosaic gui." in " ".join(done.out.split())
    assert done.out.splitlines()[-1].endswith(("note.", "notes."))


BROKEN: dict[str, tuple[Callable[[Path], dict[str, str]], str, str, str]] = {
    "a file where the data should go": (
        lambda home: {"MOSAIC_DATA_DIR": str((home / "file").write_text("") or home / "file")},
        "folders",
        "problem",
        "MOSAIC_DATA_DIR",
    ),
    "a path too long for sockets": (
        lambda home: {"MOSAIC_RUNTIME_DIR": str(home / ("deep" * 40))},
        "folders",
        "problem",
        "MOSAIC_RUNTIME_DIR",
    ),
    "no display": (lambda _: {"DISPLAY": "", "WAYLAND_DISPLAY": ""}, "window", "note", "xvfb-run mosaic gui"),
    "a display that is gone": (lambda _: {"DISPLAY": ":987"}, "window", "note", "Set DISPLAY"),
    "certificates that are gone": (
        lambda home: {"REQUESTS_CA_BUNDLE": str(home / "none.pem")},
        "network",
        "problem",
        "Correct or unset REQUESTS_CA_BUNDLE",
    ),
    "certificates that are none": (
        lambda home: {"CURL_CA_BUNDLE": str((home / "x.pem").write_text("hello") and home / "x.pem")},
        "network",
        "problem",
        "Correct or unset CURL_CA_BUNDLE",
    ),
    "another mosaic": (
        lambda home: {"PATH": f"{program(home / 'bin', 'mosaic').parent}:{os.environ['PATH']}"},
        "command",
        "note",
        "first on PATH",
    ),
    "no mosaic on PATH": (lambda home: {"PATH": str(home)}, "command", "note", "to PATH"),
    "no keyring": (
        lambda _: {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"},
        "keyring",
        "note",
        "env:NAME",
    ),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_what_is_missing_is_named_with_what_to_do(
    broken: tuple[Callable[[Path], dict[str, str]], str, str, str], mosaic: Mosaic
) -> None:
    breaks, check, state, fix = broken
    env = {"QT_QPA_PLATFORM": "", **breaks(mosaic.home)}
    if check == "window":
        pytest.importorskip("PyQt6")
    found = worst(examined(mosaic, **env)[check])
    assert found[0] == state and fix in found[2], found


def test_few_open_files_are_a_problem(mosaic: Mosaic) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, before[1]))
    try:
        (found,) = examined(mosaic)["open files"]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert found[0] == "problem" and "ulimit -n" in found[2]


def test_a_worker_that_is_broken_is_named(mosaic: Mosaic) -> None:
    folder = mosaic.home / "data" / "workers" / "own_worker"
    folder.mkdir(parents=True)
    (folder / "worker.toml").write_text("this is = no manifest")
    found = worst(examined(mosaic)["workers"])
    assert found[0] == "problem" and "own_worker" in found[1]


@pytest.mark.parametrize("address", ["proxy.example:3128", "http://proxy.example:port"])
def test_a_proxy_that_cannot_be_read_is_a_problem(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", address)
    found = [row for row in machine_checks.CHECKS["network"]() if row[1].startswith("https_proxy")]
    assert [row[0] for row in found] == ["problem"]
    assert "http://HOST:PORT" in found[0][2]


def test_a_proxys_password_is_not_printed(mosaic: Mosaic) -> None:
    done = mosaic.process("doctor", https_proxy="http://me:hidden-word@proxy.example:3128")
    assert "proxy.example:3128" in done.out and "hidden-word" not in done.out + done.err
