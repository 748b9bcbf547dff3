"""What a host's shell is told, in POSIX sh: begin a shard, say how shards stand, end them.

Each shard has a folder ``work/NUMBER`` in the submission's folder on the host: in ``runs`` its run folder,
and for each try a folder with what the command has printed (``out``, ``err``), its process ids and, once it
has ended, its exit status (``code``). Nothing else is needed to follow it, so whoever comes later can.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gym_gui.core.errors import ProtocolError
from gym_gui.core.record_fields import count, items, mapping, text
from gym_gui.core.shards import COORDINATED
from gym_gui.services.submissions.profile import Command

PLAY: Final = "play.sh"
EXPERIMENT: Final = "experiment.json"
ALLOWED: Final = "allowed.json"
"""What a person has allowed, as :data:`gym_gui.core.trust.VARIABLE` hands it on."""
_MARK: Final = "mosaic-shard"
_NOTHING: Final[dict[str, Any]] = {}
_TAIL: Final = 20
"""Lines of a command's output that are looked at."""


@dataclass(frozen=True)
class ShardLook:
    """How a shard stands on its host.

    Attributes:
        running: Whether it is being played.
        code: Exit status of the command; ``None`` while it runs, and where it was lost.
        result: What the command has printed at its end.
        progress: By operator, how far it is.
        said: What the command has said last.
    """

    running: bool
    code: int | None
    result: Mapping[str, Any]
    progress: Sequence[Mapping[str, Any]]
    said: str

    @property
    def done(self) -> int:
        """Episodes that are done."""
        return sum(count(row.get("done")) or 0 for row in self.progress)

    @property
    def failed(self) -> int:
        """Of these, failed ones."""
        return sum(count(row.get("failed")) or 0 for row in self.progress)

    @property
    def is_complete(self) -> bool:
        """Whether nothing of it is left to be played."""
        return self.result.get("status") in ("completed", "failed") and not self.result.get("problem")


def from_home(how: Command) -> list[str]:
    """Lines that run in a person's home before a command, and read nothing of what the shell is told.

    Keys are left out where others can read their file.
    """
    lines = list(how.setup)
    if how.keys:
        file = shlex.quote(how.keys if how.keys.startswith("/") else f"./{how.keys}")
        lines.append(f"if {own_alone(file)}; then {_READ_KEYS.format(file=file)}; fi")
    if not lines:
        return []
    return ["here=$(pwd -P)", "cd", "{", *lines, "} </dev/null >/dev/null", 'cd "$here" || exit 1']


_READ_KEYS: Final = """while IFS= read -r line || [ -n "$line" ]; do
  line=${{line#export }} name=${{line%%=*}} value=${{line#*=}}
  case $name in "$line" | "" | [0-9]* | *[!A-Za-z0-9_]*) continue ;; esac
  case $value in \\"*\\" | \\'*\\') value=${{value#?}} value=${{value%?}} ;; esac
  export "$name=$value"
done <{file}"""
"""Lines ``NAME=VALUE`` of a file are data: nothing of them is run, and what is none is told nowhere."""


def own_alone(file: str) -> str:
    """A test of the shell: whether a file is there, and nobody but its owner can read it."""
    return f'[ -f {file} ] && [ "$(ls -lLd {file} | cut -c 5-10)" = "------" ]'


