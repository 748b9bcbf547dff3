"""OpenSpiel as a family: what is listed, what is found beside it, and games of each kind of turn."""

from __future__ import annotations

from typing import Any

import pytest

from gym_gui import envs
from gym_gui.core.errors import UnknownNameError, UsageError
from gym_gui.envs.environment_registry import family_of
from tests.envs.test_what_a_seat_may_know import compared

MADE = (
    "misere(game=tic_tac_toe())",
    "turn_based_simultaneous_game(game=goofspiel(num_cards=4,imp_info=True))",
    "coop_to_1p(game=tiny_hanabi())",
    "add_noise(game=kuhn_poker(),epsilon=0.1,seed=1)",
    "repeated_game(stage_game=matrix_pd(),num_repetitions=5)",
    "start_at(game=tic_tac_toe(),history=4;0)",
    "zerosum(game=bargaining())",
    "normal_form_extensive_game(game=kuhn_poker())",
    "restricted_nash_response(game=kuhn_poker(),fixed_player=0,p=0.5)",
    "cached_tree(game=kuhn_poker())",
    "goofspiel(num_cards=4)",
)
pyspiel: Any = pytest.importorskip("pyspiel")
UNPLAYED = {"crossword", "efg_game", "nfg_game", "repeated_poker"}
"""The first promises observations that it does not have, two are read from files, and the last cannot be made
of a string."""


def test_every_game_is_listed_or_made_of_others_or_said_to_be_none() -> None:
    listed = {spec.id.removeprefix("open_spiel/") for spec in envs.list_specs("openspiel")}
    made = {name.partition("(")[0] for name in MADE}
    fields = {
        game.short_name
        for game in pyspiel.registered_games()
        if game.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD
    }
    known = {game.short_name for game in pyspiel.registered_games()}
    assert known - listed == (made - listed) | fields | UNPLAYED
    assert not listed & (fields | UNPLAYED)


@pytest.mark.parametrize("name", MADE)
def test_a_game_that_is_made_of_others_keeps_the_contract(name: str) -> None:
    report = envs.check(f"open_spiel/{name}", steps=40)
    assert report.ok, "\n".join(report.lines())


@pytest.mark.parametrize(
    "name", ["add_noise(game=kuhn_poker(),epsilon=0.1,seed=1)", "cached_tree(game=kuhn_poker())"]
)
def test_what_is_hidden_in_the_game_beneath_stays_so(name: str) -> None:
    spec = envs.resolve(f"open_spiel/{name}")
    assert family_of(spec).hidden_information(spec)
    found = compared(spec, range(1, 6))
    assert found and any(found.values()), f"nothing could be changed: {found}"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("misere(game=nothing())", "OpenSpiel cannot make misere"),
        ("efg_game(filename=/etc/hosts)", "from a file"),
        ("mfg_garnet(size=3)", "a mean-field game"),
    ],
)
def test_what_cannot_be_made_is_said(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        envs.resolve(f"open_spiel/{name}")
    with pytest.raises(UnknownNameError):
        envs.resolve("open_spiel/no_such_game")


def test_an_action_that_is_not_legal_is_refused_before_it_takes_the_process_down() -> None:
    report = envs.check("open_spiel/negotiation", steps=20)
    assert report.ok, "\n".join(report.lines())
    assert "an illegal action is refused" in report["masks"].detail
