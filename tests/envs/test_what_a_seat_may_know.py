"""No seat is told what only others know: it is changed, and all that the seat is told stays the same.

"Told" is the whole prompt of a language model, byte for byte, with earlier turns, legal actions, what its
last action earned, and the picture for its seat where there is one.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from gym_gui import envs
from gym_gui.core.types import AgentID, Decision
from gym_gui.envs import Environment
from gym_gui.envs.environment_registry import families, family_of, list_specs, trouble
from gym_gui.envs.families.served import OwnPythonFamily
from gym_gui.envs.spec import EnvSpec
from tests.support.fake_model_server import FakeModelServer
from tests.support.hidden import ALONE, BEHIND, SEALED, SEEN_BY_ALL, Hidden, hidden, reachable
from tests.support.own_pythons import installed
from tests.support.seats_told import LATE, Moves, Reader, Table

FEW: Mapping[str, Sequence[str]] = {
    "multigrid": ("MosaicMultiGrid-S-2v2-IndAgObs-v1",),
    "ini_multigrid": ("MultiGrid-RedBlueDoors-6x6-v0",),
    "mpe2": ("mpe2/simple_adversary_v3", "mpe2/simple_speaker_listener_v4"),
    "openspiel": tuple(f"open_spiel/{name}" for name in ("kuhn_poker", "liars_dice", "hanabi")),
    "pettingzoo": (
        *("classic/leduc_holdem_v4", "classic/rps_v2"),
        *("butterfly/knights_archers_zombies_v11", "sisl/pursuit_v5"),
    ),
    "lbforaging": ("Foraging-8x8-2p-2f-coop-v3", "Foraging-2s-8x8-3p-3f-v3"),
    "rware": ("rware-tiny-2ag-v2",),
    "highway": ("intersection-multi-agent-v2",),
    "vmas": ("vmas/navigation",),
    "vizdoom": (),
}
"""Of families with many alike, those that every test run looks at; the full one looks at all."""
OPEN = (
    *(f"classic/{game}_v" for game in ("chess", "connect_four", "go", "tictactoe")),
    *("butterfly/cooperative_pong_v", "atari/", "mpe2/simple_v", "mpe2/collect_treasure_v"),
)
"""All of their seats see everything: a board, a screen that all share, a world with all its places."""
_LENGTH = 5
"""Questions to the seat in a game; in the middle of them something is changed."""


APART: frozenset[str] = frozenset({"open_spiel/repeated_leduc_poker", "open_spiel/tarok"})
"""In the first all are told who has won a hand, which its numbers leave out; the second deals by a generator
of its own, so that no game can be played twice."""
NEVER_TWICE = re.compile(r"VizdoomMulti\w+-[34]p-")
"""Nor can these: more than two engines are not in step to the tic."""
ONCE: frozenset[str] = frozenset({"melting_pot"})
"""Families in which no game can be played twice: Melting Pot goes through tables of its Lua in an order that
no seed sets. What is hidden is changed in the game itself, while a question stands."""


def hiding() -> list[EnvSpec]:
    """Every environment whose seats hide something from each other, what cannot be made here included."""
    several = [spec for spec in list_specs() if spec.api != "gymnasium"]
    return [spec for spec in several if family_of(spec).hidden_information(spec)]


HIDING = hiding()
SOLO = re.compile(r"-(?:1v0|0v1)-")
"""Fields on which one player trains alone: there is no other seat to hide anything from."""


def tried(specs: Sequence[EnvSpec]) -> list[Any]:
    """Ids to go through; what cannot be made here is skipped, and named."""
    reasons = {spec.id: trouble(spec) for spec in specs}
    return [
        pytest.param(task, marks=pytest.mark.skip(reason=reason)) if reason else task
        for task, reason in reasons.items()
    ]


class Moment(NamedTuple):
    """A question to the seat.

    Attributes:
        question: As it was asked.
        told: All that the seat was told with it.
        sees: What the environment itself shows the seat.
        moves: What everybody played from then on, until the next one.
    """

    question: Decision
    told: bytes
    sees: Any
    moves: list[Moves]


def same(first: Any, second: Any) -> bool:
    """Whether two observations are equal."""
    if isinstance(first, Mapping):
        return all(same(first[key], second[key]) for key in first)
    return bool(np.array_equal(np.asarray(first), np.asarray(second)))


def game(table: Table, how: Hidden, seed: int, length: int = _LENGTH) -> tuple[list[Moves], list[Moment]]:
    """A game of random moves: those before the seat is first asked, and its questions."""
    draw, first, moments = np.random.default_rng(seed), list[Moves](), list[Moment]()
    while table.asked and len(moments) <= length:
        question = table.question
        if question is not None:
            sees = copy.deepcopy(how.sees(table.environment, question.agent_id))
            moments.append(Moment(question, table.told(), sees, []))
        moves = table.moves(draw)
        (moments[-1].moves if moments else first).append(moves)
        table.play(moves)
    return first, moments


def unnoticed(
    table: Table, how: Hidden, number: int, first: list[Moves], moments: list[Moment]
) -> int | None:
    """Play a game again with one thing changed in its midst.

    Returns:
        How many questions the seat was told alike from then on, before the environment itself showed it
        the change: 0 where it does at once, or nothing was found to change; ``None`` where there are no
        more changes.
    """
    midst, compared, environment = (len(moments) - 1) // 2, 0, table.environment
    for moves in first:
        table.play(moves)
    for at, moment in enumerate(moments):
        question = table.question
        if question is None:
            break
        seat = question.agent_id
        if at == midst:
            changes = list(how.changes(environment, seat))
            if number >= len(changes):
                return None
            if changes[number]() is False or not same(how.sees(environment, seat), moment.sees):
                return 0
            table.ask_anew()
            assert table.told() == moment.told, f"a change is told to {seat}"
            compared = 1
        elif at > midst:
            if how.excused and not same(question.observation, moment.question.observation):
                break
            if not same(how.sees(environment, seat), moment.sees):
                break
            mask, before = question.action_mask, moment.question.action_mask
            if mask is not None and before is not None and not np.array_equal(mask, before):
                break  # the environment itself says so; as it does to every program that plays
            assert table.told() == moment.told, f"a change is told to {seat}"
            compared += 1
        else:
            assert table.told() == moment.told, "the same game is told in another way"
        if not all(_played(table, moves) for moves in moment.moves):
            break
    return compared


def unnoticed_in_play(table: Table, how: Hidden, seed: int, length: int = _LENGTH) -> int:
    """Play one game of random moves, and change things while the seat is asked.

    Returns:
        How many changes there were after which the seat was told its question alike.
    """
    draw, asked, compared = np.random.default_rng(seed), 0, 0
    while table.asked and asked <= length:
        question = table.question
        if question is not None:
            asked += 1
            seat, told = question.agent_id, table.told()
            sees = copy.deepcopy(how.sees(table.environment, seat))
            for change in how.changes(table.environment, seat):
                if change() is False or not same(how.sees(table.environment, seat), sees):
                    break
                table.ask_anew()
                assert table.told() == told, f"a change is told to {seat}"
                compared += 1
        table.play(table.moves(draw))
    return compared


def _played(table: Table, moves: Moves) -> bool:
    if not table.may_play(moves):
        return False
    table.play(moves)
    return True


def compared(
    spec: EnvSpec,
    seeds: Sequence[int],
    changes: int = 4,
    enough: int = 1,
    *,
    length: int = _LENGTH,
    server: FakeModelServer | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    **settings: Any,
) -> dict[AgentID, int]:
    """How many questions each kind of seat was told alike, over all changes behind its back.

    Args:
        spec: What is played.
        seeds: Of games.
        changes: Most of them in a game.
        enough: So many questions of a seat are; games may be over at once.
        length: Questions to the seat in a game.
        server: Answers for the model, as :class:`Reader` has it.
        env_kwargs: Of the environment.
        settings: Of the seat.
    """
    how = hidden(spec)
    assert how is not None
    stage = Stage(spec, env_kwargs or {})
    found: dict[AgentID, int] = {}
    for seat in _kinds(stage.get().adapter.possible_agents):
        found[seat] = 0
        with Reader(stage.get(), seat, settings, server) as reader:
            for seed in seeds:
                if found[seat] >= enough:
                    break
                if spec.family in ONCE:
                    found[seat] += unnoticed_in_play(Table(stage.get(), reader, seed), how, seed, length)
                else:
                    alike = _alike(stage, reader, how, seed, length)
                    found[seat] += sum(itertools.islice(alike, changes))
    stage.get().close()
    return found


def made(spec: EnvSpec, env_kwargs: Mapping[str, Any] | None = None) -> Environment:
    """An environment that draws where it can."""
    drawn = "rgb_array" in family_of(spec).render_modes(spec)
    return envs.make(spec, render_mode="rgb_array" if drawn else None, env_kwargs=env_kwargs)


class Stage:
    """Gives an environment for each game, the same one where it may be used again."""

    def __init__(self, spec: EnvSpec, env_kwargs: Mapping[str, Any]) -> None:
        self._spec, self._env_kwargs = spec, env_kwargs
        self._made = made(spec, env_kwargs)

    def get(self) -> Environment:
        """An environment that the games before have left no trace in."""
        if not self._made.reusable:
            self._made.close()
            self._made = made(self._spec, self._env_kwargs)
        return self._made


def _alike(stage: Stage, reader: Reader, how: Hidden, seed: int, length: int) -> Iterator[int]:
    first, moments = game(Table(stage.get(), reader, seed), how, seed, length)
    if not moments:
        return
    number = 0
    while (alike := unnoticed(Table(stage.get(), reader, seed), how, number, first, moments)) is not None:
        yield alike
        number += 1


def _kinds(agents: Sequence[AgentID]) -> list[AgentID]:
    """The first of each kind of agent, and the last where all are of one."""
    kinds = {agent.rpartition("_")[0]: agent for agent in reversed(agents)}
    return list(kinds.values()) if len(kinds) > 1 else list(dict.fromkeys((agents[0], agents[-1])))


def _few(spec: EnvSpec) -> bool:
    return spec.id in FEW.get(spec.family, (spec.id,))


@pytest.mark.parametrize("task", tried([spec for spec in HIDING if _few(spec)]))
def test_a_seat_is_told_the_same_whatever_others_hide(task: str) -> None:
    found = compared(envs.resolve(task), range(1, 20))
    assert found and all(found.values()), f"nothing could be changed: {found}"


@pytest.mark.full
@pytest.mark.parametrize(
    "task",
    tried([s for s in HIDING if s.id not in APART and not (SOLO.search(s.id) or NEVER_TWICE.match(s.id))]),
)
def test_a_seat_is_told_the_same_in_more_games(task: str) -> None:
    spec = envs.resolve(task)
    found = compared(spec, range(1, 8), changes=99, enough=20)
    if spec.family == "openspiel" and not any(found.values()):
        pytest.skip("no other state was found that is the same to the seat")
    # Who signals first knows all there is.
    enough = any if spec.family == "openspiel" else all
    assert found and enough(found.values()), f"nothing could be changed: {found}"


@pytest.mark.full
def test_a_seat_that_sees_a_part_of_the_screen_is_told_of_that_part_alone() -> None:
    spec = envs.resolve("knights_archers_zombies_v11")
    found = compared(spec, range(1, 3), changes=99, enough=10, env_kwargs={"obs_method": "image"})
    assert found and all(found.values()), f"nothing could be changed: {found}"


GAMES_OF_WORDS = (
    *("Battleship", "Briscola", "ColonelBlotto", "GameOfPureStrategy", "GermanWhist", "Golf", "HighSociety"),
    *("IndianPoker", "IteratedMatchingPennies", "IteratedPrisonersDilemma", "IteratedRockPaperScissors"),
    *("IteratedTwoThirdsAverage", "IteratedUltimatumGame", "KuhnPoker", "LiarsDice", "MemoryGame", "Poker"),
    *("SimpleBlindAuction", "SimpleNegotiation", "Snake", "SpiteAndMalice", "Stratego", "Surround", "Taboo"),
    *("TruthAndDeception", "TwoDollar"),
)
"""One of each kind; those that need NLTK's words are left out."""
INSTALLED: Mapping[str, Sequence[str]] = {
    "textarena": tuple(f"textarena/{name}-v0" for name in GAMES_OF_WORDS),
    "pgx": ("pgx/kuhn_poker", "pgx/leduc_holdem", "pgx/sparrow_mahjong"),
    "jumanji": tuple(
        f"jumanji/{name}"
        for name in (
            *("Cleaner-v0", "Connector-v3", "LevelBasedForaging-v0", "MMST-v0", "RobotWarehouse-v0"),
            *("MultiCVRP-v0", "SearchAndRescue-v0"),
        )
    ),
    "melting_pot": (
        *("melting_pot/clean_up", "melting_pot/prisoners_dilemma_in_the_matrix__repeated"),
        *("melting_pot/hidden_agenda", "melting_pot/paintball__capture_the_flag"),
    ),
}
"""What is looked at of families with an interpreter of their own: all that hides, or one of each kind."""
_LONG_S = 1800
"""Some are compiled before the first episode."""


