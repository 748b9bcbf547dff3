"""What a tournament says: who is best, how sure, and where no order is right."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gym_gui.analysis import open_run
from gym_gui.analysis.compute.standings_builder import standings_of
from gym_gui.analysis.findings.standings import Standings
from gym_gui.analysis.reporting import report
from gym_gui.analysis.statistics.bradley_terry import ELO
from gym_gui.analysis.words.standings_text import rating_legend, seat_lines
from gym_gui.core.errors import RunFormatError
from tests.analysis.tournaments.conftest import by_strength

Write = Callable[..., Path]
STRENGTHS = {"strong": 1.5, "good": 0.5, "fair": -0.5, "weak": -1.5}


def _standings(run: Path) -> Standings:
    return standings_of(open_run(run))


def test_a_planted_ranking_is_found(write: Write) -> None:
    found = _standings(write(list(STRENGTHS)[::-1], by_strength(STRENGTHS, seat=0.6), range(40)))
    assert [each.policy for each in found.policies] == list(STRENGTHS)
    for each in found.policies:
        low, high = each.rating.low, each.rating.high
        assert low is not None and high is not None
        assert low <= STRENGTHS[each.policy] * ELO <= high
        assert each.ranks is not None and each.ranks.best <= each.rank <= each.ranks.worst
    assert "rank" in rating_legend(found.policies)
    assert found.claim == "strong is the best of 4 policies"
    assert found.cycles == ()
    first, second = found.seats
    assert first.advantage.low is not None and first.advantage.low > 0
    assert first.advantage.value == pytest.approx(-(second.advantage.value or 0))
    assert (first.advantage.value or 0) * 2 / ELO == pytest.approx(0.6, abs=0.3)


def test_seats_are_called_as_the_game_calls_them(write: Write) -> None:
    run = write(["strong", "weak"], by_strength({"strong": 1.0, "weak": -1.0}), range(12))
    header = json.loads((run / "run.json").read_text())
    header["seat_names"] = {"strong_vs_weak": {"first": "White", "second": "Black"}}
    (run / "run.json").write_text(json.dumps(header))
    found = _standings(run)
    assert next(seat_lines(found)).startswith("White scores ")
    assert [each["seat"] for each in found.to_json()["seats"]] == ["first", "second"], "files have ids"


def test_rock_paper_scissors_is_a_circle_and_nobody_is_best(write: Write) -> None:
    beats = {("rock", "scissors"), ("scissors", "paper"), ("paper", "rock")}
    rng = np.random.default_rng(1)

    def result(first: str, second: str, seed: int) -> float:
        better = 1.0 if (first, second) in beats else 0.0
        return better if rng.random() < 0.85 else 1 - better

    found = _standings(write(["rock", "paper", "scissors"], result, range(20)))
    assert len(found.cycles) == 1
    for pair in ("rock beats scissors", "scissors beats paper", "paper beats rock"):
        assert pair in found.cycles[0]
    assert found.claim == "Who is best is not decided"


def test_a_ranked_pool_has_no_circle_and_equal_ones_are_not_decided(write: Write) -> None:
    equal = dict.fromkeys(("a", "b", "c", "d"), 0.0)
    found = _standings(write(list(equal), by_strength(equal), range(12)))
    assert found.claim == "Who is best is not decided"
    assert found.cycles == ()
    assert not any("have no interval" in note for note in found.notes)


def test_few_seeds_decide_nothing(write: Write) -> None:
    found = _standings(write(list(STRENGTHS), by_strength(STRENGTHS), range(5)))
    assert found.claim == "Not decided"
    assert "at least 6 seeds" in found.detail
    assert all(each.rating.low is None and each.note == "not enough seeds" for each in found.policies)


def test_a_seed_without_a_decided_game_does_not_count_for_student_s_t(write: Write) -> None:
    def decided_on(*seeds: int) -> Callable[[str, str, int], float]:
        """A game of ``a`` on each of these seeds, won and lost in turn; the rest is drawn."""
        of_a = {seed: float(at % 2 == 0) for at, seed in enumerate(seeds)}
        return lambda first, second, seed: of_a.get(seed, 0.5) if first == "a" else 0.5

    on_one = {("a", "b"): 1.0, ("b", "a"): 0.0, ("b", "c"): 1.0, ("c", "a"): 1.0}
    one = _standings(
        write(
            ["a", "b", "c"],
            lambda first, second, seed: on_one.get((first, second), 0.5) if seed == 3 else 0.5,
            range(12),
            name="one",
        )
    )
    assert [row.rating.note for row in one.policies] == ["1 decided seed"] * 3
    four, more = (
        _standings(write(["a", "b"], decided_on(1, 2, 3, 4), range(n), name=f"of {n}")).policies[0].rating
        for n in (12, 36)
    )
    assert four.low is not None and four.high is not None and more.low is not None and more.high is not None
    # Resamples of 36 seeds that hold four are a tenth less apart than of 12; Student's t is the same.
    assert more.high - more.low > 0.88 * (four.high - four.low)


def test_seeds_are_the_unit_and_not_games(write: Write, tmp_path: Path) -> None:
    """Where the seed decides who wins, both games of it are one observation."""
    rng = np.random.default_rng(2)
    luck = {seed: rng.random() < 0.6 for seed in range(20)}

    def by_seed(first: str, second: str, seed: int) -> float:
        return float((first == "a") == luck[seed])

    by_games = by_strength({"a": 0.4, "b": 0.0}, draw=0.0)
    clustered = _standings(write(["a", "b"], by_seed, range(20))).policies[0].rating
    (tmp_path / "other").mkdir()
    from tests.analysis.tournaments.conftest import write_tournament

    free = _standings(write_tournament(tmp_path / "other", ["a", "b"], by_games, range(20)))
    alone = free.policies[0].rating
    assert clustered.low is not None and clustered.high is not None
    assert alone.low is not None and alone.high is not None
    assert clustered.high - clustered.low > 1.2 * (alone.high - alone.low)


def test_who_lost_everything_has_no_interval_and_is_said(write: Write) -> None:
    chance = by_strength({"a": 0.3, "b": 0.0, "c": -0.3})

    def result(first: str, second: str, seed: int) -> float:
        return {first: 0.0, second: 1.0}["lost"] if "lost" in (first, second) else chance(first, second, seed)

    found = _standings(write(["a", "b", "c", "lost"], result, range(10)))
    last = found.policies[-1]
    assert (last.policy, last.note) == ("lost", "made no point")
    assert last.rating.value is not None and last.rating.low is None
    assert all(each.rating.low is not None for each in found.policies[:-1])
    assert any("lost (made no point) has no interval" in note for note in found.notes)


def test_draws_without_a_loss_set_no_limit_which_is_said_and_gives_no_interval(write: Write) -> None:
    """Two that never win draw among themselves: nothing tells how usual draws are among equals."""
    rng = np.random.default_rng(5)

    def result(first: str, second: str, seed: int) -> float:
        if "chaser" not in (first, second) or rng.random() < 0.6:
            return 0.5
        return float(first == "chaser")

    found = _standings(write(["one", "other", "chaser"], result, range(12)))
    chaser, *others = found.policies
    assert (chaser.policy, chaser.note, chaser.rating.low) == ("chaser", "lost no game", None)
    assert 0 < (chaser.rating.value or 0) < 2_000, "and not where a search for what has no limit gave up"
    for each in others:
        assert not each.note and each.rating.low is not None and each.rating.high is not None
        assert -500 < each.rating.low < 0 < each.rating.high < 500
    assert found.claim == "chaser is the best of 3 policies"
    assert any(
        "do not limit" in note and "chaser (lost no game) has no interval" in note for note in found.notes
    )


def test_games_that_fail_count_for_nobody_and_are_said(write: Write) -> None:
    chance = by_strength(STRENGTHS)

    def result(first: str, second: str, seed: int) -> float | None:
        return None if second == "fair" and seed < 2 else chance(first, second, seed)

    found = _standings(write(list(STRENGTHS), result, range(10)))
    failed = {each.policy: each.failed for each in found.policies}
    assert failed == {"strong": 0, "good": 0, "fair": 6, "weak": 0}
    assert found.claim == "Not decided" and "fair" in found.detail
    # A seed counts from every seat or not at all.
    assert found.games == 120 - 12
    assert any(note.startswith("fair failed in 6 games") for note in found.notes)
    assert any("ZeroDivisionError" in note for note in found.notes)


def test_games_in_which_moves_were_taken_back_are_in_no_rating(write: Write) -> None:
    run = write(list(STRENGTHS), by_strength(STRENGTHS), range(10))
    before = _standings(run)
    for file in run.glob("operators/*/episodes.jsonl"):
        first = json.loads(file.read_text().splitlines()[0])
        weak = next((seat for seat, who in first["agents"].items() if who["policy"] == "weak"), "")
        won = {seat: "win" if seat == weak else "loss" for seat in first["outcome"]}
        back = {**first, "taken_back": {"episode": 0, "step": 1}, "outcome": won}
        with file.open("a") as lines:
            lines.writelines(json.dumps({**back, "episode_index": 100 + i}) + "\n" for i in range(20))
    after = _standings(run)
    assert after.games == before.games == 120
    assert [each.rating for each in after.policies] == [each.rating for each in before.policies]


def test_games_that_repeat_count_as_one(write: Write) -> None:
    found = _standings(
        write(["a", "b"], lambda first, second, seed: float(first == "a"), range(10), identical=True)
    )
    assert any("nothing in them is random" in note for note in found.notes)
    assert found.payoffs[0].points.units == 1
    assert found.payoffs[0].winner() == ""
    assert found.claim == "Not decided" and "the same on every seed" in found.detail
    assert found.policies[0].rating.low is found.policies[0].ranks is None


def test_games_that_repeat_decide_nothing_beside_others_that_do_not(write: Write) -> None:
    """Two that win the same two games over and over are not told apart by how often these are played."""
    chance = by_strength({"a": 0.0, "b": 0.0, "r": -1.0})

    def result(first: str, second: str, seed: int) -> float:
        return float(first == "a") if "r" not in (first, second) else chance(first, second, seed)

    run = write(["a", "b", "r"], result, range(30))
    assert _standings(run).claim == "a is the best of 3 policies"
    path = run / "operators/a_vs_b/episodes.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    same = [row | {"trajectory_sha256": "ab"[row["episode_index"] % 2] * 64} for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in same))
    found = _standings(run)
    assert found.claim == "Who is best is not decided"
    assert all(each.rating.low is not None for each in found.policies)


def test_what_is_left_to_play_is_said(write: Write) -> None:
    run = write(list(STRENGTHS), by_strength(STRENGTHS), range(8), status="stopped")
    episodes = run / "operators" / "fair_vs_weak" / "episodes.jsonl"
    episodes.write_text("".join(episodes.read_text().splitlines(keepends=True)[:9]))
    found = _standings(run)
    assert found.claim == "Not decided"
    assert (found.games, found.planned) == (88, 96)
    assert any("seed was not completed in every seating" in note for note in found.notes)


def test_the_page_and_the_file_say_the_same(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    run = write(["a", "b", "<i>weak"], lambda first, second, seed: 0.5, range(7))
    report([run])
    said = capsys.readouterr().out
    assert "Who is best is not decided" in said
    page = (run / "report.html").read_text()
    assert "<svg" in page and "Points of the row against the column" in page
    assert "&lt;i&gt;weak" in page and "<i>weak" not in page
    few = "Points of fewer than 10 seeds have no interval"
    assert few in " ".join(said.split()) and few in page
    assert '"claim": "Who is best is not decided"' in (run / "tournament.json").read_text()


@pytest.mark.parametrize(
    ("was", "is_now", "said"),
    [
        ('["good", "fair"]', '["good", "nobody"]', "'good_vs_fair' is no pairing"),
        ('"good_vs_fair": ["good", "fair"], ', "", "it does not say who met in 'good_vs_fair'"),
        ('"first": ["first"]', '"first": ["third"]', "'first' of 'strong_vs_good' is on none of its sides"),
    ],
)
def test_a_folder_that_does_not_say_who_met_whom_is_refused(
    write: Write, was: str, is_now: str, said: str
) -> None:
    run = write(list(STRENGTHS), by_strength(STRENGTHS), range(6))
    text = (run / "run.json").read_text()
    assert was in text
    (run / "run.json").write_text(text.replace(was, is_now))
    with pytest.raises(RunFormatError, match=said):
        _standings(run)


def test_games_that_have_no_line_are_named_with_the_verdict(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write(list(STRENGTHS), by_strength(STRENGTHS), range(6))
    shutil.rmtree(run / "operators" / "good_vs_fair")
    report([run])
    said = " ".join(capsys.readouterr().out.split("round robin")[0].split())
    told = f"Run {run.name} has ended, but 12 of 72 episodes are missing, of good_vs_fair"
    assert told in said and f"; `mosaic tournament --resume {run.name}` plays them." in said
    assert told in (run / "report.html").read_text().split("</section>")[0]


@pytest.mark.parametrize(("names", "draw", "seat"), [("abcdef", 38.0, 0.0), ("abcdefgh", 80.0, 1.39)])
def test_equals_that_draw_make_no_circle(write: Write, names: str, draw: float, seat: float) -> None:
    """19 of 20 games are drawn; in the second pool the first seat wins four of five of the others."""
    circles: list[str] = []
    beyond: list[bool] = []
    for seed in range(5):
        drawn = by_strength(dict.fromkeys(names, 0.0), seat, draw, seed)
        found = _standings(write(list(names), drawn, range(20), name=f"drawn-{seed}"))
        circles += found.cycles
        beyond += [bool(each.winner()) for each in found.payoffs]
    assert circles == [] and np.mean(beyond) < 0.05


@pytest.mark.parametrize(("pools", "most"), [(8, 1), pytest.param(20, 2, marks=pytest.mark.full)])
def test_three_decided_games_put_nobody_ahead(write: Write, pools: int, most: int) -> None:
    wrong = 0
    for seed in range(pools):
        found = _standings(
            write(
                ["a", "b", "c"],
                by_strength(dict.fromkeys("abc", 0.0), 0.0, 78.0, seed),
                range(20),
                name=f"{seed}",
            )
        )
        ranks = [each.ranks for each in found.policies]
        wrong += any(each is not None and (each.best > 1 or each.worst < 3) for each in ranks)
    assert wrong <= most
