"""BALROG's environments: what is known without making one, and they themselves, installed from archives."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gym_gui import envs
from gym_gui.cli.installing.install_extras import install_environments
from gym_gui.core.errors import MissingDependencyError, UsageError
from gym_gui.core.interpreters import environment_folder
from gym_gui.envs import Environment
from gym_gui.envs.environment_registry import families
from tests.support.own_pythons import archive, episode, episode_elsewhere, installed, said_to_be_installed

ARCHIVES = ("balrog-0", "baba-", "minigrid-")
FORWARD = 2


def test_without_it_the_line_that_installs_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path))
    with pytest.raises(MissingDependencyError, match=r"BALROG is not installed.*mosaic envs install balrog$"):
        envs.resolve("balrog/babyai/goto")


def test_a_file_of_something_else_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "other-1.tar.gz").touch()
    with pytest.raises(UsageError, match=r"balrog does not need .*baba-….tar.gz, balrog-….tar.gz, mini"):
        install_environments("balrog", given=[tmp_path / "other-1.tar.gz"])


@pytest.fixture
def known(tmp_path: Path) -> Iterator[None]:
    """Nothing but BALROG's own list of tasks."""
    file = archive("balrog-0")
    with said_to_be_installed("balrog", tmp_path):
        config = environment_folder("balrog") / "lib/python3.11/site-packages/balrog/config/config.yaml"
        config.parent.mkdir(parents=True)
        with tarfile.open(file) as packed:
            found = next(name for name in packed.getnames() if name.endswith("config/config.yaml"))
            member = packed.extractfile(found)
            assert member is not None
            config.write_bytes(member.read())
        yield


@pytest.mark.usefixtures("known")
def test_its_tasks_are_those_of_its_own_configuration() -> None:
    specs = envs.list_specs("balrog")
    games = [spec.id.split("/")[1] for spec in specs]
    counts = {game: games.count(game) for game in dict.fromkeys(games)}
    expected = {"babyai": 5, "babaisai": 40, "textworld": 3, "crafter": 1, "nle": 1, "minihack": 8}
    assert counts == expected
    assert envs.resolve("balrog/babyai/BabyAI-MixedTrainLocal-v0/goto").id == "balrog/babyai/goto"
    assert envs.resolve("balrog/babaisai/env/make_win").id == "balrog/babaisai/make_win"
    family = families()["balrog"]
    goto = envs.resolve("balrog/babyai/pick_up_seq_go_to")
    assert family.title_of(goto) == "BALROG's BabyAI, pick_up_seq_go_to"
    assert family.summary(goto) == "Carry out a mission in one room, or two: pick up seq go to."
    assert family.title_of(envs.resolve("balrog/crafter/default")) == "BALROG's Crafter"


@pytest.fixture(scope="module")
def balrog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    files = [archive(start) for start in ARCHIVES]
    with installed("balrog", tmp_path_factory.mktemp("balrog"), files):
        yield


@pytest.fixture
def task(request: pytest.FixtureRequest, balrog: None) -> Iterator[Environment]:
    made = envs.make(f"balrog/{request.param}", render_mode="rgb_array")
    yield made
    made.close()