@pytest.fixture(scope="module")
def family(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Installed as a person does it, into a data folder of the tests' own."""
    name: str = request.param
    behind = reachable(families()[name]) if name in BEHIND else contextlib.nullcontext()
    with installed(name, tmp_path_factory.mktemp(name)), behind:
        yield name


@pytest.mark.full
@pytest.mark.timeout(_LONG_S)
class TestFamiliesThatAreInstalled:
    @pytest.mark.parametrize("family", INSTALLED, indirect=True)
    def test_each_environment_says_whether_all_is_seen(self, family: str) -> None:
        hide = [spec for spec in families()[family].specs() if family_of(spec).hidden_information(spec)]
        assert all(hidden(spec) is not None and spec.api != "gymnasium" for spec in hide)
        if family != "textarena" and family != "melting_pot":
            assert {spec.id for spec in hide} == set(INSTALLED[family])

    @pytest.mark.parametrize(
        ("family", "task"),
        [(name, task) for name, tasks in INSTALLED.items() for task in tasks],
        indirect=["family"],
    )
    def test_it_tells_no_other_seat(self, family: str, task: str) -> None:
        spec = envs.resolve(task)
        assert family_of(spec).hidden_information(spec)
        found = compared(spec, range(1, 9), changes=8, enough=6)
        assert any(found.values()), f"nothing could be changed: {found}"

    @pytest.mark.parametrize(
        ("family", "task"), [("overcooked", "overcooked/coordination_ring")], indirect=["family"]
    )
    def test_what_one_seat_sees_every_seat_sees(self, family: str, task: str) -> None:
        assert family in SEEN_BY_ALL
        spec = envs.resolve(task)
        assert not family_of(spec).hidden_information(spec)
        shown = _shown_together(spec, steps=200)
        for seat in shown[0]:
            for other in shown[0]:
                known: dict[str, str] = {}
                for at in shown:
                    assert known.setdefault(at[seat], at[other]) == at[other], (
                        f"{other} sees what {seat} does not"
                    )


def _shown_together(spec: EnvSpec, steps: int) -> list[dict[AgentID, str]]:
    """What all seats are shown at the same moments of random play."""
    environment, draw = made(spec), np.random.default_rng(0)
    adapter, shown = environment.adapter, list[dict[AgentID, str]]()
    try:
        seen = adapter.reset(seed=0)
        for _ in range(steps):
            agents = adapter.get_current_agents()
            if not agents:
                break
            shown.append({agent: np.asarray(seen[agent]).tobytes().hex() for agent in agents})
            moves = {agent: int(draw.integers(adapter.action_space(agent).n)) for agent in agents}
            seen = adapter.step(moves).observations
    finally:
        environment.close()
    return shown


_MASKED = ("leduc_holdem_v4", "open_spiel/phantom_ttt")
_TEAMS = ("mpe2/simple_adversary_v3", "MosaicMultiGrid-S-2v2-IndAgObs-v1")


@pytest.mark.parametrize(
    "task",
    [
        *("leduc_holdem_v4", "mpe2/simple_adversary_v3"),
        *(pytest.param(task, marks=pytest.mark.full) for task in (_MASKED[1], _TEAMS[1])),
    ],
)
def test_no_other_channel_tells_what_others_hide(task: str) -> None:
    """Refusals (of no action, an illegal one, a late one), what team-mates say, earlier turns, own notes."""
    settings = {"history": 2, "summary": True, "talk": True}
    with FakeModelServer() as server:
        found = compared(envs.resolve(task), range(1, 6), changes=2, length=9, server=server, **settings)
        sent = str([request.messages[1:] for request in server.requests])
    assert found and all(found.values()), f"nothing could be changed: {found}"
    assert "what others hide" in sent and "99" in sent and LATE in sent, "no answer was refused"
    if task in _MASKED:
        assert re.search(r"legal|number \d names no action here", sent), "no illegal action was refused"
    if task in _TEAMS:
        assert "I have chosen" in sent and "write notes" in sent, "nothing was heard or summed up"


def test_rewards_that_are_told_nevertheless_betray_it() -> None:
    """That seats are told the same is no accident: where one is told rewards, the target shows in them."""
    with pytest.raises(AssertionError, match="a change is told"):
        compared(envs.resolve("mpe2/simple_crypto_v3"), range(1, 6), enough=99, tell_rewards="always")


def test_every_environment_for_several_is_looked_at_or_open() -> None:
    for spec in list_specs():
        if spec.api == "gymnasium":
            continue
        if spec.family in (*BEHIND, *SEEN_BY_ALL) and not family_of(spec).hidden_information(spec):
            continue  # the family's own table has each game that is open
        if spec.family == "openspiel" and spec.traits["information"] == "PERFECT_INFORMATION":
            assert not family_of(spec).hidden_information(spec)
        elif not spec.id.startswith(OPEN):
            assert family_of(spec).hidden_information(spec), f"{spec.id}: who says that all is seen?"
            assert hidden(spec) is not None, f"{spec.id}: no rule says what its seats hide"


def test_every_family_with_an_interpreter_of_its_own_says_what_its_seats_hide() -> None:
    """It is looked at where it lives, has one seat, is open, or its reason stands in one table."""
    for name, family in families().items():
        if isinstance(family, OwnPythonFamily):
            said = [name in BEHIND, name in ALONE, name in SEEN_BY_ALL, name in SEALED]
            assert said.count(True) == 1, f"{name}: what do its seats hide?"


@pytest.mark.parametrize(
    "task",
    ["mpe2/simple_crypto_v3", "MosaicMultiGrid-S-1v1-IndAgObs-v1", "rps_v2", "open_spiel/matrix_rps"],
)
def test_a_choice_of_the_same_round_is_not_told(task: str) -> None:
    """Where all choose at once and are asked in turn, who is asked later learns nothing."""
    spec = envs.resolve(task, api="aec")
    pair = [made(spec) for _ in range(2)]
    last = pair[0].adapter.possible_agents[-1]
    reader = Reader(pair[0], last)
    tables = [Table(environment, reader, 3) for environment in pair]
    for choice, table in enumerate(tables):
        while table.question is None:
            table.play({each.agent_id: choice for each in table.asked})
    assert tables[0].told() == tables[1].told()


def test_tries_that_nobody_sees_are_not_counted() -> None:
    """In phantom tic-tac-toe a taken square may be tried; whose it is hears nothing of that."""
    pair = [envs.make("open_spiel/phantom_ttt") for _ in range(2)]
    reader = Reader(pair[0], "player_0")
    told: list[bytes] = []
    for environment, replies in zip(pair, ((0,), (4, 0)), strict=True):
        table = Table(environment, reader, 1)
        table.told()
        table.play({"player_0": 4})
        for reply in replies:
            table.play({"player_1": reply})
        told.append(table.told())
    assert told[0] == told[1]


def test_cards_that_were_folded_are_not_shown_when_the_hand_is_over() -> None:
    environment = envs.make("open_spiel/repeated_leduc_poker")
    environment.adapter.reset(seed=1)
    told: list[str] = []
    for others_card in (1, 2):
        state = environment.env.game_state.get_game().new_initial_state()
        for card in (0, others_card):
            state.apply_action(card)
        for word in ("Raise", "Fold"):
            words = {state.action_to_string(action): action for action in state.legal_actions()}
            state.apply_action(words[word])
        environment.env.game_state = state
        told.append(environment.describer("player_0").text("player_0", None))
    environment.close()
    assert told[0] == told[1] and "finished" in told[0]
