"""Charts as data: where things stand, what they say, in which colors; and the same as SVG."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_gui.analysis.charts import Box, Chart, ChartSide, TextLine
from gym_gui.analysis.charts.pairs import MOST_BARS
from gym_gui.analysis.charts.scale import Scale, tick_words, ticks_within
from gym_gui.analysis.charts.shapes import cut, role_colors, rough_width
from gym_gui.analysis.charts.svg import WIDTH, svg
from gym_gui.analysis.pages.page_style import STYLE
from gym_gui.analysis.pages.report_page import chart_panel
from gym_gui.core.drawing.colors import DARK, LIGHT, Tokens, contrast
from tests.support.charts import interval, intervals, outcomes, pairs

NUMBERS = st.floats(-1e9, 1e9)
LONG = "A policy whose name is much too long for any chart"
CHARTS = {
    "intervals": intervals(
        interval("PPO", "rl", 0.91, 0.88, 0.93),
        interval("Random", "baseline", 0.02, note="all 20 equal"),
        interval(LONG, "llm", None, note="no completed episode"),
    ),
    "pairs": pairs([101, 102, 103, 104], [0.5, -0.25, 0.0, 1.0]),
    "of one kind": pairs([None, None], [1.0, -1.0], ChartSide(LONG, "rl"), ChartSide(LONG, "rl")),
    "outcomes": outcomes((LONG, 6, 1, 3), ("Blue", 0, 0, 10)),
}


@given(st.lists(NUMBERS, min_size=1), st.booleans())
def test_a_scale_spans_its_values_with_round_numbers(values: list[float], zero: bool) -> None:
    scale = Scale.over(values, 0.0, 500.0, zero=zero)
    low, high = scale.ticks[0], scale.ticks[-1]
    slack = 1e-6 * max(1.0, high - low)
    assert low - slack <= min(values) and max(values) <= high + slack
    assert 2 <= len(scale.ticks) <= 8
    assert len(set(scale.words())) == len(scale.ticks)
    assert all(-1 <= scale(value) <= 501 for value in values)
    if zero:
        assert any(abs(tick) <= slack for tick in scale.ticks)


def test_equal_values_get_room_and_no_negative_goals() -> None:
    assert Scale.over([0.0, 0.0], 0, 100).ticks[0] == 0.0
    assert Scale.over([3.0], 0, 100).ticks[0] > 0


@given(NUMBERS, st.floats(1e-3, 1e9), st.booleans())
def test_an_axis_with_ends_of_its_own_has_round_numbers_between_them(
    low: float, span: float, whole: bool
) -> None:
    span = max(span, abs(low) * 1e-3)
    ticks = ticks_within(low, low + span, whole=whole)
    assert len(ticks) <= 7 and all(low - span * 1e-6 <= tick <= low + span * (1 + 1e-6) for tick in ticks)
    assert whole or len(ticks) >= 2
    assert len(set(tick_words(ticks))) == len(ticks)
    if whole:
        assert all(tick == int(tick) for tick in ticks)


@given(st.text(max_size=60), st.floats(20, 400))
def test_a_text_is_cut_to_its_room(text: str, room: float) -> None:
    shown = cut(text, room, rough_width)
    assert shown == text or shown.endswith("…")
    assert rough_width(shown, 12) <= room


@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
@pytest.mark.parametrize("size", [(WIDTH, 240), (230, 150), (1200, 600)])
def test_nothing_stands_beyond_the_edges_and_every_role_has_a_color(
    chart: Chart, size: tuple[int, int]
) -> None:
    width, height = size
    drawing = chart.draw(width, height, rough_width)
    marks = [*drawing.marks, *(mark for spot in drawing.spots for mark in spot.marks)]
    assert {mark.role for mark in marks} <= role_colors(LIGHT).keys() == role_colors(DARK).keys()
    for mark in marks:
        if isinstance(mark, Box):
            x, y, w, h = mark.area
            assert min(x, y) >= 0 and x + w <= width and y + h <= height
        if isinstance(mark, TextLine):
            before = {"start": 0.0, "middle": 0.5, "end": 1.0}[mark.anchor]
            left = mark.x - before * rough_width(mark.text, mark.pixels)
            assert left >= 0 and left + rough_width(mark.text, mark.pixels) <= width + 1
            assert 0 < mark.y <= height


def test_no_line_of_the_grid_is_drawn_through_words() -> None:
    drawing = CHARTS["intervals"].draw(230, 150, rough_width)
    grounds = [mark.area for mark in drawing.marks if isinstance(mark, Box)]
    notes = [m for spot in drawing.spots for m in spot.marks if isinstance(m, TextLine) and m.role == "muted"]
    assert len(notes) == 2
    for note in notes:
        wide = rough_width(note.text, note.pixels)
        left = note.x - (wide if note.anchor == "end" else 0)
        ends = [(x, note.y - part * note.pixels) for x in (left, left + wide - 1) for part in (0, 0.7)]
        assert any(all(ground.holds(*end) for end in ends) for ground in grounds)


@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_what_is_pointed_at_lies_apart_from_the_next(chart: Chart) -> None:
    drawing = chart.draw(500, 240, rough_width)
    for spot in drawing.spots:
        middle = (spot.area.x + spot.area.width / 2, spot.area.y + spot.area.height / 2)
        assert [other for other in drawing.spots if other.area.holds(*middle)] == [spot]


@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_a_page_has_the_same_shapes_and_sentences(chart: Chart) -> None:
    drawing = chart.draw(WIDTH, chart.heights[1], rough_width)
    root = ET.fromstring(svg(chart))
    assert [title.text for title in root.iter("title")] == [spot.sentence for spot in drawing.spots]
    for spot, group in zip(drawing.spots, root.iter("g"), strict=True):
        boxes = [mark for mark in spot.marks if isinstance(mark, Box)]
        drawn = [rect for rect in group.iter("rect") if "class" in rect.attrib]
        assert [rect.get("class") for rect in drawn] == [box.role for box in boxes]
        for rect, box in zip(drawn, boxes, strict=True):
            place = [float(rect.attrib[name]) for name in ("x", "y", "width", "height")]
            assert place == pytest.approx(box.area, abs=0.06)
    for role in set(re.findall(r'class="([\w-]+)"', svg(chart))):
        assert f"svg .{role} {{" in STYLE


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_words_on_bars_are_read_and_two_of_a_kind_told_apart(tokens: Tokens) -> None:
    colors = role_colors(tokens)
    for role in ("ok", "error", "raised"):
        assert contrast(colors[f"on-{role}"], colors[role]) >= 4.0
    for kind in ("rl", "llm", "baseline"):
        assert contrast(colors[kind], colors[f"{kind}-second"]) >= 1.3


@pytest.mark.parametrize("other", ["bdi", "planner", "rl"])
def test_both_sides_of_a_pair_are_told_apart_where_kinds_share_a_color(other: str) -> None:
    chart = pairs([1, 2], [1.0, -1.0], ChartSide("A", "bdi"), ChartSide("B", other))
    colors = role_colors(LIGHT)
    bars = [
        mark
        for spot in chart.draw(540, 200, rough_width).spots
        for mark in spot.marks
        if isinstance(mark, Box)
    ]
    assert len({colors[bar.role] for bar in bars}) == 2


def test_few_intervals_stand_in_the_middle() -> None:
    drawing = intervals(interval("PPO", "rl", 0.91, 0.88, 0.93)).draw(400, 600, rough_width)
    area = drawing.spots[0].area
    above, below = area.y, 600 - area.y - area.height
    assert above > 100 and abs(above - below) < 40


def test_without_a_value_there_is_no_chart() -> None:
    assert not intervals(interval("PPO", "rl", None)) and not pairs([], []) and not outcomes()
    assert "no data" in intervals(interval("PPO", "rl", None)).describe()


def test_pairs_that_are_level_on_every_seed_are_a_sentence() -> None:
    assert pairs([], []).nothing == ""
    level = pairs([101, 102], [0.0, 0.0])
    assert not level and "Level on every seed" in level.nothing and level.first.name in level.nothing
    assert "Level on every seed" in chart_panel(level) and "<svg" not in chart_panel(level)


def test_pairs_say_who_was_ahead_where_and_in_how_many() -> None:
    chart = pairs([101, None, 103], [0.5, -0.25, 0.0])
    assert chart.caption == "Difference in return. PPO ahead in 1, level in 1, Qwen 2.5 ahead in 1 of 3."
    sentences = [spot.sentence for spot in chart.draw(400, 200, rough_width).spots]
    assert sentences == [
        "Seed 101: PPO ahead by 0.500 in return.",
        "Pair 2: Qwen 2.5 ahead by 0.250 in return.",
        "Seed 103: no difference.",
    ]


def test_many_pairs_are_thinned_and_it_says_so() -> None:
    chart = pairs(range(1000), [float(i - 500) for i in range(1000)])
    drawing = chart.draw(600, 240, rough_width)
    assert [drawing.spots[0].key, drawing.spots[-1].key, len(drawing.spots)] == [999, 0, MOST_BARS]
    assert f"{MOST_BARS} of them shown, from largest to smallest." in chart.caption
    words = [mark.text for mark in drawing.marks if isinstance(mark, TextLine)]
    assert "Largest difference first" in words and "Seeds in order" not in words
