"""POSIX shell scripts for a host: begin shards, report their status, and end them.

Each shard has a folder ``work/NUMBER`` in the submission's folder on the host. Its subfolder ``runs`` holds
the run folder. Each try has a subfolder with the command's output (``out``, ``err``), its process ids and,
after its end, its exit status (``code``). A later process needs only these files to follow the shard.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping, Sequence
from typing import Final

from gym_gui.core.clock import BEHIND
from gym_gui.core.experiment.shards import COORDINATED, HAND, PLAYED_AT_ONCE
from gym_gui.services.shards.lease_files import CLAIM, LEASE
from gym_gui.services.submissions.profile import Command
from gym_gui.services.submissions.shard_status import MARK
from gym_gui.services.submissions.submitted_trainings import Trainings

PLAY: Final = "play.sh"
EXPERIMENT: Final = "experiment.json"
ALLOWED: Final = "allowed.json"
"""File with the user's permissions, in the format of :data:`gym_gui.core.trusted.trust.VARIABLE`."""
TOKEN: Final = "token"
"""File on a host that names the submission that the folder belongs to."""
OFF_S: Final = 60
"""Clock difference in seconds from which a host's times are corrected to the local clock."""
_CLOCK: Final = "clock"
"""File with the seconds that the host's clock is behind the local clock."""
_TAIL: Final = 20
"""Largest number of lines of a command's stderr that are read."""
_RESULT: Final = 60
"""Largest number of lines of a result, as one JSON object per line or one value per line."""


def from_home(how: Command) -> list[str]:
    """Return shell lines to run in the user's home before a command, with stdin and stdout on /dev/null.

    A file of keys is ignored if other users can read it.
    """
    lines = list(how.setup)
    if how.keys:
        file = shlex.quote(how.keys if how.keys.startswith("/") else f"./{how.keys}")
        lines.append(f"if {is_private(file)}; then {_READ_KEYS.format(file=file)}; fi")
    if not lines:
        return []
    return ["here=$(pwd -P)", "cd", "{", *lines, "} </dev/null >/dev/null", 'cd "$here" || exit 1']


_READ_KEYS: Final = """while IFS= read -r line || [ -n "$line" ]; do
  line=${{line#export }} name=${{line%%=*}} value=${{line#*=}}
  case $name in "$line" | "" | [0-9]* | *[!A-Za-z0-9_]*) continue ;; esac
  case $name in
    MOSAIC_*_KEY | MOSAIC_*_TOKEN) ;;
    LD_* | DYLD_* | PYTHON* | MOSAIC_* | PATH | HOME | IFS | ENV | BASH_ENV) continue ;;
  esac
  case $value in \\"*\\" | \\'*\\') value=${{value#?}} value=${{value%?}} ;; esac
  export "$name=$value"
done <{file}"""
"""Reads lines ``NAME=VALUE`` of a file as data: nothing is executed, and other lines are ignored.

Names that decide which code a program loads are not keys and are skipped.
"""


def is_private(file: str) -> str:
    """Return a shell test of whether a file exists and only its owner can read it."""
    return f'[ -f {file} ] && [ "$(ls -lLd {file} | cut -c 5-10)" = "------" ]'