def play_script(command: str, of: int, how: Command) -> str:
    """The script that plays one shard: ``sh play.sh NUMBER TRY``.

    What was begun of it there is gone on with. A try is begun once, whoever asks for it how often.

    Args:
        command: ``run`` or ``tournament``.
        of: How many shards there are.
        how: How MOSAIC is begun there.
    """
    mosaic = how.mosaic
    options = f"--json{f' --processes {how.processes}' if how.processes else ''}"
    streams = '>"$try/out" 2>>"$try/err" </dev/null &'
    lines = [
        'cd "$(dirname "$0")" || exit 1',
        "place=work/$1",
        "try=$place/$2",
        "umask 077",
        'echo $$ >"$try/own" && mv "$try/own" "$try/pid"',
        f"{_ALIVE}{_END_EARLIER}",
        *from_home(how),
        f"MOSAIC_ALLOWED=$(cat {ALLOWED}) && export MOSAIC_ALLOWED || exit 1",
        f"{COORDINATED}=1; export {COORDINATED}",
        'begun=$(ls -d "$place"/runs/*/run.json 2>/dev/null | head -n 1)',
        'if [ -n "$begun" ]; then',
        f'  {mosaic} {command} --resume "${{begun%/run.json}}" {options} {streams}',
        "else",
        f'  {mosaic} {command} {EXPERIMENT} --shard "$1/{of}" --out "$place/runs" {options} {streams}',
        "fi",
        "run=$!",
        "trap 'kill -TERM $run 2>/dev/null' TERM INT",
        'echo $run > "$try/run"',
        "wait $run; code=$?",
        # A signal ends the waiting and not yet the command.
        "while kill -0 $run 2>/dev/null; do wait $run; code=$?; done",
        'echo $code > "$try/ended" && mv "$try/ended" "$try/code"',
    ]
    return "\n".join(lines) + "\n"


def begin(place: str, tries: Mapping[int, int]) -> str:
    """Begin tries of shards, each once, in the background, whoever hangs up.

    Args:
        place: The submission's folder there.
        tries: Which try of each shard.
    """
    play = f"{shlex.quote(place)}/{PLAY}"
    return f"""cd {shlex.quote(place)} || exit 1
umask 077
begun=
for each in {_listed(tries)}; do
  mkdir -p "work/${{each%/*}}/runs" || exit 1
  mkdir "work/$each" 2>/dev/null || continue
  nohup sh {play} "${{each%/*}}" "${{each#*/}}" >/dev/null 2>"work/$each/err" </dev/null &
  begun="$begun $each"
done
for each in $begun; do
  # Its process is known by its command line, which it has once it has begun.
  waited=0
  until [ -f "work/$each/pid" ] || [ $waited -ge 100 ]; do
    sleep 0.1 2>/dev/null || sleep 1
    waited=$((waited + 1))
  done
done
"""


_ALIVE: Final = """alive() {
  kill -0 "$1" 2>/dev/null || return 1
  # After a restart of the host another process may have the number.
  command -v ps >/dev/null || return 0
  ps -p "$1" -o args= | grep -qe "$2"
}
"""
"""Whether a process of a number is there, and has words on its command line."""

_END_EARLIER: Final = """# It is played once at a time: an earlier try that still runs here is ended first.
host="$(uname -n) $(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
signal=TERM waited=0 left=1
while [ -n "$left" ]; do
  left=
  for old in "$place"/[0-9]*; do
    { [ "$old" != "$try" ] && [ "$(cat "$old/host" 2>/dev/null)" = "$host" ]; } || continue
    if pid=$(cat "$old/run" 2>/dev/null) && alive "$pid" "$place/runs"; then :
    elif pid=$(cat "$old/pid" 2>/dev/null) && alive "$pid" "play.sh $1 "; then :
    else continue; fi
    left=1
    [ -z "$signal" ] || kill -$signal "$pid" 2>/dev/null
  done
  [ -z "$left" ] && break
  signal= waited=$((waited + 1))
  [ $waited -lt 30 ] || signal=KILL
  sleep 1
done
echo "$host" >"$try/host"
"""


def look(place: str, tries: Mapping[int, int]) -> str:
    """Say how shards stand, for :func:`looks_of`.

    Args:
        place: The submission's folder there.
        tries: Which try of each shard.
    """
    return f"""cd {shlex.quote(place)} || exit 1
{_ALIVE}for each in {_listed(tries)}; do
  try=work/$each
  up=0
  pid=$(cat "$try/pid" 2>/dev/null) && alive "$pid" "{PLAY} ${{each%/*}} " && up=1
  pid=$(cat "$try/run" 2>/dev/null) && alive "$pid" "work/${{each%/*}}/runs" && up=1
  echo "{_MARK} $each $up $(cat "$try/code" 2>/dev/null)"
  tail -n 3 "$try/out" 2>/dev/null
  echo "{_MARK} err"
  tail -n {_TAIL} "$try/err" 2>/dev/null
done
echo "{_MARK} end"
"""


