"""Several shards that one process plays where a submission's are played, as their host's shell begins it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from gym_gui.processes.tree import TAG
from gym_gui.services.submissions import shard_status, shell
from gym_gui.services.submissions.profile import Command
from gym_gui.services.submissions.shard_status import ShardStatus
from tests.support.commands import Mosaic, experiment
from tests.support.waiting import eventually


def test_each_is_followed_by_files_of_its_own(mosaic: Mosaic) -> None:
    place = mosaic.home / "place"
    place.mkdir()
    experiment(place, num_episodes=4, name=shell.EXPERIMENT)
    (place / shell.ALLOWED).write_text("[]")
    how = Command(f"{sys.executable} -m gym_gui", processes=1)
    (place / shell.PLAY).write_text(shell.play_script("run", 4, how))
    hand = [(1, 1), (2, 1), (3, 2), (4, 1)]
    (place / "work/2/1").mkdir(parents=True)
    (place / "work/2/1/out").touch()  # taken back before its turn
    (place / "work/4/runs/01CUT").mkdir(parents=True)
    (place / "work/4/runs/01CUT/run.json").write_text("{")
    environment = {name: value for name, value in mosaic.env.items() if name != TAG}
    subprocess.run(
        ["sh", "-s"],
        input=shell.begin(str(place), [hand]),
        text=True,
        check=True,
        env=os.environ | environment,
    )

    def ended() -> dict[int, ShardStatus] | None:
        said = subprocess.run(
            ["sh", "-s"],
            input=shell.status_script(str(place), {1: 1, 3: 2, 4: 1}),
            capture_output=True,
            text=True,
            check=True,
        )
        looks = shard_status.statuses_of(said.stdout)
        return None if any(seen.running for seen in looks.values()) else looks

    looks = eventually(ended, "all have ended", 60)
    assert [(n, seen.code, seen.done) for n, seen in looks.items()] == [(1, 0, 1), (3, 0, 1), (4, 2, 0)]
    assert looks[1].is_complete and looks[3].is_complete
    assert "run.json" in looks[4].said, "what is wrong with one is told of that one"
    numbers = [
        json.loads(file.read_text())["shard"]["number"] for file in place.glob("work/[123]/runs/*/run.json")
    ]
    assert sorted(numbers) == [1, 3]
