"""A page whose transcript has drifted fails its test, and is written anew by the script."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs import pages
from tests.docs.pages import WRITES, Reader, elided
from tests.support.commands import Mosaic, experiment
from tests.support.processes import Offspring

pytestmark = pytest.mark.usefixtures("sessions_here")

_PAGE = """# Page

```console
$ mosaic run pole.json
Random has a mean return of 999.9 over 2 episodes.
…
Page: runs/01M7XCKBXYK7A4XPD7M5HZVD9K/report.html
Run:  runs/01M7XCKBXYK7A4XPD7M5HZVD9K
```

It goes on:

```console
$ mosaic verify runs/01M7XCKBXYK7A4XPD7M5HZVD9K
Verified: 7 episodes.
```
"""


@pytest.fixture
def page(tmp_path: Path, offspring: Offspring, monkeypatch: pytest.MonkeyPatch) -> Reader:
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    experiment(tmp_path, {"id": "a", "name": "Random"}, name="pole.json")
    file = tmp_path / "page.md"
    file.write_text(_PAGE)
    return Reader(file, Mosaic(tmp_path, offspring))


def test_what_has_drifted_fails(page: Reader) -> None:
    with pytest.raises(AssertionError, match=r"999\.9"):
        page.follow(python=False)
    assert page.page.read_text() == _PAGE


def test_it_is_written_anew_with_the_ids_that_the_page_has(
    page: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WRITES, "1")
    page.follow(python=False)
    text = page.page.read_text()
    assert "999.9" not in text and "7 episodes" not in text
    assert text.count("01M7XCKBXYK7A4XPD7M5HZVD9K") == 3 and text.count("\n…\n") == 1
    assert "Random has a mean return of " in text and "Verified: 2 episodes, " in text
    assert text.startswith("# Page\n") and "\n```\n\nIt goes on:\n" in text
    monkeypatch.delenv(WRITES)
    Reader(page.page, page.mosaic).follow(python=False)


def test_what_is_left_out_stays_left_out() -> None:
    assert elided("a\n…\nz\n", "A\nb\nc\nZ\n") == "A\n…\nZ\n"
    assert elided("a\nb\n", "A\nB\nC\n\n") == "A\nB\nC\n"
