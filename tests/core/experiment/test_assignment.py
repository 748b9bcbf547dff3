"""Who plays a slot: spellings, rules, and secrets that must not be written."""

from __future__ import annotations

import dataclasses

import pytest

from gym_gui.core.config import OnInvalid, WorkerAssignment
from gym_gui.core.errors import ExperimentError
from gym_gui.core.experiment import aliases
from gym_gui.core.secret_refs import is_secret_key


def refusal(call: object, *args: object, **kwargs: object) -> str:
    with pytest.raises(ExperimentError) as caught:
        call(*args, **kwargs)  # type: ignore[operator]
    message = str(caught.value)
    assert "\n" not in message
    return message


class TestWorkerAssignment:
    @pytest.mark.parametrize(
        ("worker_id", "worker_type", "expected"),
        [
            ("cleanrl", "", ("cleanrl_worker", "rl", {})),
            ("rllib", "rl", ("ray_worker", "rl", {})),
            ("llm_worker", "", ("mosaic_llm_worker", "llm", {})),
            ("operators", "", ("operators_worker", "baseline", {})),
            ("random_worker", "random", ("operators_worker", "baseline", {"behavior": "random"})),
            ("passive_worker", "", ("operators_worker", "baseline", {"behavior": "noop"})),
            ("pettingzoo_worker", "", ("operators_worker", "baseline", {"behavior": "random"})),
            ("", "passive", ("operators_worker", "baseline", {"behavior": "noop"})),
            ("", "random", ("operators_worker", "baseline", {"behavior": "random"})),
            ("", "baseline", ("operators_worker", "baseline", {})),
            ("", "rl", ("cleanrl_worker", "rl", {})),
            ("", "human", ("human_worker", "human", {})),
            ("", "llm", ("mosaic_llm_worker", "llm", {})),
            ("", "vlm", ("vlm_worker", "vlm", {})),
            ("my_worker", "planner", ("my_worker", "planner", {})),
            ("my_worker", "random", ("my_worker", "baseline", {})),
        ],
    )
    def test_spellings(self, worker_id: str, worker_type: str, expected: tuple[str, str, object]) -> None:
        player = WorkerAssignment(worker_id, worker_type)
        assert (player.worker_id, player.worker_type, player.settings) == expected

    @pytest.mark.parametrize("key", ["checkpoint", "policy_path", "model_path"])
    def test_checkpoint_has_one_name(self, key: str) -> None:
        assert WorkerAssignment("cleanrl", settings={key: "m.pt"}).settings == {"checkpoint": "m.pt"}

    @pytest.mark.parametrize("name", aliases.NO_WORKERS)
    def test_what_is_no_worker_here_says_what_it_means(self, name: str) -> None:
        assert aliases.NO_WORKERS[name] in refusal(WorkerAssignment, name)
        assert WorkerAssignment(name, "rl").worker_id == name, "a user's own worker may be called so"

    def test_two_checkpoints_that_differ(self) -> None:
        settings = {"checkpoint": "a.pt", "model_path": "b.pt"}
        assert "model_path" in refusal(WorkerAssignment, "cleanrl", settings=settings)

    def test_passive_that_is_told_to_move(self) -> None:
        message = refusal(WorkerAssignment, "", "passive", {"behavior": "random"})
        assert message.startswith("settings.behavior: 'passive' sets the behavior to 'noop'")

    @pytest.mark.parametrize(
        ("written", "rule"),
        [
            ("error", OnInvalid()),
            ("noop", OnInvalid(0, "noop")),
            ({"retry": 2, "then": "random_legal"}, OnInvalid(2, "random_legal")),
            ({"retry": 1}, OnInvalid(1, "error")),
        ],
    )
    def test_on_invalid(self, written: str | dict[str, object], rule: OnInvalid) -> None:
        assert WorkerAssignment("cleanrl", on_invalid=written).on_invalid == rule

    @pytest.mark.parametrize(
        ("changes", "problem"),
        [
            ({"on_invalid": "skip"}, "on_invalid: unknown value 'skip'"),
            ({"on_invalid": {"retry": -1}}, "on_invalid.retry: must lie between 0 and 100, not -1"),
            ({"on_invalid": {"retry": True}}, "on_invalid.retry: must be a whole number, not True"),
            ({"deadline_s": 0}, "deadline_s: must lie between"),
            ({"deadline_s": float("nan")}, "deadline_s: must lie between"),
            ({"deterministic": 1}, "deterministic: must be true or false, not 1"),
            ({"preprocess": "flatten"}, "preprocess: must be a list, not 'flatten'"),
            ({"preprocess": [3]}, "preprocess[0]: must be a name or a mapping"),
            ({"settings": {"x": float("inf")}}, "settings.x: must be finite"),
            ({"settings": {"x": [1, {2}]}}, "settings.x[1]: an object of type set is not plain data"),
            ({"settings": {"checkpoint": 3}}, "settings.checkpoint: must be text, not 3"),
            ({"worker_type": "rll"}, "worker_type: unknown type 'rll'. Did you mean 'rl'?"),
        ],
    )
    def test_refused(self, changes: dict[str, object], problem: str) -> None:
        assert refusal(WorkerAssignment, **({"worker_id": "cleanrl"} | changes)).startswith(problem)

    def test_worker_of_unknown_type_needs_one(self) -> None:
        assert "Give a worker_type" in refusal(WorkerAssignment, "somebodys_worker")

    def test_frozen_and_independent_of_its_input(self) -> None:
        settings: dict[str, object] = {"list": [1]}
        player = WorkerAssignment("cleanrl", settings=settings)
        settings["list"].append(2)  # type: ignore[attr-defined]
        assert player.settings == {"list": [1]}
        with pytest.raises(dataclasses.FrozenInstanceError):
            player.worker_id = "other"  # type: ignore[misc]


class TestSecrets:
    @pytest.mark.parametrize(
        ("key", "secret"),
        [
            ("api_key", True),
            ("apiKey", True),
            ("OPENAI_API_KEY", True),
            ("hf_token", True),
            ("token", True),
            ("password", True),
            ("Authorization", True),
            ("max_tokens", False),
            ("stop_token", False),
            ("tokenizer", False),
            ("key_bindings", False),
            ("monkey", False),
        ],
    )
    def test_names(self, key: str, secret: bool) -> None:
        assert is_secret_key(key) is secret

    @pytest.mark.parametrize(
        "settings",
        [
            {"api_key": "abc"},
            {"headers": {"Authorization": "Bearer abc"}},
            {"clients": [{"token": "abc"}]},
            {"base_url": "sk-abcdefghijklmnopqrstuvwxyz"},
            {"api_key": "env:"},
        ],
    )
    def test_literal_is_refused_and_not_repeated(self, settings: dict[str, object]) -> None:
        message = refusal(WorkerAssignment, "llm_worker", settings=settings)
        assert "env:" in message
        assert "abc" not in message

    @pytest.mark.parametrize("value", ["env:OPENAI_API_KEY", "keyring:openai", "", "EMPTY", None])
    def test_reference_or_placeholder_is_kept(self, value: str | None) -> None:
        player = WorkerAssignment("llm_worker", settings={"api_key": value})
        assert player.settings == {"api_key": value}
