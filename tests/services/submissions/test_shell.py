"""What hosts are told, by a real shell: shards are begun once, followed by files, ended and resumed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gym_gui.core.clock import BEHIND
from gym_gui.core.errors import ProtocolError
from gym_gui.services.submissions import shard_status, shell
from gym_gui.services.submissions.profile import Command
from gym_gui.services.submissions.shard_status import ShardStatus
from tests.support.debian import PATH, need_programs
from tests.support.waiting import eventually

ENDS = """
printf '%s\\n' "$*" >> calls
printf '%s\\n' "$MOSAIC_ALLOWED" >> allowed
mkdir -p work/3/runs/01RUN && : > work/3/runs/01RUN/run.json
echo '{"progress": [{"done": 1, "failed": 0}, {"done": 3, "failed": 1}]}' >&2
echo 'Note: something.' >&2
echo '{"run": "x", "status": "completed", "problem": null}'
exit 1
"""
WAITS = "trap 'exit 130' TERM\necho up > up\nwhile :; do sleep 0.05; done\n"


@pytest.fixture(
    autouse=True, params=["this machine's", pytest.param("BusyBox's alone", marks=pytest.mark.full)]
)
def programs(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The programs that a host has."""
    if request.param != "this machine's":
        need_programs("busybox", packages=("busybox",))
        folder = tmp_path_factory.mktemp("busybox")
        subprocess.run(["busybox", "--install", "-s", folder], env={"PATH": PATH}, check=True)
        monkeypatch.setenv("PATH", str(folder))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A submission's folder as it lies on a host, with a blank in its path."""
    found = tmp_path / "a place"
    found.mkdir()
    return found