@pytest.mark.full
@pytest.mark.timeout(1200)
@pytest.mark.usefixtures("balrog")
class TestInstalled:
    @pytest.mark.parametrize(
        "name",
        [
            *("babyai/goto", "babyai/open", "babaisai/make_win", "crafter/default"),
            *("nle/NetHackChallenge-v0", "minihack/MiniHack-Corridor-R3-v0"),
        ],
    )
    def test_the_contract_is_kept(self, name: str) -> None:
        report = envs.check(f"balrog/{name}")
        assert report.ok, "\n".join(report.lines())

    @pytest.mark.parametrize(
        "name", ["babyai/pick_up_seq_go_to", "crafter/default", "minihack/MiniHack-Quest-Easy-v0"]
    )
    def test_a_seed_is_an_episode_in_every_process(self, name: str) -> None:
        told = episode(f"balrog/{name}", 5)
        assert told == episode(f"balrog/{name}", 5) == episode_elsewhere(f"balrog/{name}", 5)
        assert len({episode(f"balrog/{name}", seed, 1)[0] for seed in range(4)}) > 1

    @pytest.mark.parametrize("task", ["babyai/goto"], indirect=True)
    def test_it_is_told_as_balrog_tells_it(self, task: Environment) -> None:
        seen = task.adapter.reset(seed=7)["agent_0"]
        assert seen["instruction"].startswith(
            "You are an agent playing a simple navigation game. Your goal is to go"
        )
        assert seen["instruction"].endswith("PLAY!")
        assert (
            seen["long_term_context"].splitlines()[0].startswith("a wall ") and not seen["short_term_context"]
        )
        text = task.describer("agent_0").text("agent_0", seen)
        mission = seen["instruction"].split("Your goal is to ")[1].split(".")[0]
        assert text == f"Mission: {mission}\n\n{seen['long_term_context']}"
        assert task.action_meanings("agent_0")[FORWARD] == "go forward"
        assert task.default_action("agent_0") == FORWARD and task.noop_action("agent_0") is None
        picture = task.picture()
        assert picture is not None and picture.shape[2] == 3

    @pytest.mark.parametrize("task", ["babaisai/goto_win"], indirect=True)
    def test_its_default_is_a_no_op_where_it_is_one(self, task: Environment) -> None:
        assert task.action_meanings("agent_0")[0] == "idle"
        assert task.default_action("agent_0") == task.noop_action("agent_0") == 0

    @pytest.mark.parametrize("task", ["crafter/default"], indirect=True)
    def test_progress_is_its_score(self, task: Environment) -> None:
        task.adapter.reset(seed=3)
        assert task.scores({"agent_0": 0.0}) == {"agent": 0.0}
        sapling = list(task.action_meanings("agent_0")).index("Do")
        gained = 0.0
        for step in range(400):
            result = task.adapter.step({"agent_0": sapling if step % 2 else 1 + step // 2 % 4})
            gained += result.rewards["agent_0"] >= 0.9
            if gained or not task.adapter.get_current_agents():
                break
        assert gained == 1.0
        assert task.scores({"agent_0": 1.0}) == {"agent": pytest.approx(1 / 22)}
        assert task.family.success(task) is False

    def test_what_cannot_be_made_says_what_it_lacks(self) -> None:
        with pytest.raises(UsageError, match=r"games of TextWorld are not there .*textworld_games_path"):
            envs.make("balrog/textworld/coin_collector")
        with pytest.raises(UsageError, match="lacks its levels"):
            envs.make("balrog/minihack/MiniHack-Boxoban-Hard-v0")
        with pytest.raises(UsageError, match=r"config does not fit BALROG's config.yaml: .*stepps"):
            envs.make("balrog/babyai/goto", env_kwargs={"config": {"eval": {"stepps": 3}}})

    def test_a_text_adventure_is_played_with_games_that_are_there(self, tmp_path: Path) -> None:
        """Made by TextWorld's own generator, as those that BALROG fetches were."""
        import subprocess

        maker = environment_folder("balrog") / "bin" / "tw-make"
        folder = tmp_path / "games" / "coin_collector"
        folder.mkdir(parents=True)
        command = [
            str(maker),
            "tw-coin_collector",
            "--level",
            "3",
            "--seed",
            "1",
            "--output",
            str(folder / "a.z8"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        where = {"envs": {"textworld_kwargs": {"textworld_games_path": str(tmp_path / "games")}}}
        made = envs.make("balrog/textworld/coin_collector", env_kwargs={"config": where})
        seen = made.adapter.reset(seed=1)["agent_0"]
        assert "coin" in seen["instruction"]
        result = made.adapter.step({"agent_0": "look"})
        assert result.observations["agent_0"]["long_term_context"] != ""
        assert made.default_action("agent_0") == "help"
        made.close()
