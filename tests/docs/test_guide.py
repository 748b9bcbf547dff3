"""The guide to the window names what the window has: its controls, every setting (shortcuts: tests/ui)."""

from __future__ import annotations

import ast
import re
import runpy
import tomllib
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from gym_gui.cli.window import display_trouble
from gym_gui.services.api_keys import PROVIDERS
from gym_gui.ui import window_settings
from tests.support.commands import ROOT

GUIDE = ROOT / "docs" / "guide"
PAGES = sorted(GUIDE.glob("*.md"))
SETTINGS = (GUIDE / "settings_and_keys.md").read_text("utf-8")

_BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
_PICTURE = re.compile(r"images/([\w-]+)\.webp")
_ROW = re.compile(r"^\| (.+?) \| (.*?) \|(?: (.*?) \|)?$", re.MULTILINE)
_LEAST = 5
"""Letters of a text with gaps below which it would fit anything."""


@cache
def _texts() -> tuple[frozenset[str], tuple[re.Pattern[str], ...]]:
    """Every text in the window's code and in the forms of workers; those with gaps as patterns."""
    whole: set[str] = set()
    for manifest in (ROOT / "3rd_party").glob("*/worker.toml"):
        worker = tomllib.loads(manifest.read_text("utf-8"))
        whole |= {worker["name"], *(each["title"] for each in worker.get("settings", {}).values())}
    gapped: list[re.Pattern[str]] = []
    learning = ROOT / "3rd_party/mosaic_worker_sdk/mosaic_worker/learning"
    training = [learning / "training_settings.py", learning / "training_fields.py"]
    for path in [*(ROOT / "gym_gui").rglob("*.py"), *training]:
        if path.parts[-2] == "cli" or "wire" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                whole.add(node.value)
            elif isinstance(node, ast.JoinedStr):
                parts = [p.value if isinstance(p, ast.Constant) else None for p in node.values]
                if sum(len(str(part)) for part in parts if part is not None) >= _LEAST:
                    pattern = "".join(".+" if part is None else re.escape(str(part)) for part in parts)
                    gapped.append(re.compile(pattern))
    return frozenset(whole), tuple(gapped)


def _is_said(words: str) -> bool:
    whole, gapped = _texts()
    return words in whole or any(pattern.fullmatch(words) for pattern in gapped)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_is_bold_stands_in_the_window(page: Path) -> None:
    named = {" ".join(words.split()) for words in _BOLD.findall(page.read_text("utf-8"))}
    assert page.stem == "index" or named
    assert [words for words in sorted(named) if not _is_said(words)] == []


def test_the_check_of_names_can_fail() -> None:
    assert _is_said("Step all") and not _is_said("Walk everybody")


def test_settings_are_those_of_the_window() -> None:
    table = SETTINGS.partition("| setting | default | |")[2].partition("\n\n")[0]
    told = {title: (default, text) for title, default, text in _ROW.findall(table) if title != "---"}
    expected: dict[str, tuple[str, str]] = {}
    for name in window_settings.names():
        about, value = window_settings.about(name), window_settings.default(name)
        words = dict(about.choices).get(str(value)) or (f"{value:g} {about.unit}" if about.unit else "")
        words = "none" if about.folder else words
        expected[about.title] = (words or ("on" if value else "off"), about.text)
    assert told == expected


def test_api_keys_are_those_of_the_window() -> None:
    section = SETTINGS.partition("## API keys")[2].partition("## Shortcuts")[0]
    for provider in PROVIDERS:
        assert re.search(rf"`(keyring:)?{provider.id}`", section), provider.id
        assert re.search(rf"`(env:)?{provider.variable}`", section), provider.variable


def test_why_there_is_no_window_is_told_as_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (GUIDE / "troubleshooting.md").read_text("utf-8")
    table = page.partition("## The window does not open")[2].partition("\n\n")[2].partition("\n\n")[0]
    told = [says for says, _, _ in _ROW.findall(table) if says not in ("it says", "---")]
    said = display_trouble({}), display_trouble({"DISPLAY": ":731"}).replace(":731", ":1")
    for sentence in told[:2]:
        assert any(sentence in one for one in said), sentence
    source = (ROOT / "gym_gui/cli/window.py").read_text("utf-8")
    for sentence in told[2:]:
        assert sentence.partition(" PyQt6")[0] in source, sentence


def test_pictures_come_from_the_script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts" / "pictures"))
    scenes = runpy.run_path(str(ROOT / "scripts" / "pictures" / "screenshots.py"))["Scenes"]
    known = scenes(SimpleNamespace(context=None), Path(), "").by_name()
    shown: set[str] = set()
    for page in (*PAGES, ROOT / "README.md", ROOT / "docs" / "index.md"):
        shown |= set(_PICTURE.findall(page.read_text("utf-8")))
    shown -= {"report"}  # the HTML page's
    assert shown
    for name in shown:
        scene, theme, width = name.rsplit("-", 2)
        assert scene in known and theme in ("light", "dark") and width == "1280", name