def play_script(
    command: str,
    of: int,
    how: Command,
    trainings: Trainings | None = None,
    *,
    at_once: int = 1,
    first: Sequence[str] = (),
) -> str:
    """Return the script that plays one part (a shard or training), or several parts one after the other.

    It is called as ``sh play.sh NUMBER TRY`` for one part and as ``sh play.sh NUMBER TRY NUMBER/TRY …`` for
    several parts with one command.

    The script resumes a part that was begun on this host. A second call for the same attempt has no effect.

    Args:
        command: ``run``, ``tournament`` or ``train``.
        of: Number of parts.
        how: Command that starts MOSAIC on the host.
        trainings: The trainings, if the parts are trainings.
        at_once: Number of such scripts that run at the same time, on all hosts.
        first: Shell lines to run before MOSAIC starts.
    """
    streams = '>"$try/out" 2>>"$try/err" </dev/null &'
    lines = [
        'cd "$(dirname "$0")" || exit 1',
        "place=work/$1",
        "try=$place/$2",
        "hand=$1/$2; numbers=$1; number=$1; more=$3",
        "shift 2",
        'for each; do hand="$hand $each"; numbers="$numbers,${each%/*}"; done',
        "umask 077",
        'for each; do echo $$ >"work/$each/pid"; done',
        'echo $$ >"$try/own" && mv "$try/own" "$try/pid"',
        f"{_ALIVE}{_END_EARLIER}",
        *from_home(how),
        *first,
        f"behind=$(cat {_CLOCK} 2>/dev/null)",
        f'[ "${{behind#-}}" -ge {OFF_S} ] 2>/dev/null && export {BEHIND}="$behind"',
        f"MOSAIC_ALLOWED=$(cat {ALLOWED}) && export MOSAIC_ALLOWED || exit 1",
        # An amount in the lease of a task that the scheduler ended may belong to other shards by now.
        f'rm -f "$try/{LEASE}"',
        f"{COORDINATED}=$(pwd -P)/$try; export {COORDINATED}",
        f"{PLAYED_AT_ONCE}={at_once}; export {PLAYED_AT_ONCE}",
        *(trainings.script(how.mosaic, streams) if trainings else _shards(command, of, how, streams)),
        "run=$!",
        "trap 'kill -TERM $run 2>/dev/null' TERM INT",
        'for each in $hand; do echo $run > "work/$each/run"; done',
        "wait $run; code=$?",
        # A signal ends the wait but not the command.
        "while kill -0 $run 2>/dev/null; do wait $run; code=$?; done",
        # Of several parts, mark the part that was playing, or the first if none was.
        '[ -f "$try/out" ] || [ $code = 0 ] || : > "$try/out"',
        "for each in $hand; do",
        '  [ -f "work/$each/out" ] && [ ! -f "work/$each/code" ] || continue',
        '  echo $code > "work/$each/ended" && mv "work/$each/ended" "work/$each/code"',
        "done",
    ]
    return "\n".join(lines) + "\n"


def _shards(command: str, of: int, how: Command, streams: str) -> list[str]:
    options = f"--json{f' --processes {how.processes}' if how.processes else ''}"
    mosaic = f"{how.mosaic} {command}"
    return [
        'begun=$(ls -d "$place"/runs/*/run.json 2>/dev/null | head -n 1)',
        'if [ -n "$more" ]; then',
        # Each part has files of its own, which the command opens when the part begins.
        f'  {HAND}="$hand" {mosaic} {EXPERIMENT} --shard "$numbers/{of}" {options} '
        '>/dev/null 2>>"$try/err" </dev/null &',
        'elif [ -n "$begun" ]; then',
        f'  {mosaic} --resume "${{begun%/run.json}}" {options} {streams}',
        "else",
        f'  {mosaic} {EXPERIMENT} --shard "$number/{of}" --out "$place/runs" {options} {streams}',
        "fi",
    ]


def begin(place: str, batches: Sequence[Sequence[tuple[int, int]]]) -> str:
    """Return a script that starts attempts of shards in the background, so that they survive a disconnect.

    Each attempt is started once.

    Args:
        place: Folder of the submission on the host.
        batches: Batches of shards with their attempts. One process plays a batch in order.
    """
    play = f"{shlex.quote(place)}/{PLAY}"
    lines = [
        f"cd {shlex.quote(place)} || exit 1",
        "umask 077",
        f"echo $(({int(time.time())} - $(date +%s))) >{_CLOCK}.new && mv {_CLOCK}.new {_CLOCK}",
        "begun=",
    ]
    for batch in batches:
        (first, attempt), *others = batch
        folders = " ".join(f"work/{number}/runs" for number, _ in batch)
        listed = " ".join(f"{number}/{t}" for number, t in others)
        lines += [
            f"mkdir -p {folders} || exit 1",
            f"if mkdir work/{first}/{attempt} 2>/dev/null; then",
            *([f"  mkdir -p {' '.join(f'work/{number}/{t}' for number, t in others)}"] if others else []),
            # This does what nohup does, which some BusyBox builds lack.
            f"  (trap '' HUP; exec sh {play} {first} {attempt} {listed}) "
            f">/dev/null 2>work/{first}/{attempt}/err </dev/null &",
            f'  begun="$begun {first}/{attempt}"',
            "fi",
        ]
    return "\n".join(lines) + _UNTIL_BEGUN