def stop(place: str, tries: Mapping[int, int], signal: str) -> str:
    """Send a signal to the commands of shards.

    Args:
        place: The submission's folder there.
        tries: Which try of each shard.
        signal: ``TERM`` or ``KILL``.
    """
    return f"""cd {shlex.quote(place)} || exit 0
for each in {_listed(tries)}; do
  [ -f "work/$each/code" ] && continue
  file=work/$each/run
  [ -f "$file" ] || file=work/$each/pid  # the command has not begun yet
  pid=$(cat "$file") && kill -{signal} "$pid"
done 2>/dev/null
exit 0
"""


def remove(place: str) -> str:
    """End what is left of all shards, and remove the submission's folder there.

    Args:
        place: The folder.
    """
    return f"""cd {shlex.quote(place)} 2>/dev/null || exit 0
{_ALIVE}
for try in work/*/[0-9]*; do
  [ -f "$try/code" ] && continue
  each=${{try#work/}}
  pid=$(cat "$try/pid" 2>/dev/null) && alive "$pid" "{PLAY} ${{each%/*}} " && kill -KILL "$pid"
  pid=$(cat "$try/run" 2>/dev/null) && alive "$pid" "work/${{each%/*}}/runs" && kill -KILL "$pid"
done 2>/dev/null
cd / && rm -rf {shlex.quote(place)}
"""


def _listed(tries: Mapping[int, int]) -> str:
    return " ".join(f"{number}/{attempt}" for number, attempt in sorted(tries.items()))


def looks_of(output: str) -> dict[int, ShardLook]:
    """What :func:`look` has said.

    Raises:
        ProtocolError: It was cut off, or something else stands between.
    """
    found: dict[int, ShardLook] = {}
    lines = output.splitlines()
    if not lines or lines[-1] != f"{_MARK} end":
        raise ProtocolError("the host did not say how all shards stand")
    number, alive, code = 0, False, None
    parts: tuple[list[str], list[str]] = ([], [])
    into = parts[0]
    for line in lines:
        mark, _, rest = line.partition(" ")
        if mark != _MARK:
            into.append(line)
        elif rest == "err":
            into = parts[1]
        else:
            if number:
                found[number] = look_from(alive, code, *parts)
            parts = ([], [])
            into = parts[0]
            if rest == "end":
                break
            try:
                where, up, *status = rest.split()
                number, alive = int(where.partition("/")[0]), up == "1"
                code = int(status[0]) if status else None
            except ValueError:
                raise ProtocolError(f"the host said {line[:80]!r} of a shard") from None
    return found


def look_from(alive: bool, code: int | None, out: Iterable[str], err: Iterable[str]) -> ShardLook:
    """How a shard stands, by what its command has printed.

    Args:
        alive: Whether its process is there.
        code: Its exit status, where it has ended.
        out: The last lines of its standard output.
        err: Those of its standard error.
    """
    result = next((row for line in out if (row := _json(line)) and "status" in row), _NOTHING)
    progress: Sequence[Mapping[str, Any]] = ()
    said = ""
    for line in err:
        row = _json(line)
        if row is None:
            said = line.strip() or said
        elif (rows := items(row.get("progress"))) is not None:
            progress = [mapping(each) or {} for each in rows]
        elif row.get("event") == "error":
            fix = text(row.get("fix"))
            said = str(row.get("message")) + (f". {fix}" if fix else "")
    return ShardLook(alive and code is None, code, result, progress, said)


def _json(line: str) -> dict[str, Any] | None:
    try:
        return mapping(json.loads(line))
    except ValueError:
        return None
