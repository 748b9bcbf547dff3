"""``mosaic report --site``: a folder of pages in a real browser, from a file and with nothing else."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from gym_gui.cli.recorded_runs.site import first_interrupt
from tests.support.browser import Page, chromium
from tests.support.commands import Mosaic
from tests.support.sealed import seal_anew

pytestmark = pytest.mark.usefixtures("sessions_here")

FILM = "document.querySelector('.film')"


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    with chromium(tmp_path / "profile") as opened:
        yield opened


def _follow(page: Page, words: str) -> None:
    """Go where the link leads that says so."""
    complaints = list(page.complaints)
    page.open(page.tell(f"[...document.links].find((a) => a.textContent.includes({words!r})).href"))
    page.complaints[:0] = complaints
    assert page.tell("getComputedStyle(document.querySelector('nav.site')).display") == "flex", "styled"
    assert page.tell("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"


def test_a_site_is_walked_through_to_a_replay_that_plays(mosaic: Mosaic, played: Path, page: Page) -> None:
    before = sorted(path.name for path in played.iterdir())
    done = mosaic("report", played, "--site", "site")
    assert done.status == 0, done.err
    assert "has a mean return" in done.out and "2 of them with a replay" in done.out
    assert "Replays: 2 of 2" in done.err and "Pages: 2 of 2" in done.err
    assert sorted(path.name for path in played.iterdir()) == before, "nothing goes into the run folder"
    site = mosaic.home / "site"
    for dark in (False, True):
        page.open((site / "index.html").as_uri(), dark=dark)
        ground = page.tell("getComputedStyle(document.body).backgroundColor")
        assert page.tell("document.querySelector('.verdict').getBoundingClientRect().bottom < innerHeight")
        assert page.tell("document.querySelectorAll('svg').length") >= 1
        assert (sum(map(int, ground[4:-1].split(","))) < 200) is dark
    _follow(page, "Random")
    _follow(page, "Episodes")
    assert page.tell("document.querySelector('nav.site [aria-current]').textContent") == "Episodes"
    _follow(page, "Open")
    page.tell(f"{FILM}.scrollIntoView()")
    page.wait(f"{FILM}.dataset.shown === '0'")
    painted = page.tell(f"{FILM}.querySelector('canvas').toDataURL()")
    page.tell(f"{FILM}.focus()")
    page.press("End")
    page.wait(f"{FILM}.dataset.shown === {FILM}.querySelector('input').max")
    assert page.tell(f"{FILM}.querySelector('canvas').toDataURL()") != painted
    assert page.printed() > 10_000
    _follow(page, "All episodes")
    assert page.tell("location.hash").startswith("#e")
    _follow(page, "run ")
    assert "mosaic verify" in page.tell("document.body.textContent")
    assert page.complaints == []


def test_what_may_not_be_played_again_is_named(mosaic: Mosaic, played: Path) -> None:
    record = played / "run.json"
    (mosaic.home / "theirs.py").write_text("raise SystemExit\n")
    record.write_text(record.read_text().replace('"CartPole-v1"', '"theirs:make"'))
    seal_anew(played)
    done = mosaic("report", played, "--site", "site", "--all-replays")
    assert done.status == 0, done.err
    assert "No replay of 2 episodes" in (said := (mosaic.home / "site" / "episodes.html").read_text())
    assert "has not been allowed" in said


def test_a_foreign_folder_is_refused_before_anything_is_read(mosaic: Mosaic, played: Path) -> None:
    assert "other files than a site of a report" in mosaic.refused("report", played, "--site", played)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--site", "s", "--out", "o"), "cannot be combined with --out or --format"),
        (("--site", "s", "--format", "md"), "cannot be combined with --out or --format"),
        (("--all-replays",), "needs --site"),
        (("--site", "s", "--all-replays", "--no-replays"), "Leave one out"),
    ],
)
def test_what_does_not_go_together_is_refused(
    mosaic: Mosaic, played: Path, options: tuple[str, ...], said: str
) -> None:
    assert said in mosaic.refused("report", played, *options)


def test_ctrl_c_is_a_wish_the_first_time() -> None:
    handler = signal.getsignal(signal.SIGINT)
    with first_interrupt() as stopped:
        assert not stopped()
        os.kill(os.getpid(), signal.SIGINT)
        assert stopped()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is handler
