"""A vision worker sends the picture that its slot asks for; a real model that sees answers it."""

from __future__ import annotations

import base64
import hashlib
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from pydantic import ValidationError

from gym_gui.controllers.engine.resolved_operator import resolve_operator
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.experiment_data import experiment_from_data
from mosaic_worker.spaces import Space
from mosaic_worker.worker import Decision, EpisodeStart, Slot
from tests.support.fake_model_server import FakeModelServer, Request
from tests.support.model_server import ModelServer
from tests.support.runs import Recorded, played_here
from vlm_worker.player import VlmPlayer
from vlm_worker.settings import VlmSettings

GRID = "MiniGrid-DoorKey-5x5-v0"


def experiment(url: str, task: str, *agents: str, **settings: Any) -> dict[str, Any]:
    """Two steps of one episode, everybody played by the model."""
    server = {"client_name": "custom", "base_url": url, "model_id": "m", "strategy": "naive", **settings}
    slot = {"worker_id": "vlm_worker", "type": "vlm", "settings": server}
    slot["on_invalid"] = {"then": "random_legal"}
    workers = dict.fromkeys(agents or ("agent",), slot)
    return {
        "operators": [{"id": "eyes", "task": task, "workers": workers}],
        "execution": {"num_episodes": 1, "seeds": [7], "max_steps": 2},
    }


async def seen(
    folder: Path, task: str = GRID, *agents: str, **settings: Any
) -> tuple[list[Request], Recorded]:
    """Requests of two turns to a server that always goes forward, and the run."""
    with FakeModelServer(lambda request: "forward") as server:
        recorded = await played_here(folder, experiment(server.url, task, *agents, **settings))
    return server.requests, recorded


def parts(request: Request) -> tuple[dict[str, Any], str]:
    """Picture and words of the turn."""
    *_, last = request.messages
    picture, words = last["content"]
    assert (picture["type"], words["type"]) == ("image_url", "text")
    return picture["image_url"], words["text"]


def picture_of(request: Request) -> tuple[Image.Image, bytes]:
    head, _, data = parts(request)[0]["url"].partition(",")
    assert head == "data:image/png;base64"
    content = base64.b64decode(data, validate=True)
    return Image.open(io.BytesIO(content)).convert("RGB"), content


async def test_the_picture_is_the_frame_with_the_words_beside_it(tmp_path: Path) -> None:
    requests, recorded = await seen(tmp_path, image_size=160)
    assert len(requests) == 2
    picture, content = picture_of(requests[0])
    assert picture.size == (160, 160)
    reference, words = parts(requests[0])
    assert set(reference) == {"url"} and "key" in words and "<observation>" in words
    assert "Your actions" in requests[0].words
    run = recorded.open().operators["eyes"]
    assert [step.action for step in run.steps()] == [2, 2]
    call = next(iter(run.calls()))
    kept = str(call["messages"])
    assert hashlib.sha256(content).hexdigest() in kept and "base64" not in kept
    assert {"width": 160, "height": 160}.items() <= call["messages"][-1]["content"][0]["image"].items()


async def test_view_grid_and_detail_are_as_the_slot_asks(tmp_path: Path) -> None:
    (plain, *_), _ = await seen(tmp_path / "a", image_size=160)
    (ruled, *_), _ = await seen(tmp_path / "b", image_size=160, image_grid=True, image_detail="low")
    (whole, *_), _ = await seen(tmp_path / "c", "FrozenLake-v1", image_size=160, image_view="whole")
    assert picture_of(plain)[1] != picture_of(ruled)[1], "two pictures of one state"
    assert parts(ruled)[0]["detail"] == "low"
    assert "columns to the right" in ruled.words and "columns to the right" not in plain.words
    assert "of what you see yourself" in plain.words and "you are the red triangle" in plain.words
    assert "of the whole game" in whole.words


@pytest.mark.parametrize(
    ("task", "agents", "view", "why", "fix"),
    [
        (GRID, ("agent",), "whole", "agent_0 may not see", "image_view 'egocentric'"),
        (
            "leduc_holdem_v4",
            ("player_0", "player_1"),
            "whole",
            "player_0 may not see",
            "image_view 'egocentric'",
        ),
        ("mpe2/simple_crypto_v3", ("eve_0", "bob_0", "alice_0"), "egocentric", "no picture", "that takes"),
    ],
)
def test_what_a_seat_may_not_see_is_refused_before_anything_starts(
    task: str, agents: tuple[str, ...], view: str, why: str, fix: str
) -> None:
    asked = experiment("http://127.0.0.1:1", task, *agents, image_view=view)
    (operator,) = experiment_from_data(asked).operators
    with pytest.raises(UsageError) as refused:
        resolve_operator(operator)
    assert why in str(refused.value) and fix in str(refused.value)


