"""An algorithm learns for one agent or for several; where there are others, that is told before it starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_gui.core.enums import SteppingParadigm
from gym_gui.core.errors import UsageError
from gym_gui.services.trainer.request import TrainRequest
from gym_gui.services.trainer.training_settings import agents_incompatibility, read_schemas, usual_algorithm
from gym_gui.services.trainings.training_choices import Trainer, algorithm_reason, environment_reason
from gym_gui.workers.discovery import discover
from gym_gui.workers.registry import WorkerTypeDefinition, WorkerTypeRegistry
from tests.support.training import search_trainer

ONE, TOGETHER, IN_TURN = (
    SteppingParadigm.SINGLE_AGENT,
    SteppingParadigm.SIMULTANEOUS,
    SteppingParadigm.SEQUENTIAL,
)


@pytest.fixture
def cleanrl() -> WorkerTypeDefinition:
    if not WorkerTypeRegistry.all():
        discover()
    return WorkerTypeRegistry.require("cleanrl_worker")


@pytest.mark.parametrize(
    ("algorithm", "env", "words"),
    [
        (
            "ppo",
            "simple_spread_v3",
            "ppo learns for one agent, but mpe2/simple_spread_v3 has several that act at once; "
            "these learn there: ippo, mappo, self_play",
        ),
        (
            "MAPPO",
            "CartPole-v1",
            "mappo learns for several agents, but CartPole-v1 has one; "
            "these learn there: ppo, ppo_lstm, dqn, c51, ddpg, td3, sac",
        ),
        (
            "ippo",
            "connect_four_v3",
            "ippo does not learn for agents that act in turn, as those of classic/connect_four_v3 do; "
            "these learn there: self_play",
        ),
    ],
)
def test_the_other_number_is_refused_with_those_that_can(
    cleanrl: WorkerTypeDefinition, algorithm: str, env: str, words: str
) -> None:
    with pytest.raises(UsageError) as caught:
        TrainRequest.checked(cleanrl, algo=algorithm, env=env)
    assert str(caught.value) == words


def test_the_right_number_is_taken(cleanrl: WorkerTypeDefinition) -> None:
    together = TrainRequest.checked(cleanrl, algo="ippo", env="simple_spread_v3")
    assert (together.algo, together.env_id) == ("ippo", "mpe2/simple_spread_v3")
    assert TrainRequest.checked(cleanrl, algo="ppo", env="CartPole-v1").algo == "ppo"


def test_what_only_making_it_would_tell_is_left_to_the_worker(
    cleanrl: WorkerTypeDefinition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``module:factory`` makes an environment of one agent or of several."""
    (tmp_path / "my_games.py").write_text("def Poles(): raise RuntimeError('made')\n")
    monkeypatch.syspath_prepend(tmp_path)
    for algorithm in ("ppo", "ippo"):
        assert TrainRequest.checked(cleanrl, algo=algorithm, env="my_games:Poles").algo == algorithm


def test_who_does_not_say_is_not_refused(tmp_path: Path) -> None:
    search = search_trainer(tmp_path)
    (schema,) = read_schemas(search).values()
    assert schema.paradigms == ()
    assert schema.learns_for(ONE) and schema.learns_for(TOGETHER)
    assert agents_incompatibility("search", read_schemas(search), "x", TOGETHER) == ""
    assert agents_incompatibility("unheard_of", read_schemas(search), "x", TOGETHER) == ""


def test_nobody_is_named_where_nobody_can(cleanrl: WorkerTypeDefinition) -> None:
    alone = {name: each for name, each in read_schemas(cleanrl).items() if each.for_one}
    wrong = agents_incompatibility("dqn", alone, "connect_four", IN_TURN)
    assert wrong == "dqn learns for one agent, but connect_four has several that act in turn"


def test_the_usual_algorithm_learns_there(cleanrl: WorkerTypeDefinition, tmp_path: Path) -> None:
    assert usual_algorithm(cleanrl, ONE) == "ppo"
    assert usual_algorithm(cleanrl, TOGETHER) == "ippo"
    assert usual_algorithm(cleanrl, None) == "ppo"
    assert usual_algorithm(search_trainer(tmp_path), TOGETHER) == "search"


def test_forms_offer_what_learns_there(cleanrl: WorkerTypeDefinition) -> None:
    from gym_gui import envs

    trainer = Trainer(cleanrl, read_schemas(cleanrl))
    offered = {
        paradigm: [
            name
            for name, each in trainer.algorithms.items()
            if not algorithm_reason(each, "discrete", "vector", paradigm)
        ]
        for paradigm in (ONE, TOGETHER, IN_TURN)
    }
    assert offered == {
        ONE: ["ppo", "ppo_lstm", "dqn", "c51"],
        TOGETHER: ["ippo", "mappo", "self_play"],
        IN_TURN: ["self_play"],
    }
    reasons = [
        algorithm_reason(trainer.algorithms[name], "", "", paradigm)
        for name, paradigm in (("ppo", TOGETHER), ("ippo", ONE), ("ippo", IN_TURN), ("self_play", ONE))
    ]
    assert reasons == [
        "for one agent; here several act at once",
        "for several agents at once; here there is one",
        "for several agents at once; here several act in turn",
        "for several agents; here there is one",
    ]
    assert environment_reason(trainer, envs.resolve("simple_spread_v3")) == ""
    assert environment_reason(trainer, envs.resolve("CartPole-v1")) == ""
    assert environment_reason(trainer, envs.resolve("connect_four_v3")) == ""
    alone = Trainer(cleanrl, {name: e for name, e in trainer.algorithms.items() if e.for_one})
    nobody = environment_reason(alone, envs.resolve("simple_spread_v3"))
    assert nobody == "several agents that act at once; no algorithm of CleanRL learns there"
