"""Lines with bands: everything in its place, and told in words."""

from __future__ import annotations

from gym_gui.analysis.charts import Curve, Patch
from gym_gui.analysis.charts.bands import Band, BandChart
from gym_gui.analysis.charts.shapes import rough_width
from gym_gui.analysis.charts.svg import svg

FAST = Band(
    "Fast", "rl", (0.0, 500.0, 1000.0), (10.0, 300.0, 480.0), (5.0, 200.0, 400.0), (20.0, 400.0, 500.0)
)
FEW = Band("Few", "human", (0.0, 1000.0), (0.0, 100.0), thin=((0.0, 50.0), (0.0, 150.0)))


def test_a_band_lies_around_its_line_and_all_of_it_within_the_axes() -> None:
    chart = BandChart("Learning", "steps", (FAST, FEW))
    drawing = chart.draw(540, chart.heights[1], rough_width)
    fast, few = drawing.spots
    (patch,) = [mark for mark in fast.marks if isinstance(mark, Patch)]
    (line,) = [mark for mark in fast.marks if isinstance(mark, Curve)]
    above, below = patch.points[:3], patch.points[:2:-1]
    for (x, y), (x_high, high), (x_low, low) in zip(line.points, above, below, strict=True):
        assert x == x_high == x_low
        assert high <= y <= low  # pixels count downwards
    names = 2 * 18
    for mark in (patch, line, *(m for m in few.marks if isinstance(m, Curve))):
        assert all(0 <= x <= 540 and names <= y <= drawing.height - 24 for x, y in mark.points)
    # Too few trainings have no band: each has a thin line of its own.
    assert not any(isinstance(mark, Patch) for mark in few.marks)
    assert sum(isinstance(mark, Curve) for mark in few.marks) == 3


def test_it_is_told_in_words_and_drawn_as_svg() -> None:
    shares = Band("All", "rl", (100.0, 500.0), (1.0, 0.25))
    chart = BandChart("Profile", "mean return at least", (shares,), percent=True)
    assert chart.describe() == "All: 100 % at 100.0, 25 % at 500.0."
    drawn = svg(chart)
    assert "<polyline" in drawn
    assert "100 %" in drawn
    assert "mean return at least" in drawn
    assert not BandChart("Profile", "x", ())
    assert not BandChart("Profile", "x", (Band("one point", "rl", (1.0,), (1.0,)),))
