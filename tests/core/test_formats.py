"""Files of a later version are neither guessed at nor written over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gym_gui.core.formats import NewerFormatError, check_format


@pytest.mark.parametrize("number", [None, 1, 2, 99, "1", 1.5, True, 0, -1, [1]])
def test_what_is_not_known_is_refused(number: Any) -> None:
    said = ""
    try:
        check_format("run.json", number, 1)
    except NewerFormatError as error:
        said = str(error)
    known = number is None or (type(number) is int and number == 1)
    assert said == "" if known else "Update MOSAIC" in said


def newer(path: Path, key: str = "format") -> str:
    """Say in a file that a later version has written it; returns its text."""
    path.write_text(json.dumps({**json.loads(path.read_text()), key: 99}))
    return path.read_text()


def test_keys_of_a_later_version_are_left_as_they_are(tmp_path: Path) -> None:
    from gym_gui.envs.keymaps import KeyScheme
    from gym_gui.services.keymaps_store import KeymapName, KeymapsStore
    from gym_gui.services.store import Store

    store, name = Store(data=tmp_path), KeymapName.of("classic", ["left", "right"])
    scheme = KeyScheme({"A": 0, "B": 1})
    KeymapsStore(store).save(name, scheme)
    text = newer(KeymapsStore(store).path)
    with pytest.raises(NewerFormatError):
        KeymapsStore(store).save(name, scheme)
    assert KeymapsStore(store).path.read_text() == text


def test_a_score_of_a_later_version_is_not_replaced(tmp_path: Path) -> None:
    from gym_gui.services.policies.policy_scores import PolicyScore, ScoreStore
    from gym_gui.services.policy_files import read_policy_file
    from tests.support.commands import ROOT

    policy = read_policy_file(ROOT / "docs" / "examples" / "checkpoints" / "ppo_cartpole")
    assert policy is not None
    store = ScoreStore(tmp_path)
    store.save(policy, PolicyScore.now([1.0], [0]))
    (file,) = tmp_path.iterdir()
    text = newer(file)
    assert store.get(policy) is None
    with pytest.raises(NewerFormatError):
        store.save(policy, PolicyScore.now([2.0], [0]))
    assert file.read_text() == text


def test_a_training_of_a_later_version_is_not_gone_on_with(tmp_path: Path) -> None:
    from gym_gui.services.trainer.request import SavedRequest

    row = {"run_id": "a", "worker": "w", "algorithm": "ppo", "env_id": "CartPole-v1", "seed": 1}
    (tmp_path / "train.json").write_text(json.dumps({**row, "format_version": 99}))
    with pytest.raises(NewerFormatError, match=r"train\.json"):
        SavedRequest.read(tmp_path)
