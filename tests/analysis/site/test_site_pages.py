"""A site: every link leads somewhere in it, whatever things are called, and every episode is there."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from gym_gui.analysis.read_runs import read_runs
from gym_gui.analysis.reporting import find_standings
from gym_gui.analysis.site import SiteContent, SiteWritten, write_site
from gym_gui.analysis.site.file_names import PER_LIST, safe_names
from tests.analysis.conftest import Plan, match, single, step_rows, write_run
from tests.analysis.tournaments.conftest import write_tournament
from tests.analysis.tournaments.test_cross_play import write as write_cross_play

EVIL = '"><script>alert(1)</script><wicked>&'


class Links(HTMLParser):
    """What a page refers to, what can be referred to on it, and its elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.leads: list[str] = []
        self.names: set[str] = set()
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name in ("href", "src") and value is not None:
                self.leads.append(value)
            if name == "id" and value is not None:
                self.names.add(value)


def built(folder: Path, *runs: Path, stopped: Callable[[], bool] = lambda: False) -> SiteWritten:
    folder.mkdir()
    read = read_runs(runs)
    content = SiteContent(read.runs, read.summary, find_standings(read.runs), {})
    return write_site(folder, content, stopped=stopped)


def see_sound(site: Path) -> dict[str, Links]:
    """Every page of a site; nothing leads out of it or nowhere, and nothing can be fetched."""
    pages = {file.relative_to(site).as_posix(): Links(file.read_text()) for file in site.rglob("*.html")}
    for path, page in pages.items():
        assert "default-src 'none'" in (site / path).read_text()
        assert "wicked" not in page.tags, f"{path}: a name has become markup"
        for lead in page.leads:
            if lead == "data:,":
                continue
            assert re.match(r"[a-z0-9./#-]+$", lead), lead
            address, _, name = lead.partition("#")
            target = (site / path).parent / unquote(address) if address else site / path
            inside = target.resolve().relative_to(site.resolve()).as_posix()
            assert target.is_file(), f"{path} leads to {lead}"
            assert not name or name in pages[inside].names, f"{path} leads to {lead}"
    assert {"index.html", "runs.html", "agents.html", "episodes.html"} <= pages.keys()
    return pages


def _lines(pages: Mapping[str, Links], folder: str) -> set[int]:
    """Episodes that stand in the lists of a folder."""
    lists = [page for path, page in pages.items() if path.startswith(f"{folder}/episodes-")]
    return {int(name[1:]) for page in lists for name in page.names}


def test_every_episode_has_a_line_and_every_link_leads_to_a_page(tmp_path: Path) -> None:
    many = [single("op", index, float(index % 7)) for index in (*range(PER_LIST + 30), 3 * PER_LIST + 5)]
    many[7] |= {"status": "failed", "error": f"why {EVIL}", "total_reward": None}
    few = [single(EVIL.replace("/", "?"), index, 1.0) for index in range(5)]
    first = write_run(tmp_path, Plan({"op": many, few[0]["operator_id"]: few}, names={"op": EVIL}))
    teams = [match("Op", index, {"green": index, "blue": 1}, swapped=bool(index % 2)) for index in range(6)]
    second = write_run(
        tmp_path, Plan({"Op": teams}, run_id="01J0000000000000000000000B", task="soccer", names={"Op": EVIL})
    )
    written = built(tmp_path / "site", first, second)
    pages = see_sound(tmp_path / "site")
    assert written.pages == len(pages)
    assert _lines(pages, "agents/op") == {*range(PER_LIST + 30), 3 * PER_LIST + 5}
    assert _lines(pages, "agents/op-2") == set(range(6)), "names that differ in case alone"
    assert not any("script" in page.tags for page in pages.values()), "no replay, no script"
    listed = (tmp_path / "site" / "agents" / "op-2" / "episodes-1.html").read_text()
    assert "green 1.00 (draw)" in listed
    assert "green_0 (blue_0)" in listed, "who sat where after seats were swapped"
    assert "op/episodes-1.html#e7" in (tmp_path / "site" / "index.html").read_text()


@pytest.mark.parametrize("kind", ["tournament", "cross-play"])
def test_a_tournament_leads_with_its_ratings(tmp_path: Path, kind: str) -> None:
    if kind == "tournament":
        run = write_tournament(
            tmp_path, ["a", "b"], lambda first, second, seed: float(first == "a"), range(8)
        )
    else:
        write_cross_play(tmp_path, ["a", "b"], lambda who, seed: seed / 50 + (who[0] == who[1]), seeds=8)
        run = tmp_path / "01CROSSPLAY"
    built(tmp_path / "site", run)
    see_sound(tmp_path / "site")
    index = (tmp_path / "site" / "index.html").read_text()
    assert ("Results by pair" if kind == "tournament" else "Results by team") in index
    assert json.loads((tmp_path / "site" / "tournament.json").read_text())


def _telling(episode: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows = step_rows(episode)
    rows[0]["scores"] = {"left": 0.5, EVIL: 0.25}
    return rows


def test_what_was_told_of_decisions_has_a_page(tmp_path: Path) -> None:
    rows = [single("op", index, 1.0) for index in range(3)]
    run = write_run(tmp_path, Plan({"op": rows}, steps=_telling))
    written = built(tmp_path / "site", run)
    pages = see_sound(tmp_path / "site")
    assert written.transcripts == 3 and "agents/op/episode-2.html" in pages
    stopped = built(tmp_path / "stopped", run, stopped=lambda: True)
    pages = see_sound(tmp_path / "stopped")
    assert stopped.stopped == 3 and not any("episode-" in path for path in pages)
    assert _lines(pages, "agents/op") == {0, 1, 2}, "lines stay"
    assert "The site was stopped early: 3 episodes" in (tmp_path / "stopped" / "index.html").read_text()


def test_names_of_files_are_safe_everywhere() -> None:
    labels = ["PPO", "ppo", "../../etc", "CON", "é\u202e😀", "😀", "", "a" * 300]
    names = safe_names(labels)
    assert len(set(names)) == len(labels)
    assert all(re.fullmatch(r"[a-z0-9-]{1,60}", name) for name in names)
    assert names[:2] == ["ppo", "ppo-2"] and "con" not in names
