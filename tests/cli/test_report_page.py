"""The report's page in a real browser: replays play in it, whatever is recorded, and it fetches nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import experiment
from tests.support.browser import Page, chromium
from tests.support.commands import Mosaic
from tests.support.sealed import seal_anew

FILM = "document.querySelector('.film')"


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    with chromium(tmp_path / "profile") as opened:
        yield opened


def _step(page: Page) -> int:
    return int(page.tell(f"{FILM}.querySelector('output').textContent.match(/step (\\d+)/)[1]"))


def test_replays_play_in_the_page(mosaic: Mosaic, played: Path, page: Page) -> None:
    done = mosaic("report", played)
    assert done.status == 0, done.err
    assert "Replays: 2 of 2" in done.err
    file = played / "report.html"
    assert file.stat().st_size < 6_000_000
    for dark in (False, True):
        page.open(file.as_uri(), dark=dark)
        page.tell(f"{FILM}.scrollIntoView()")
        page.wait(f"{FILM}.dataset.shown === '0'")
    assert page.tell("document.querySelectorAll('.film canvas').length") == 2
    assert page.tell("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out at 1024"
    page.tell(f"{FILM}.querySelector('.on').click()")
    page.wait(f"{FILM}.dataset.shown === '1'")
    painted = page.tell(f"{FILM}.querySelector('canvas').toDataURL()")
    page.tell(f"{FILM}.focus()")
    page.press("End")
    page.wait(f"{FILM}.dataset.shown === {FILM}.querySelector('input').max")
    last = _step(page)
    assert page.tell(f"{FILM}.querySelector('canvas').toDataURL()") != painted
    assert page.tell(f"{FILM}.querySelector('table.acts td:nth-child(4)').textContent") == str(last)
    page.press("ArrowLeft")
    assert _step(page) == last - 1
    page.press("Home")
    page.press(" ")
    page.wait(f"Number({FILM}.dataset.shown) >= 2")
    page.press(" ")
    assert not page.tell(f"{FILM}.classList.contains('playing')")
    scrub = f"{FILM}.querySelector('input')"
    page.tell(f"{scrub}.value = 3, {scrub}.dispatchEvent(new Event('input'))")
    page.wait(f"{FILM}.dataset.shown === '3'")
    assert page.printed() > 10_000
    assert page.complaints == []


@pytest.mark.usefixtures("sessions_here")
def test_boards_are_drawn_from_the_record(mosaic: Mosaic, page: Page) -> None:
    seats = {f"player_{i}": {"type": "random"} for i in (0, 1)}
    path = experiment(
        mosaic.home, {"id": "c4", "name": "<b>&", "task": "classic/connect_four_v3", "workers": seats}
    )
    run = mosaic.home / mosaic("run", path, "--json", "--episodes", "1").json()["run"]
    assert mosaic("report", run).status == 0
    html = (run / "report.html").read_text()
    assert "<b>&" not in html and "image/webp" in html and '"pictures":[]' in html
    page.open((run / "report.html").as_uri())
    page.tell(f"{FILM}.scrollIntoView()")
    page.wait(f"{FILM}.dataset.shown === '0'")
    empty = page.tell(f"{FILM}.querySelector('canvas').toDataURL()")
    page.tell(f"{FILM}.querySelector('.on').click()")
    assert page.tell(f"{FILM}.querySelector('canvas').toDataURL()") != empty
    assert re.match(
        r"column \d", page.tell(f"{FILM}.querySelector('table.acts td:nth-child(2)').textContent")
    )
    assert page.complaints == []


def test_without_replays_no_script_is_run(mosaic: Mosaic, played: Path) -> None:
    assert mosaic("report", "--no-replays", played).status == 0
    html = (played / "report.html").read_text()
    assert "<script" not in html and "script-src" not in html


def test_what_may_not_be_played_again_is_named(mosaic: Mosaic, played: Path) -> None:
    """A user's own environment is not imported because a folder names it; the report stands."""
    record = played / "run.json"
    marker = mosaic.home / "imported"
    (mosaic.home / "theirs.py").write_text(f"open({str(marker)!r}, 'w')\ndef make(): raise SystemExit\n")
    record.write_text(record.read_text().replace('"CartPole-v1"', '"theirs:make"'))
    seal_anew(played)
    done = mosaic("report", played)
    assert done.status == 0, done.err
    html = (played / "report.html").read_text()
    assert "No replay of" in html and "has not been allowed" in html
    assert not marker.exists()


def test_what_is_missing_stands_on_the_first_screen(mosaic: Mosaic, played: Path, page: Page) -> None:
    record = played / "run.json"
    text = re.sub(r'"status": ?"completed"', '"status":"stopped"', record.read_text(), count=1)
    record.write_text(text)
    seal_anew(played)
    assert mosaic("report", "--no-replays", played).status == 0
    page.open((played / "report.html").as_uri(), height=600)
    note = "document.querySelector('.verdict .note')"
    assert "is not finished" in page.tell(f"{note}.textContent")
    assert page.tell(f"{note}.getBoundingClientRect().bottom < innerHeight")
