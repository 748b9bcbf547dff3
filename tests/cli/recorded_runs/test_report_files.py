"""``mosaic report --format``: tables and figures for papers and other programs."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from tests.analysis.tournaments.conftest import write_tournament
from tests.analysis.tournaments.test_cross_play import write as write_cross_play
from tests.support.commands import Mosaic
from tests.support.sealed import seal_anew


@pytest.fixture
def named(played: Path) -> Path:
    """A run whose operator has a name that means something in every format."""
    record = played / "run.json"
    text, found = re.subn(r'("(?:display_)?name": ?)"Random"', r'\1"A_1 & 50 % <b>|x|"', record.read_text())
    assert found
    record.write_text(text)
    seal_anew(played)
    return played


def test_markdown_is_read_as_it_is_meant(mosaic: Mosaic, named: Path) -> None:
    text = mosaic("report", named, "--format", "md").out
    html = MarkdownIt().enable("table").render(text)
    assert "<td>A_1 &amp; 50 % &lt;b&gt;|x|</td>" in html
    assert html.count("<table>") == 1 and "has a mean return" in html


def test_latex_has_rules_of_booktabs_and_no_sign_of_its_own(mosaic: Mosaic, named: Path) -> None:
    text = mosaic("report", named, "--format", "tex").out
    assert r"{A\_1 \& 50 \% \textless{}b\textgreater{}\textbar{}x\textbar{}}" in text
    assert all(rf"\{rule}rule" in text for rule in ("top", "mid", "bottom"))
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    columns = re.search(r"tabular\}\{@\{\}([lr]+)@", text)
    assert columns is not None
    assert {len(re.split(r"(?<!\\)&", row)) for row in rows} == {len(columns[1])}
    assert text.count("{") == text.count("}")


def test_latex_has_minus_signs_and_says_what_it_needs(mosaic: Mosaic, tmp_path: Path) -> None:
    write_cross_play(tmp_path, ["中", "b-2"], lambda who, seed: seed / 50 + (who[0] == who[1]), seeds=20)
    text = mosaic("report", tmp_path / "01CROSSPLAY", "--format", "tex").out
    assert re.search(r"\$-\$1\.00 \(all 20 (seeds )?equal\)", text) and "{b-2}" in text
    assert "need LuaLaTeX" in text
    write_cross_play(tmp_path / "2", ["é", "b"], lambda who, seed: seed / 50 + (who[0] == who[1]), seeds=20)
    assert "LuaLaTeX" not in mosaic("report", tmp_path / "2" / "01CROSSPLAY", "--format", "tex").out


def test_a_table_as_csv_and_parquet(mosaic: Mosaic, named: Path) -> None:
    (row,) = csv.DictReader(io.StringIO(mosaic("report", named, "--format", "csv").out))
    assert row["name"] == "A_1 & 50 % <b>|x|" and row["recorded"] == "2"
    parquet = pytest.importorskip("pyarrow.parquet")
    file = mosaic.home / "r.parquet"
    assert mosaic("report", named, "-o", file).status == 0
    assert parquet.read_table(str(file)).to_pylist()[0]["recorded"] == 2


def test_figures_are_drawings(mosaic: Mosaic, named: Path) -> None:
    svg, pdf = mosaic.home / "f.svg", mosaic.home / "f.pdf"
    (named / "report.html").unlink()
    assert mosaic("report", named, "-o", svg).status == 0
    words = " ".join(ElementTree.parse(svg).getroot().itertext())
    assert "A_1 & 50" in words
    pytest.importorskip("PyQt6.QtSvg")
    assert mosaic("report", named, "--format", "pdf", "-o", pdf).status == 0
    content = pdf.read_bytes()
    assert content.startswith(b"%PDF") and b"/Font" in content and b"/Subtype /Image" not in content
    assert not (named / "report.html").exists(), "nothing else is written"


def test_a_tournament_gives_its_ratings(mosaic: Mosaic, tmp_path: Path) -> None:
    run = write_tournament(tmp_path, ["a", "b"], lambda first, second, seed: float(first == "a"), range(8))
    rows = list(csv.DictReader(io.StringIO(mosaic("report", run, "--format", "csv").out)))
    assert [(row["policy"], row["rank"]) for row in rows] == [("a", "1"), ("b", "2")]
    assert "| a |" in mosaic("report", run, "--format", "md").out
    assert mosaic("report", run, "-o", mosaic.home / "t.svg").status == 0


def test_cross_play_gives_its_teams(mosaic: Mosaic, tmp_path: Path) -> None:
    write_cross_play(tmp_path, ["a", "b"], lambda who, seed: seed / 50 + (who[0] == who[1]), seeds=8)
    run = tmp_path / "01CROSSPLAY"
    rows = list(csv.DictReader(io.StringIO(mosaic("report", run, "--format", "csv").out)))
    assert {(row["policy"], row["partner"]): row["lifts"] for row in rows} == {
        ("a", "a"): "0",
        ("b", "b"): "0",
        ("a", "b"): "-1",
        ("b", "a"): "-1",
    }
    told = mosaic("report", run, "--format", "md").out
    assert "Self-play is better than cross-play by 1.00" in told and "| a | b |" in told
    assert mosaic("report", run, "-o", mosaic.home / "t.svg").status == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--format", "doc"), "One of md, tex"),
        (("--format", "pdf"), "Name a file"),
        (("--format", "csv", "-o", "x.md"), "does not end with .csv"),
        (("-o", "no/such/place.md"), "cannot be written"),
    ],
)
def test_what_cannot_be_written_is_refused(
    mosaic: Mosaic, played: Path, arguments: tuple[str, ...], said: str
) -> None:
    assert said in mosaic.refused("report", played, *arguments)


@pytest.mark.parametrize("name", ["fig.png", "page.html", "all.json"])
def test_a_file_of_a_kind_that_no_report_writes_is_refused(mosaic: Mosaic, played: Path, name: str) -> None:
    file = mosaic.home / name
    done = mosaic("report", played, "-o", file)
    assert done.status == 2 and file.suffix in done.err and ".svg" in done.err
    assert not file.exists(), "no folder of that name"