async def test_without_words_only_the_picture_tells_what_is_seen(tmp_path: Path) -> None:
    requests, _ = await seen(tmp_path, with_text=False)
    words = parts(requests[0])[1]
    assert "The picture shows it." in words and "key" not in words


async def test_what_cannot_be_said_in_words_is_shown(tmp_path: Path) -> None:
    requests, _ = await seen(tmp_path, "cooperative_pong_v6", "paddle_0", "paddle_1", image_size=64)
    assert len(requests) == 4
    assert "which words do not show" in parts(requests[0])[1]
    assert max(picture_of(requests[0])[0].size) == 64


async def test_a_slot_that_draws_no_picture_is_refused(tmp_path: Path) -> None:
    blind = experiment("http://127.0.0.1:1", "open_spiel/tic_tac_toe", "player_0", "player_1")
    with pytest.raises(UsageError, match="needs image"):
        await played_here(tmp_path, blind)


async def test_a_real_model_that_sees_answers_and_what_it_says_is_recorded(
    tmp_path: Path, model_server: ModelServer
) -> None:
    asked = experiment(
        model_server.url,
        GRID,
        client_name="transformers",
        model_id=model_server.vision_model,
        image_size=56,
        max_tokens=8,
    )
    run = (await played_here(tmp_path, asked)).open().operators["eyes"]
    (episode,), calls = list(run.episodes()), list(run.calls())
    assert episode.status == "completed" and len(calls) == 2
    for call in calls:
        assert not call["error"] and call["tokens"]["input"] > 16 and call["tokens"]["output"] > 0
        assert call["messages"][-1]["content"][0]["image"]["width"] == 56


@pytest.mark.parametrize("client", ["custom", "anthropic"])
async def test_pictures_of_the_last_turns_are_shown_again(client: str) -> None:
    """Of five turns the last three are told again, and the last two of these have their pictures."""
    space = Space.from_json({"kind": "Discrete", "dtype": "int64", "n": 2, "start": 0})
    with FakeModelServer(lambda request: "<action>left</action>") as server:
        given = {"client_name": client, "base_url": server.url, "model_id": "m", "retries": 0}
        given |= {"history": 3, "image_history": 2}
        slot = Slot(0, "agent_0", GRID, space, space, given, ("left", "right"), secrets={"api_key": "k"})
        player = VlmPlayer(slot, VlmSettings.model_validate(given), lambda record: None)
        player.reset(EpisodeStart(0, 7))
        for step in range(5):
            image = (f"picture {step}".encode(), "image/png")
            decision = Decision(1, 0, step, 7, None, None, 0, "", f"words {step}")._replace(image=image)
            assert (await player.decide(decision)).actions == [0]
        await player.caller.aclose()
    told = [message for message in server.requests[-1].messages if message["role"] == "user"]
    assert [pictures(message["content"]) for message in told] == [
        [],
        ["picture 2"],
        ["picture 3"],
        ["picture 4"],
    ]
    assert all(f"words {step}" in str(message) for step, message in enumerate(told, 1))
    before = [message for message in server.requests[0].messages if message["role"] == "user"]
    assert [pictures(message["content"]) for message in before] == [["picture 0"]]


def pictures(content: str | list[dict[str, Any]]) -> list[str]:
    """The pictures of a message, of either interface, as their bytes read."""
    found = [part for part in content if isinstance(part, dict) and part["type"] in ("image", "image_url")]
    data = [p["source"]["data"] if "source" in p else p["image_url"]["url"].partition(",")[2] for p in found]
    return [base64.b64decode(each).decode() for each in data]


def test_pictures_of_turns_that_are_not_told_again_are_refused() -> None:
    with pytest.raises(ValidationError, match="set history to 3 or more"):
        VlmSettings.model_validate({"client_name": "ollama", "history": 2, "image_history": 3})


@pytest.mark.parametrize(
    ("task", "rename", "why"),
    [
        ("connect_four_v3", "actions", "shows names that the text would change"),
        ("MiniGrid-Empty-5x5-v0", "objects", "Other names"),
    ],
)
def test_what_a_picture_shows_keeps_its_name(task: str, rename: str, why: str) -> None:
    agents = ("player_0", "player_1") if "four" in task else ("agent_0",)
    (operator,) = experiment_from_data(
        experiment("http://127.0.0.1:1", task, *agents, rename=rename)
    ).operators
    with pytest.raises(UsageError, match=why):
        resolve_operator(operator)
