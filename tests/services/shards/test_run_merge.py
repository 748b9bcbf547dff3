"""Shards become one run folder: nothing is lost, nothing counted twice, what does not belong is named."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from gym_gui.analysis import open_run, summarize
from gym_gui.analysis.records.run_digest import files_digests, run_digest
from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.shards import ScheduledEpisodes, Shard
from gym_gui.core.record_digest import seal
from gym_gui.services.run_lock import lock_run
from gym_gui.services.runs.recorder import COMPLETED, STOPPED, Recorder, read_header
from gym_gui.services.runs.run_packing import compress_run
from gym_gui.services.shards.run_merge import MergedRun, merge_shards
from gym_gui.services.shards.shard_set import UnmergeableError

EPISODES = 6
EXPERIMENT: dict[str, Any] = {
    "operators": [{"id": "a", "task": "CartPole-v1"}, {"id": "b", "task": "CartPole-v1"}],
    "execution": {"num_episodes": EPISODES, "seeds": list(range(EPISODES)), "max_steps": 500},
}
SCHEDULED = [ScheduledEpisodes("a", EPISODES), ScheduledEpisodes("b", EPISODES)]


def episode(operator: str, index: int, *, way: str = "", **changes: Any) -> tuple[bytes, bytes]:
    """Rows and line of an episode, as the engine gives them; ``way``: how it was played."""
    shas = [f"{operator}{index}{k}{way}".encode().hex().ljust(16, "0") for k in range(index % 3)]
    always = {"episode_index": index, "action_source": "policy"}
    steps = [{**always, "step_index": k, "state_sha": sha} for k, sha in enumerate(shas)]
    whole = (shas[-1] if shas else "0" * 16) + "f" * 48
    row = {
        "operator_id": operator,
        "episode_index": index,
        "seed": index,
        "status": "completed",
        "length": len(steps),
        "trajectory_sha256": whole,
        **changes,
    }
    rows = b"".join(orjson.dumps(step) + b"\n" for step in steps)
    return rows, seal(row, rows)


def header(shard: str, experiment: Mapping[str, Any] = EXPERIMENT, **more: Any) -> dict[str, Any]:
    """What a shard says of itself."""
    part = Shard.parse(shard)
    played = {name: list(of) for name, of in part.episodes(SCHEDULED).items()}
    sha = json.dumps(experiment, sort_keys=True)
    about = {
        "number": part.number,
        "of": part.of,
        "experiment_sha256": sha,
        "episodes": played,
        "contents": {},
    }
    about |= more.pop("about", {})
    return {"experiment": experiment, "shard": about, "versions": {"mosaic": "1"}, "commit": "abc", **more}


def played(
    out: Path,
    shard: str,
    *,
    reverse: bool = False,
    left: Iterable[tuple[str, int]] = (),
    way: str = "",
    calls: str = "",
    changes: Mapping[tuple[str, int], Mapping[str, Any]] | None = None,
    status: str = COMPLETED,
    **more: Any,
) -> Path:
    """A shard's run folder.

    Args:
        out: Where it is made.
        shard: Which.
        reverse: The last episode ended first.
        left: Episodes that it has not played.
        way: How it played those that it has.
        calls: What models replied, one call for an episode; none where empty.
        changes: More for lines of episodes.
        status: How it ended.
        more: More for ``run.json``.
    """
    about = header(shard, **more)
    recorder = Recorder.create(out, list(about["shard"]["episodes"]), about)
    for name, indices in about["shard"]["episodes"].items():
        for index in sorted(set(indices) - {i for o, i in left if o == name}, reverse=reverse):
            if calls:
                recorder.call(name, orjson.dumps({"episode": index, "reply": calls}))
            recorder.episode(name, *episode(name, index, way=way, **(changes or {}).get((name, index), {})))
    recorder.close(status, retries=[])
    return recorder.folder


def altered(folder: Path, **changes: Any) -> Path:
    """A run folder whose ``run.json`` says something else, and has been said so all along."""
    about = {**read_header(folder), **changes}
    about["record_sha256"] = run_digest({k: v for k, v in about.items() if k != "record_sha256"})
    (folder / "run.json").write_bytes(orjson.dumps(about))
    return folder


def rows(run: Path, name: str, operator: str) -> list[dict[str, Any]]:
    """Lines of a file."""
    file = run / "operators" / operator / name
    return [json.loads(line) for line in file.read_text().splitlines()]


def indices(run: Path, operator: str, name: str = "episodes.jsonl") -> list[int]:
    """Episodes in the order of a file."""
    return [row["episode_index"] for row in rows(run, name, operator)]


def refusal(out: Path, *folders: Path, **how: Any) -> list[str]:
    """Why shards are not merged, and that nothing is left of the attempt."""
    before = sorted(out.rglob("*"))
    with pytest.raises(UsageError) as told:
        merge_shards(folders, out / "runs", **how)
    assert [p for p in sorted(out.rglob("*")) if p not in before and p != out / "runs"] == []
    return told.value.lines if isinstance(told.value, UnmergeableError) else [str(told.value)]


def merged(out: Path, *folders: Path, **how: Any) -> MergedRun:
    """Shards as one run, whose sources are as before."""
    before = {p: p.read_bytes() for folder in folders for p in folder.rglob("*") if p.is_file()}
    found = merge_shards(folders, out / "runs", **how)
    assert {p: p.read_bytes() for p in before} == before
    assert [p.name for p in (out / "runs").iterdir()] == [found.folder.name], "nothing else is left there"
    return found


# -- what comes out ------------------------------------------------------------------------


@pytest.mark.parametrize("of", [1, 2, 5, 12, 20])
@pytest.mark.parametrize("reverse", [False, True])
def test_all_parts_make_the_run(tmp_path: Path, of: int, reverse: bool) -> None:
    shards = [played(tmp_path, f"{number}/{of}", reverse=reverse) for number in range(of, 0, -1)]
    found = merged(tmp_path, *shards)
    assert (found.status, found.shards, found.episodes, found.missing) == (COMPLETED, of, 12, [])
    for name in ("a", "b"):
        expected = [episode(name, index) for index in range(EPISODES)]
        home = found.folder / "operators" / name
        assert (home / "episodes.jsonl").read_bytes() == b"".join(line for _, line in expected)
        assert (home / "steps.jsonl").read_bytes() == b"".join(steps for steps, _ in expected)
    about = read_header(found.folder)
    assert about["run_id"] == found.folder.name and about["episodes"] == {"a": EPISODES, "b": EPISODES}
    assert about["experiment"] == EXPERIMENT and "shard" not in about
    assert [part["number"] for part in about["shards"]] == list(range(1, of + 1))
    assert about["files_sha256"] == files_digests(found.folder, ["a", "b"])
    assert about["record_sha256"] == run_digest({k: v for k, v in about.items() if k != "record_sha256"})


def test_a_folder_stands_for_the_shards_in_it(tmp_path: Path) -> None:
    home = tmp_path / "shards"
    for number in (1, 2):
        played(home, f"{number}/2")
    other = Recorder.create(home, ["a"], {"experiment": EXPERIMENT})
    other.close(COMPLETED)
    assert merge_shards([home], tmp_path / "runs").episodes == 12
    assert "is not a shard" in refusal(tmp_path, other.folder)[0]
    assert "no run at" in refusal(tmp_path, tmp_path / "nowhere")[0]
    assert "there is no shard to merge" in refusal(tmp_path, tmp_path / "runs")[0]


def test_compressed_parts_are_read(tmp_path: Path) -> None:
    shards = [played(tmp_path, f"{number}/2") for number in (1, 2)]
    for folder in shards:
        compress_run(folder)
    assert indices(merged(tmp_path, *shards).folder, "b") == list(range(EPISODES))


def test_what_was_compressed_when_it_ended_is_so(tmp_path: Path) -> None:
    execution = {**EXPERIMENT["execution"], "record": {"compress": True}}
    found = merged(tmp_path, played(tmp_path, "1/1", experiment={**EXPERIMENT, "execution": execution}))
    assert (found.folder / "operators/a/episodes.jsonl.zst").is_file()


def test_the_run_began_with_its_first_part_and_ended_with_its_last(tmp_path: Path) -> None:
    times = ["2026-01-01T10:00:00+00:00", "2026-01-01T11:00:00+00:00"]
    retry = {"operator_id": "b", "episode_index": 5, "reason": "was killed", "lost": "session"}
    first = altered(played(tmp_path, "2/2"), started_at=times[0], finished_at=times[0], retries=[retry])
    last = altered(played(tmp_path, "1/2"), started_at=times[1], finished_at=times[1])
    record = open_run(merged(tmp_path, first, last).folder).record
    assert (record.started_at, record.finished_at) == tuple(times)
    assert [each.episode_index for each in record.retries] == [5]


def test_who_has_looked_at_one_clock_says_when_it_was(tmp_path: Path) -> None:
    # One machine is five hours ahead, and the clock of the other was set back meanwhile.
    ahead = altered(played(tmp_path, "2/2"), started_at="2026-01-01T15:00:00+00:00")
    back = altered(played(tmp_path, "1/2"), finished_at="2025-12-31T10:00:00+00:00")
    times = ("2026-01-01T10:00:00+00:00", "2026-01-01T10:07:00+00:00")
    run = merged(tmp_path, ahead, back, times=times).folder
    record = open_run(run).record
    assert (record.started_at, record.finished_at) == times
    assert indices(run, "a") == list(range(EPISODES))


def test_failed_episodes_are_a_part_of_it(tmp_path: Path) -> None:
    shards = [
        played(
            tmp_path, "1/2", changes={("a", 1): {"status": "failed", "error": "it raised"}}, status="failed"
        ),
        played(tmp_path, "2/2"),
    ]
    found = merged(tmp_path, *shards)
    assert (found.status, found.failed, found.episodes) == ("failed", 1, 12)


# -- once and no more ----------------------------------------------------------------------


def test_a_part_that_was_played_twice_counts_once(tmp_path: Path) -> None:
    shards = [played(tmp_path, shard, calls=shard) for shard in ("1/2", "2/2", "2/2")]
    found = merged(tmp_path, *shards)
    assert (found.episodes, found.twice) == (12, 6)
    assert indices(found.folder, "b") == list(range(EPISODES))
    calls = rows(found.folder, "calls.jsonl", "b")
    assert [call["episode"] for call in calls] == sorted([*range(EPISODES), *range(EPISODES)]), (
        "all were paid"
    )


def test_a_copy_of_a_run_adds_nothing(tmp_path: Path) -> None:
    one = played(tmp_path, "1/1", calls="hm")
    two = Path(shutil.copytree(one, tmp_path / "copy"))
    found = merged(tmp_path, one, two, one)
    assert (found.shards, found.twice) == (1, 0)
    assert len(rows(found.folder, "calls.jsonl", "a")) == EPISODES


def test_other_cuts_of_the_experiment_are_joined_where_they_agree(tmp_path: Path) -> None:
    shards = [played(tmp_path, shard) for shard in ("1/3", "2/2", "3/5", "2/4")]
    found = merged(tmp_path, *shards)
    assert found.status == COMPLETED and indices(found.folder, "a") == indices(found.folder, "b")


def test_an_episode_that_was_played_otherwise_is_named(tmp_path: Path) -> None:
    one, two = played(tmp_path, "1/2"), played(tmp_path, "1/2", way="x")
    said = refusal(tmp_path, one, two, played(tmp_path, "2/2"))
    assert said[0] == f"episode 1 of operator 'a' was played differently in {two} than in {one}"
    assert len(said) == 4, "episodes 0 and 3 have no rows"


def test_the_calls_of_an_episode_stand_together_those_of_its_steps_last(tmp_path: Path) -> None:
    cut_off = played(tmp_path, "1/1", left=[("b", 2)], calls="first", status=STOPPED)
    with (cut_off / "operators/b/calls.jsonl").open("ab") as file:
        file.write(b'{"episode":2,"reply":"lost"}\n')
    altered(cut_off, files_sha256=files_digests(cut_off, ["a", "b"]))
    again = played(tmp_path, "2/2", calls="again")
    found = rows(merged(tmp_path, again, cut_off).folder, "calls.jsonl", "b")
    assert [(call["episode"], call["reply"]) for call in found if call["episode"] in (1, 2)] == [
        (1, "first"),
        (1, "again"),
        (2, "lost"),
        (2, "again"),
    ]


# -- what is missing -----------------------------------------------------------------------


def test_missing_parts_are_named(tmp_path: Path) -> None:
    shards = [played(tmp_path, f"{number}/6") for number in (1, 2, 4, 6)]
    said = refusal(tmp_path, *shards)
    assert said == ["shards 3 and 5 of 6 are missing: mosaic run FILE --shard 3/6"]
    found = merged(tmp_path, *shards, partial=True)
    about = read_header(found.folder)
    assert (found.status, about["status"], found.episodes) == (STOPPED, STOPPED, 8)
    assert about["problem"] == said[0] and about["episodes"] == {"a": EPISODES, "b": EPISODES}
    assert indices(found.folder, "a") == [0, 1, 2, 3]
    _, done = Recorder.reopen(found.folder)
    assert done == {"a": {0, 1, 2, 3}, "b": {0, 1, 4, 5}}, "it can be resumed"


def test_unfinished_parts_are_named_with_what_goes_on_with_them(tmp_path: Path) -> None:
    lost = {"status": "failed", "error": "it was lost", "lost": "session"}
    halves = [
        played(tmp_path, "1/2", left=[("a", 4), ("a", 5)], status=STOPPED),
        played(tmp_path, "2/2", changes={("b", 0): lost}, status="failed"),
    ]
    assert refusal(tmp_path, *halves) == [
        f"shard {number} of 2 has {left} of 6 episodes left to play: mosaic run --resume {folder}"
        for number, left, folder in zip((1, 2), (2, 1), halves, strict=True)
    ]
    found = merged(tmp_path, *halves, partial=True)
    assert (found.status, found.episodes) == (STOPPED, 9)
    assert rows(found.folder, "episodes.jsonl", "b")[0]["status"] == "failed", "it is on record"


def test_somebody_else_has_finished_what_a_part_has_not(tmp_path: Path) -> None:
    aborted = {("a", 0): {"status": "aborted"}}
    shards = [
        played(tmp_path, "1/2", changes=aborted, left=[("a", 5)], status=STOPPED),
        played(tmp_path, "1/2"),
        played(tmp_path, "1/2", changes=aborted, left=[("a", 4)], status=STOPPED),
        played(tmp_path, "2/2"),
    ]
    found = merged(tmp_path, *shards)
    assert found.status == COMPLETED
    assert {row["status"] for row in rows(found.folder, "episodes.jsonl", "a")} == {"completed"}


def test_a_part_that_is_being_played_is_waited_for(tmp_path: Path) -> None:
    done = played(tmp_path, "1/2")
    on = Recorder.create(tmp_path, ["b"], header("2/2"))
    on.episode("b", *episode("b", 0))
    try:
        (said,) = refusal(tmp_path, done, on.folder)
        assert said == "shard 2 of 2 has 5 of 6 episodes left to play: it is still played, wait for it"
        assert merged(tmp_path, done, on.folder, partial=True).episodes == 7
    finally:
        on.close(STOPPED)
    assert f"mosaic run --resume {on.folder}" in refusal(tmp_path, done, on.folder)[0]


def test_a_tournament_is_gone_on_with_by_its_own_command(tmp_path: Path) -> None:
    part = played(tmp_path, "1/2", tournament={"policies": {}})
    assert refusal(tmp_path, part) == ["shard 2 of 2 is missing: mosaic tournament FILE --shard 2/2"]


# -- what does not belong there ------------------------------------------------------------


def test_another_experiment_is_named_with_what_differs(tmp_path: Path) -> None:
    execution = {**EXPERIMENT["execution"], "max_steps": 200}
    one = played(tmp_path, "1/2")
    other = played(tmp_path, "2/2", experiment={**EXPERIMENT, "execution": execution})
    assert refusal(tmp_path, one, other, partial=True, allow_differences=True) == [
        f"shard 2 of 2 ({other}) is of another experiment than shard 1 of 2 ({one}): "
        "execution.max_steps is 200, and 500"
    ]


def test_other_policies_are_never_merged(tmp_path: Path) -> None:
    what = "checkpoint of agent_0 of a (ppo.zip)"
    one = played(tmp_path, "1/2", about={"contents": {what: "1"}})
    other = played(tmp_path, "2/2", about={"contents": {what: "2"}})
    (said,) = refusal(tmp_path, one, other, allow_differences=True)
    assert said == f"{what} in shard 2 of 2 ({other}) differs from shard 1 of 2 ({one})"


def test_other_versions_are_merged_where_that_is_wanted_and_it_is_said(tmp_path: Path) -> None:
    shards = [played(tmp_path, f"{number}/3") for number in (1, 2)]
    other = played(tmp_path, "3/3", versions={"mosaic": "2"}, commit="def")
    assert refusal(tmp_path, *shards, other) == [
        f"mosaic is 1 in shard 1 of 3, and 2 in shard 3 of 3 ({other})",
        f"MOSAIC's commit is abc in shard 1 of 3, and def in shard 3 of 3 ({other})",
    ]
    found = merged(tmp_path, *shards, other, allow_differences=True)
    about = read_header(found.folder)
    assert (about["versions"], about["commit"]) == ({"mosaic": "1"}, "abc")
    assert [(part.get("versions"), part.get("commit")) for part in about["shards"]] == [
        (None, None),
        (None, None),
        ({"mosaic": "2"}, "def"),
    ]
    notes = summarize([open_run(found.folder)]).notes
    assert "Shards of the run were made with different versions: mosaic 1 and 2." in notes


# -- damage --------------------------------------------------------------------------------


def test_a_part_that_is_not_whole_is_named(tmp_path: Path) -> None:
    one, two = played(tmp_path, "1/2"), played(tmp_path, "2/2")
    steps, lines = (one / "operators/a" / name for name in ("steps.jsonl", "episodes.jsonl"))
    whole, all_lines = steps.read_bytes(), lines.read_bytes()
    steps.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 1])
    (said,) = refusal(tmp_path, one, two, partial=True)
    assert "is damaged" in said and "rows of episode 5 are missing" in said
    steps.unlink()
    assert "rows of episode 1 are missing" in refusal(tmp_path, one, two, partial=True)[0]
    steps.write_bytes(whole)
    lines.write_bytes(b"".join(all_lines.splitlines(keepends=True)[:-1]))
    (said,) = refusal(tmp_path, one, two, partial=True)
    assert said == (
        f"shard 1 of 2 ({one}) has changed since its end: operators/a/episodes.jsonl was edited "
        "or copied incompletely"
    )
    lines.write_bytes(all_lines)
    (one / "run.json").write_bytes((one / "run.json").read_bytes().replace(b"abc", b"abd"))
    assert "run.json was edited" in refusal(tmp_path, one, two)[0]


def test_rows_that_nobody_has_finished_stay_behind(tmp_path: Path) -> None:
    on = Recorder.create(tmp_path, ["a"], header("1/2"))
    on.episode("a", *episode("a", 1))
    on.episode("a", episode("a", 2)[0], b"")
    os.close(lock_run(played(tmp_path, "2/2")))
    found = merged(tmp_path, on.folder, partial=True)
    assert indices(found.folder, "a", "steps.jsonl") == [1]
    on.close(STOPPED)


def test_the_same_run_at_two_moments_is_one_too_many(tmp_path: Path) -> None:
    one = played(tmp_path, "1/1", left=[("b", 5)], status=STOPPED)
    then = Path(shutil.copytree(one, tmp_path / "then"))
    recorder, _ = Recorder.reopen(one)
    recorder.episode("b", *episode("b", 5))
    recorder.close(COMPLETED)
    assert "are two copies of one run" in refusal(tmp_path, then, one)[0]


def test_a_link_within_a_part_is_not_followed(tmp_path: Path) -> None:
    one = played(tmp_path, "1/1")
    file = one / "operators/a/steps.jsonl"
    file.rename(tmp_path / "elsewhere.jsonl")
    file.symlink_to(tmp_path / "elsewhere.jsonl")
    assert "is a link" in refusal(tmp_path, one)[0]


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.touch()
    with pytest.raises(UsageError, match="cannot be written"):
        merge_shards([played(tmp_path, "1/1")], place)


@pytest.mark.parametrize("name", ["../b", "/etc", "c"])
def test_a_part_cannot_lead_elsewhere(tmp_path: Path, name: str) -> None:
    one = played(tmp_path, "1/2")
    about = read_header(one)["shard"]
    altered(one, shard={**about, "episodes": {name: [0]}})
    assert refusal(tmp_path, one)[0].endswith(f"has episodes of {name!r}, which its experiment lacks")


def test_an_experiment_of_any_size_is_not_believed(tmp_path: Path) -> None:
    execution = {**EXPERIMENT["execution"], "num_episodes": 10**13}
    one = played(tmp_path, "1/1", experiment={**EXPERIMENT, "execution": execution})
    assert "num_episodes" in refusal(tmp_path, one)[0]
    altered(one, shard={**read_header(one)["shard"], "of": 10**13})
    assert "is not a shard" in refusal(tmp_path, one)[0]