_UNTIL_BEGUN: Final = """
waited=0
for each in $begun; do
  # Its process is known by its command line, which it has once it has begun; a busy host takes a while.
  until [ -f "work/$each/pid" ] || [ $waited -ge 300 ]; do
    sleep 0.1 2>/dev/null || sleep 1
    waited=$((waited + 1))
  done
done
"""

_ALIVE: Final = """plays() {
  case "$1" in "" | 0* | *[!0-9]*) return 1 ;; esac  # to kill, 0 and -1 are many processes
  kill -0 "$1" 2>/dev/null || return 1
  # After a restart of the host another process may have the number.
  if [ -d /proc/self ]; then
    # The ps of BusyBox shows no single process.
    args=$(tr '\\0' ' ' 2>/dev/null <"/proc/$1/cmdline")
    [ -n "$args" ] || ! grep -q ') Z' "/proc/$1/stat" 2>/dev/null || return 1
  else
    args=$(ps -ww -p "$1" -o args= 2>/dev/null)
  fi
  [ -z "$args" ] && return 0  # it is becoming another program, or cannot be looked at
  echo "$args" | grep -qEe \
    "play[.]sh (${2%/*} |.* $2( |$))|work/${2%/*}/runs|--shard ([0-9]+,)*${2%/*}[,/]"
}
"""
"""Shell function that tests whether a process exists and plays an attempt of a shard or is its command."""

_END_EARLIER: Final = """# It is played once at a time: an earlier try that still runs here is ended first.
host="$(uname -n) $(cat /proc/sys/kernel/random/boot_id 2>/dev/null)"
signal=TERM waited=0 left=1
while [ -n "$left" ]; do
  left=
  for each in $hand; do
    for old in "work/${each%/*}"/[0-9]*; do
      [ "$old" != "work/$each" ] && [ ! -f "$old/code" ] || continue
      [ "$(cat "$old/host" 2>/dev/null)" = "$host" ] || continue
      if pid=$(cat "$old/run" 2>/dev/null) && plays "$pid" "${old#work/}"; then :
      elif pid=$(cat "$old/pid" 2>/dev/null) && plays "$pid" "${old#work/}"; then :
      else continue; fi
      left=1
      [ -z "$signal" ] || kill -$signal "$pid" 2>/dev/null
    done
  done
  [ -z "$left" ] && break
  signal= waited=$((waited + 1))
  [ $waited -lt 30 ] || signal=KILL
  sleep 1
done
for each in $hand; do echo "$host" >"work/$each/host"; done
"""


def status_script(place: str, tries: Mapping[int, int]) -> str:
    """Return a script that prints the status of shards, for :func:`.shard_status.statuses_of`.

    Waiting shards cost no process on the host, and the files of running shards are read once.

    Args:
        place: Folder of the submission on the host.
        tries: Number of the attempt of each shard.
    """
    return f"""cd {shlex.quote(place)} || exit 1
{_ALIVE}is_up() {{
  case "$known" in *" $1 "*) return 0;; esac
  case "$gone" in *" $1 "*) return 1;; esac
  if plays "$1" "$2"; then known="$known$1 "; else gone="$gone$1 "; return 1; fi
}}
known=" " gone=" "
for each in {_listed(tries)}; do
  try=work/$each
  up=0 code= pid=
  {{ read -r pid < "$try/pid"; }} 2>/dev/null
  [ -n "$pid" ] && is_up "$pid" "$each" && up=1
  pid=
  {{ read -r pid < "$try/run"; }} 2>/dev/null
  [ -n "$pid" ] && is_up "$pid" "$each" && up=1
  {{ read -r code < "$try/code"; }} 2>/dev/null
  begun=1
  [ -f "$try/out" ] || begun=0
  echo "{MARK} $each $up $begun $code"
  [ $begun = 1 ] && tail -n {_RESULT} "$try/out" 2>/dev/null
  echo "{MARK} err"
  [ -s "$try/err" ] && tail -n {_TAIL} "$try/err" 2>/dev/null
  echo "{MARK} claim"
  cat "$try/{CLAIM}" 2>/dev/null
done
echo "{MARK} end"
"""


