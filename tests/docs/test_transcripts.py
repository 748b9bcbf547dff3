"""A page that shows what is no longer printed is found, and written anew where that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.pages import Reader
from tests.support.commands import Mosaic

_PAGE = """A page.

```console
$ printf 'one 1\\n01ARZ3NDEKTSV4RRFFQ69G5FAV\\nthree\\nfour\\n'
one 2
01M7XCKBXYK7A4XPD7M5HZVD9K
…
five
```

More words, and the same run:

```console
$ echo runs/01M7XCKBXYK7A4XPD7M5HZVD9K again
runs/01M7XCKBXYK7A4XPD7M5HZVD9K no more
```
"""


@pytest.fixture
def page(reader: Callable[[str], Reader], tmp_path: Path) -> tuple[Path, Mosaic]:
    path = tmp_path / "page.md"
    path.write_text(_PAGE)
    return path, reader("README.md").mosaic


def _follow(page: tuple[Path, Mosaic], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.docs.pages.ROOT", page[0].parent)
    Reader(*page).follow()


def test_what_differs_is_found(page: tuple[Path, Mosaic], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError, match=r"page\.md:4 shows\none 2"):
        _follow(page, monkeypatch)


def test_what_differs_is_written_with_the_ids_of_the_page(
    page: tuple[Path, Mosaic], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as rewriting:
        rewriting.setenv("MOSAIC_REWRITE_TRANSCRIPTS", "1")
        _follow(page, rewriting)
    expected = _PAGE.replace("one 2", "one 1").replace("five", "four").replace("no more", "again")
    assert page[0].read_text() == expected
    _follow(page, monkeypatch)
