"""Servers that a person describes in a ``server.toml``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gym_gui import envs
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.prompt_inputs import PromptInputs
from gym_gui.core.paths import data_dir
from gym_gui.envs.environment_registry import families
from gym_gui.envs.families.own_servers import read_description
from gym_gui.envs.remote_env import close_servers

_ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MOSAIC_DATA_DIR", str(tmp_path / "data"))
    families.cache_clear()
    yield
    close_servers()
    families.cache_clear()


def describe(text: str, name: str = "corridors") -> Path:
    folder = data_dir() / "environment_servers" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "server.toml").write_text(text)
    families.cache_clear()
    return folder / "server.toml"


def test_what_it_lists_is_a_family_that_speaks_for_itself() -> None:
    describe(
        f'title = "Corridors"\npath = ["{_ROOT}"]\n[environments]\n'
        '"Long-v0" = {entry = "tests.support.served_games:Corridor", arguments = {length = 7}, '
        'title = "A long corridor", summary = "Walk.", max_episode_steps = 50}\n'
        '"Short-v0" = "tests.support.served_games:Corridor"\n'
    )
    assert [spec.id for spec in envs.list_specs("corridors")] == ["corridors/Long-v0", "corridors/Short-v0"]
    environment = envs.make("corridors/Long-v0", render_mode="rgb_array", env_kwargs={})
    assert (environment.title, environment.summary) == ("A long corridor", "Walk.")
    assert environment.max_episode_steps == 50
    seen = environment.adapter.reset(seed=1)["agent_0"]
    assert environment.action_meanings("agent_0") == ("left", "stay", "right")
    assert environment.noop_action("agent_0") == 1
    view = PromptInputs(text=True, facts=True)
    assert "Walk to the end of the corridor." in environment.briefing("agent_0", view)
    shown = environment.show("agent_0", seen, view)
    assert shown.text == "You stand at 0 of 6."
    assert shown.facts == ("at(0)", "end(6)")
    picture = environment.picture()
    assert picture is not None
    assert picture.shape == (8, 56, 3)
    while environment.adapter.get_current_agents():
        assert environment.success() is False
        environment.adapter.step({"agent_0": 2})
    assert environment.success() is True
    environment.close()


def test_arguments_of_the_experiment_come_after_those_of_the_file() -> None:
    describe(
        f'path = ["{_ROOT}"]\n[environments]\n'
        '"C-v0" = {entry = "tests.support.served_games:Corridor", arguments = {length = 7}}\n'
    )
    environment = envs.make("corridors/C-v0", env_kwargs={"length": 3})
    environment.adapter.reset(seed=0)
    assert environment.adapter.observation_space("agent_0")["at"].n == 3
    with pytest.raises(UsageError, match="lenght"):
        envs.make("corridors/C-v0", env_kwargs={"lenght": 3})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "lists no environment"),
        ("title = ", "server.toml"),
        ('tilte = "x"\n[environments]\nA = "a:b"', "unknown key 'tilte'"),
        ('[environments]\nA = {api = "parallel"}', "'A' has no entry"),
        ('[environments]\nA = {entry = "a:b", api = "vector"}', "api 'vector' of 'A'"),
        (
            'python = "x"\naddress = "h:1"\n[environments]\nA = "a:b"',
            "only one of python",
        ),
        ('address = "h:1"\n[environments]\nA = "a:b"', "token_file"),
        ('step_s = 0\n[environments]\nA = "a:b"', "step_s must be a number of seconds"),
        ('one_at_a_time = 1\n[environments]\nA = "a:b"', "one_at_a_time must be true or false, not 1"),
        ('path = "x"\n[environments]\nA = "a:b"', "path is not a list"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_else_is_hidden(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_description(describe(text))
    describe('[environments]\n"A" = "a:b"', "good")
    assert "good" in families()
    assert "corridors" not in families()


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = describe('address = "localhost:1"\ntoken_file = "token"\n[environments]\nA = "a:b"')
    with pytest.raises(UsageError, match="token of corridors cannot be read"):
        envs.make("corridors/A")
    (file.parent / "token").write_text("a-token-of-some-length")
    (file.parent / "token").chmod(0o644)
    with pytest.raises(UsageError, match="can be read by others"):
        envs.make("corridors/A")
    (file.parent / "token").chmod(0o600)
    with pytest.raises(UsageError, match="nothing answers at localhost:1"):
        envs.make("corridors/A")
