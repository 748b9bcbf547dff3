"""The worker that docs/workers.md shows keeps the contract when it is dropped where the page says."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.docs.pages import Reader, blocks


def test_the_worker_in_two_files(reader: Callable[[str], Reader]) -> None:
    following = reader("docs/workers.md")
    manifest = next(b.text for b in blocks(following.page) if b.text.startswith('id = "dice_worker"'))
    program = next(b.text for b in blocks(following.page) if "class Dice" in b.text)
    folder = following.home / "data" / "workers" / "dice_worker"
    (folder / "dice_worker").mkdir(parents=True)
    (folder / "worker.toml").write_text(manifest, encoding="utf-8")
    (folder / "dice_worker" / "main.py").write_text(program, encoding="utf-8")

    checked = following.mosaic("workers", "check", "dice_worker")
    assert checked.status == 0, checked.out + checked.err

    slot = {"type": "baseline", "worker_id": "dice_worker"}
    experiment = {"operators": [{"id": "dice", "task": "CartPole-v1", "workers": {"agent": slot}}]}
    path = following.home / "dice.json"
    path.write_text(json.dumps(experiment), encoding="utf-8")
    played = following.mosaic("run", path)
    assert played.status == 0 and "dice" in played.out, played.err