def cancel_script(place: str, tries: Mapping[int, int]) -> str:
    """Return a script that cancels attempts that have not begun, for :func:`taken_back`.

    Args:
        place: Folder of the submission on the host.
        tries: Number of the attempt of each shard.
    """
    return f"""cd {shlex.quote(place)} || exit 1
set -C  # a file is made by one: by us, or by who plays it
for each in {_listed(tries)}; do
  true > "work/$each/out" || continue
  rm -f "work/$each/host" "work/$each/run"  # its process plays others, and goes on
  echo "{MARK} $each"
done 2>/dev/null
exit 0
"""


def taken_back(output: str) -> list[int]:
    """Return the shards that :func:`cancel_script`'s script has canceled, from its output."""
    marked = (line.split() for line in output.splitlines() if line.startswith(f"{MARK} "))
    return [int(words[1].partition("/")[0]) for words in marked if len(words) == 2]


def lease_script(place: str, tries: Mapping[int, int], words: Mapping[int, str]) -> str:
    """Return a script that writes each shard's lease line to its file, whole or not at all.

    Args:
        place: Folder of the submission on the host.
        tries: Number of the attempt of each shard.
        words: Lease line of each shard.
    """
    files = {f"work/{number}/{attempt}/{LEASE}": words[number] for number, attempt in sorted(tries.items())}
    lines = [
        f"printf '%s\\n' {shlex.quote(words)} > {file}.new && mv {file}.new {file}"
        for file, words in files.items()
    ]
    return "\n".join([f"cd {shlex.quote(place)} || exit 1", "umask 077", *lines, "exit 0"]) + "\n"


def stop(place: str, tries: Mapping[int, int], signal: str) -> str:
    """Return a script that sends a signal to the commands of shards, after a check of each process.

    Args:
        place: Folder of the submission on the host.
        tries: Number of the attempt of each shard.
        signal: ``TERM`` or ``KILL``.
    """
    return f"""cd {shlex.quote(place)} || exit 0
{_ALIVE}told=" "
for each in {_listed(tries)}; do
  [ -f "work/$each/code" ] && continue
  file=work/$each/run
  [ -f "$file" ] || file=work/$each/pid  # the command has not begun yet
  read -r pid < "$file" || continue
  case "$told" in *" $pid "*) continue;; esac
  plays "$pid" "$each" || continue
  told="$told$pid "
  kill -{signal} "$pid"
done 2>/dev/null
exit 0
"""


def unfinished(place: str) -> str:
    """Return the temporary path of a submission's folder on the host, used until the folder is complete."""
    return f"{place}.new"


def remove(place: str) -> str:
    """Return a script that kills all shards of a submission and removes its folder on the host.

    Args:
        place: Folder of the submission on the host.
    """
    return f"""rm -rf {shlex.quote(unfinished(place))}
cd {shlex.quote(place)} 2>/dev/null || exit 0
{_ALIVE}
for try in work/*/[0-9]*; do
  [ -f "$try/code" ] && continue
  each=${{try#work/}}
  pid=$(cat "$try/pid" 2>/dev/null) && plays "$pid" "$each" && kill -KILL "$pid"
  pid=$(cat "$try/run" 2>/dev/null) && plays "$pid" "$each" && kill -KILL "$pid"
done 2>/dev/null
cd / && rm -rf {shlex.quote(place)}
"""


def _listed(tries: Mapping[int, int]) -> str:
    return " ".join(f"{number}/{attempt}" for number, attempt in sorted(tries.items()))
