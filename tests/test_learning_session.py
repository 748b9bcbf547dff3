"""Episodes in which the caller decides for one agent: whose turn it is, and who else plays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from gym_gui.core.errors import UsageError
from gym_gui.core.types import Decision
from gym_gui.evaluation.learning import EpisodeResult, Game, LearnerSession, Progress, open_session
from tests.support.fixtures import offspring
from tests.support.processes import Offspring

__all__ = ["offspring"]

TREE_SEARCH = """
task: tictactoe_v3
policies:
  tree_search: {type: planner, worker_id: openspiel_worker, settings: {simulations: 3}}
  first_legal: {type: baseline, behavior: cycle}
"""


def not_held(folder: Path) -> None:
    """Nothing is played by this process itself."""


class Lowest:
    """Plays the lowest legal action, and notes what it was asked."""

    def __init__(self) -> None:
        self.begun: list[tuple[int, str]] = []
        self.ended: list[tuple[int, str]] = []

    def begin(self, episode: int, agent_id: str, slot: str) -> None:
        self.begun.append((episode, agent_id))

    def choose(self, decisions: Sequence[Decision]) -> list[Any]:
        return [lowest(decision) for decision in decisions]

    def end(self, episode: int, agent_id: str) -> None:
        self.ended.append((episode, agent_id))


def lowest(decision: Decision) -> int:
    """The lowest legal action."""
    return 0 if decision.action_mask is None else int(decision.action_mask.argmax())


@pytest.fixture
def opened() -> Iterator[Callable[..., LearnerSession]]:
    """Sessions that are closed in the end."""
    sessions: list[LearnerSession] = []

    def make(env_id: str, pool: Sequence[str] = (), **keywords: Any) -> LearnerSession:
        session, _ = open_session(env_id, pool, not_held, concurrency=8, **keywords)
        sessions.append(session)
        return session

    yield make
    for session in sessions:
        session.close()


def played_out(session: LearnerSession, progress: Progress) -> list[EpisodeResult]:
    """How games come out in which the learner plays the lowest legal action."""
    over = list(progress.over)
    while progress.decisions:
        progress = session.step({i: lowest(decision) for i, decision in progress.decisions.items()})
        over += progress.over
    return sorted(over, key=lambda each: each.episode)


def test_the_learner_is_asked_in_every_seat(opened: Callable[..., LearnerSession]) -> None:
    session, others = opened("tictactoe_v3"), Lowest()
    session.register_policy("lowest", others)
    assert session.seats == ["player_1", "player_2"]
    progress = session.begin([Game(0, 1, "player_1", "lowest"), Game(1, 1, "player_2", "lowest")])
    first, second = (progress.decisions[i] for i in range(2))
    assert (first.agent_id, first.step, second.agent_id, second.step) == ("player_1", 0, "player_2", 1)
    assert others.begun == [(0, "player_2"), (1, "player_1")]
    progress = session.step({0: lowest(first), 1: lowest(second)})
    assert [(o.episode, o.reward, o.terminated) for o in progress.outcomes] == [(0, 0, False), (1, 0, False)]
    # Both play from the first square on: who begins has the column first.
    assert [(each.total, each.score) for each in played_out(session, progress)] == [(1.0, 1.0), (-1.0, 0.0)]
    assert sorted(others.ended) == others.begun


def test_workers_take_the_other_seats_and_all_of_it_repeats(
    opened: Callable[..., LearnerSession], tmp_path: Path
) -> None:
    file = tmp_path / "pool.yaml"
    file.write_text(TREE_SEARCH)
    games = [
        Game(i, i, f"player_{1 + i % 2}", ("tree_search", "first_legal", "random")[i % 3]) for i in range(12)
    ]
    found: list[list[EpisodeResult]] = []
    for _ in range(2):
        session = opened("tictactoe_v3", [str(file), "random"])
        found.append(played_out(session, session.begin(games)))
    assert found[0] == found[1]
    assert [each.episode for each in found[0]] == list(range(12))
    assert not any(each.error for each in found[0])
    assert len({each.total for each in found[0]}) > 1


def many(path: Path, opponents: int) -> Path:
    """A pool of so many that play alike, each in a process of its own."""
    lines = [f"  p{i}: {{type: random}}\n" for i in range(opponents)]
    path.write_text("task: tictactoe_v3\npolicies:\n" + "".join(lines))
    return path


@pytest.mark.full
def test_a_training_against_many_keeps_so_many_workers(
    opened: Callable[..., LearnerSession], tmp_path: Path, offspring: Offspring
) -> None:
    """Who was met longest ago is ended, and plays the same when it is met again."""
    pool = [str(many(tmp_path / "pool.yaml", 6))]
    met = [0, 1, 2, 0, 3, 4, 5, 1, 0, 2]
    rounds = [[Game(10 * n + k, n, f"player_{1 + k}", f"p{i}") for k in range(2)] for n, i in enumerate(met)]

    def outcomes(**bound: int) -> tuple[list[EpisodeResult], list[set[str]]]:
        session = opened("tictactoe_v3", pool, **bound)
        found: list[EpisodeResult] = []
        alive: list[set[str]] = []
        for games in rounds:
            found += played_out(session, session.begin(games))
            alive.append({name for name in (f"p{i}" for i in range(6)) if offspring.workers(name)})
        session.close()
        return found, alive

    kept, all_alive = outcomes()
    assert max(map(len, all_alive)) == 6 and len({each.total for each in kept}) > 1
    found, alive = outcomes(most_workers=3)
    assert found == kept
    assert [len(names) for names in alive] == [1, 2, 3, 3, 3, 3, 3, 3, 3, 3]
    assert alive[4] == {"p0", "p2", "p3"}, "p1 was met before p0 was met again"


def test_workers_of_episodes_that_are_on_are_not_ended(
    opened: Callable[..., LearnerSession], tmp_path: Path
) -> None:
    session = opened("tictactoe_v3", [str(many(tmp_path / "pool.yaml", 4))], most_workers=2)
    games = [Game(i, i, "player_1", f"p{i}") for i in range(4)]
    over = played_out(session, session.begin(games))
    assert [each.error for each in over] == [""] * 4


def test_partners_are_on_one_side(opened: Callable[..., LearnerSession]) -> None:
    session = opened("simple_spread_v3", ["random"])
    assert session.seats == ["agent_0", "agent_1", "agent_2"]
    progress = session.begin([Game(0, 3, "agent_1", "random")])
    assert progress.decisions[0].agent_id == "agent_1"
    (over,) = played_out(session, progress)
    assert over.score is None
    assert over.total < 0


def test_seats_are_those_of_the_learner_s_kind(opened: Callable[..., LearnerSession]) -> None:
    session = opened("simple_speaker_listener_v4", ["random"], learner="listener_0")
    assert session.seats == ["listener_0"]
    assert session.begin([Game(0, 1, "listener_0", "random")]).decisions[0].agent_id == "listener_0"


def test_games_that_are_given_up_come_to_nothing(opened: Callable[..., LearnerSession]) -> None:
    session = opened("tictactoe_v3", ["random"])
    assert session.begin([Game(0, 1, "player_1", "random")]).decisions.keys() == {0}
    session.abandon()
    progress = session.begin([Game(1, 1, "player_1", "random")])
    assert progress.decisions.keys() == {1}
    assert [each.episode for each in progress.over] == []


def test_a_failure_of_somebody_else_is_told(opened: Callable[..., LearnerSession], tmp_path: Path) -> None:
    file = tmp_path / "pool.yaml"
    file.write_text(
        "task: tictactoe_v3\npolicies:\n"
        "  faulty: {worker_id: test_worker, settings: {fault: raise, times: 0}}\n"
        "  well: {type: random}\n"
    )
    session = opened("tictactoe_v3", [str(file)])
    games = [Game(0, 1, "player_1", "faulty"), Game(1, 1, "player_1", "well")]
    faulty, well = played_out(session, session.begin(games))
    assert (faulty.error[:8], faulty.score, well.error) == ("player_2", None, "")


@pytest.mark.parametrize(
    ("env_id", "pool", "keywords", "words"),
    [
        ("tictactoe_v3", ["random", "random"], {}, "two members of the pool are called random"),
        ("tictactoe_v3", ["nonsense"], {}, "not 'nonsense'"),
        ("tictactoe_v3", ["/nowhere/policy"], {}, "does not exist"),
        ("tictactoe_v3", [], {"learner": "player_9"}, "has no agent player_9"),
        ("tictactoe_v9", [], {}, "tictactoe_v9"),
    ],
)
def test_what_cannot_be_played_is_said_first(
    env_id: str, pool: list[str], keywords: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        open_session(env_id, pool, not_held, **keywords)


def test_a_file_is_asked_for_its_programs_and_people_stay_out(tmp_path: Path) -> None:
    file = tmp_path / "pool.yaml"
    (tmp_path / "some.asl").write_text("!go.\n")
    for player, words in (
        ("{type: bdi, settings: {program: some.asl}}", "has not been allowed. .* mosaic trust add /"),
        ("{type: human}", "a person cannot play in a training"),
    ):
        file.write_text(f"task: tictactoe_v3\npolicies:\n  a: {player}\n  b: {{type: random}}\n")
        with pytest.raises(UsageError, match=words):
            open_session("tictactoe_v3", [str(file)], not_held)


def test_no_key_is_looked_up_before_its_server_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    file = tmp_path / "pool.yaml"
    model = "client_name: custom, base_url: 'https://elsewhere.example/v1', api_key: 'env:NO_SUCH_KEY'"
    players = f"a: {{type: llm, settings: {{{model}}}}}\n  b: {{type: random}}"
    file.write_text(f"task: tictactoe_v3\npolicies:\n  {players}\n")
    with pytest.raises(UsageError, match=r"sends a secret to .* has not been allowed"):
        open_session("tictactoe_v3", [str(file)], not_held)