def tell(script: str) -> str:
    done = subprocess.run(["sh", "-s"], input=script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def sent(place: Path, command: str, *setup: str, keys: str = "") -> None:
    """What lies on a host before a shard is begun; ``command`` stands where MOSAIC's would."""
    (place / "command.sh").write_text(command)
    (place / shell.ALLOWED).write_text("[1]")
    script = shell.play_script("run", 8, Command("sh command.sh", setup, keys, 2), at_once=5)
    (place / shell.PLAY).write_text(script)


def ended(place: Path, attempt: int) -> ShardStatus:
    def look() -> ShardStatus | None:
        seen = shard_status.statuses_of(tell(shell.status_script(str(place), {3: attempt})))[3]
        return None if seen.running else seen

    return eventually(look, "the shard ends")


def test_a_shard_is_begun_once_and_followed_by_what_it_printed(place: Path) -> None:
    sent(place, ENDS, "echo noise", "export WHERE=there")
    for _ in range(2):
        tell(shell.begin(str(place), [[(3, 1)]]))
    seen = ended(place, 1)
    assert (seen.code, seen.done, seen.failed, seen.said) == (1, 4, 1, "Note: something.")
    assert seen.is_complete, "episodes that failed are no reason to play it again"
    tell(shell.begin(str(place), [[(3, 2)]]))
    ended(place, 2)
    first, second = (place / "calls").read_text().splitlines()
    assert first == "run experiment.json --shard 3/8 --out work/3/runs --json --processes 2"
    assert second == "run --resume work/3/runs/01RUN --json --processes 2"
    assert (place / "allowed").read_text().split() == ["[1]", "[1]"]


def test_a_shard_is_told_how_many_are_played_at_once(place: Path) -> None:
    sent(place, 'echo "$MOSAIC_PLAYED_AT_ONCE $MOSAIC_COORDINATED" > told')
    tell(shell.begin(str(place), [[(3, 1)]]))
    ended(place, 1)
    assert (place / "told").read_text() == f"5 {place.resolve()}/work/3/1\n"


def test_a_shard_is_asked_to_end(place: Path) -> None:
    sent(place, WAITS)
    tell(shell.begin(str(place), [[(3, 1)]]))
    eventually((place / "up").exists, "it plays")
    assert shard_status.statuses_of(tell(shell.status_script(str(place), {3: 1})))[3].running
    tell(shell.stop(str(place), {3: 1}, "TERM"))
    seen = ended(place, 1)
    assert (seen.code, seen.is_complete) == (130, False)


def test_a_shard_whose_process_is_gone_is_lost(place: Path) -> None:
    sent(place, WAITS)
    tell(shell.begin(str(place), [[(3, 1)]]))
    eventually((place / "up").exists, "it plays")
    for name in ("pid", "run"):
        tell(f"kill -KILL {(place / 'work/3/1' / name).read_text()}")
    seen = ended(place, 1)
    assert (seen.running, seen.code, seen.is_complete) == (False, None, False)


def test_why_a_command_has_refused_is_told(place: Path) -> None:
    sent(place, 'echo \'{"event": "error", "message": "no x", "fix": "Add x"}\' >&2; exit 2')
    tell(shell.begin(str(place), [[(3, 1)]]))
    seen = ended(place, 1)
    assert (seen.code, seen.said) == (2, "no x. Add x")


@pytest.mark.parametrize(("mode", "told"), [(0o600, "[sk-planted]"), (0o640, "[]")])
def test_keys_come_from_a_file_that_is_its_owners_alone(place: Path, mode: int, told: str) -> None:
    keys = place / "my keys"
    keys.write_text("OPENAI_API_KEY=sk-planted\n")
    keys.chmod(mode)
    sent(place, 'echo "[$OPENAI_API_KEY]" > told', keys=str(keys))
    tell(shell.begin(str(place), [[(3, 1)]]))
    ended(place, 1)
    assert (place / "told").read_text().strip() == told
    assert "sk-planted" not in (place / shell.PLAY).read_text()


def test_a_file_of_keys_is_data_and_what_is_none_is_told_nowhere(place: Path) -> None:
    keys = place / "keys"
    keys.write_text(
        "# mine\nexport A=\"sk a\"\nB='$(touch ran)'\nC=$HOME=x\nsk-planted\nE F=sk-planted\n9=x\nD=last"
    )
    keys.chmod(0o600)
    sent(place, 'printf "%s|" "$A" "$B" "$C" "$D" > told', keys=str(keys))
    tell(shell.begin(str(place), [[(3, 1)]]))
    seen = ended(place, 1)
    assert (place / "told").read_text() == "sk a|$(touch ran)|$HOME=x|last|"
    assert seen.said == "" and not (place / "ran").exists()


def test_a_file_of_keys_changes_no_program(place: Path) -> None:
    keys = place / "keys"
    refused = ("LD_PRELOAD", "PYTHONPATH", "PYTHONSTARTUP", "MOSAIC_DATA_DIR", "BASH_ENV")
    keys.write_text(
        "".join(f"{name}=/theirs\n" for name in (*refused, "PATH", "HOME")) + "MOSAIC_LLM_API_KEY=sk\n"
    )
    keys.chmod(0o600)
    named = " ".join(f'"${name}"' for name in (*refused, "MOSAIC_LLM_API_KEY"))
    sent(place, f'printf "%s|" {named} "${{PATH%/theirs}}" "$HOME" > told', keys=str(keys))
    tell(shell.begin(str(place), [[(3, 1)]]))
    ended(place, 1)
    told = (place / "told").read_text()
    assert "/theirs" not in told and "|sk|" in told


@pytest.mark.parametrize("written", ["{pid}", "-{pid}", "{pid} 1", "0{pid}"])
@pytest.mark.parametrize("file", ["run", "pid"])
def test_no_process_is_ended_but_a_shards_own(place: Path, file: str, written: str) -> None:
    (place / "work/3/1").mkdir(parents=True)
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as mine:
        # A process without a command line is becoming another program, and may be the shard's.
        eventually(Path(f"/proc/{mine.pid}/cmdline").read_bytes, "it has a command line")
        (place / "work/3/1" / file).write_text(written.format(pid=mine.pid) + "\n")
        tell(shell.stop(str(place), {3: 1}, "KILL"))
        tell(shell.remove(str(place)))
        with pytest.raises(subprocess.TimeoutExpired):
            mine.wait(0.2)
        mine.kill()


def test_of_two_tries_the_earlier_one_is_ended_first(place: Path) -> None:
    sent(place, WAITS)
    tell(shell.begin(str(place), [[(3, 1)]]))
    eventually((place / "up").exists, "it plays")
    (place / "up").unlink()
    tell(shell.begin(str(place), [[(3, 2)]]))
    eventually((place / "up").exists, "the second plays")
    assert ended(place, 1).code == 130, "it has kept what it had played"
    assert shard_status.statuses_of(tell(shell.status_script(str(place), {3: 2})))[3].running
    tell(shell.remove(str(place)))
    assert not place.exists(), "with what was playing"


def test_several_wait_for_their_turn_and_are_taken_back(place: Path) -> None:
    sent(place, WAITS)
    hand = [(3, 1), (5, 2), (6, 1)]
    for _ in range(2):
        tell(shell.begin(str(place), [hand, [(7, 1)]]))
    eventually((place / "work/7/1/run").exists, "the second plays")
    eventually((place / "work/6/1/run").exists, "the first plays")
    command = Path("/proc", (place / "work/3/1/run").read_text().strip(), "cmdline")
    # The number is there before the program is.
    eventually(lambda: b"--shard\x003,5,6/8\0--json" in command.read_bytes(), "it plays all of them")
    (place / "work/5/2/out").touch()  # as the command does when it is its turn
    assert shell.taken_back(tell(shell.cancel_script(str(place), {5: 2, 6: 1}))) == [6]
    assert not (place / "work/6/1/run").exists(), "a later try of it does not end the others"
    looks = shard_status.statuses_of(tell(shell.status_script(str(place), {3: 1, 5: 2, 7: 1})))
    assert {number: (seen.running, seen.begun) for number, seen in looks.items()} == {
        3: (True, False),
        5: (True, True),
        7: (True, True),
    }
    tell(shell.stop(str(place), {3: 1, 5: 2, 7: 1}, "TERM"))
    eventually((place / "work/5/2/code").exists, "it ends")
    looks = shard_status.statuses_of(tell(shell.status_script(str(place), {3: 1, 5: 2})))
    # Where it was at none, the first; and the one that it was at.
    assert [(seen.running, seen.begun, seen.code) for seen in looks.values()] == [(False, True, 130)] * 2


def test_a_shard_knows_by_how_much_its_clock_is_off(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for hours, told in ((0, "[]"), (-7, "[252"), (7, "[-252")):
        folder = place / f"clock {hours}"
        folder.mkdir()
        sent(folder, f'echo "[${BEHIND}]" > told')
        script = shell.begin(str(folder), [[(3, 1)]])
        tell(script.replace("$(date +%s)", f"$(($(date +%s) + {3600 * hours}))"))
        ended(folder, 1)
        assert (folder / "told").read_text().strip()[: len(told)] == told


def test_set_up_that_fails_is_told(place: Path) -> None:
    sent(place, ENDS, "exit 7")
    tell(shell.begin(str(place), [[(3, 1)]]))
    assert ended(place, 1).code is None


@pytest.mark.parametrize("output", ["", "mosaic-shard 1/1 1\n", "mosaic-shard x\nmosaic-shard end\n"])
def test_an_answer_that_was_cut_off_is_none(output: str) -> None:
    with pytest.raises(ProtocolError):
        shard_status.statuses_of(output)


def test_a_shard_is_told_what_it_may_spend_and_says_where_it_stands(place: Path) -> None:
    claims = 'folder=$MOSAIC_COORDINATED; echo \'{"number":1}\' > "$folder/claim"; '
    sent(place, f'{claims}while [ ! -f "$folder/lease" ]; do sleep 0.05; done; cat "$folder/lease" >&2')
    tell(shell.begin(str(place), [[(3, 1)]]))
    eventually(lambda: (place / "work/3/1/claim").exists(), "it has begun")
    seen = shard_status.statuses_of(tell(shell.status_script(str(place), {3: 1})))[3]
    assert seen.running and seen.claim == '{"number":1}'
    tell(shell.lease_script(str(place), {3: 1}, {3: 'it\'s $(so) "much"'}))
    assert ended(place, 1).said == 'it\'s $(so) "much"'
