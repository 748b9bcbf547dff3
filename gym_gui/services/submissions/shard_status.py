"""Status of shards on their host, parsed from the output of the host's shell and their commands."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gym_gui.core.errors import ProtocolError
from gym_gui.core.experiment.leases import Claim
from gym_gui.core.record_fields import count, items, mapping, text

MARK: Final = "mosaic-shard"
"""First word of the lines that the host's shell prints for MOSAIC."""
KILLED: Final = 128
"""Number that a shell adds to the signal's number in the exit status of a killed process."""
_NOTHING: Final[dict[str, Any]] = {}


@dataclass(frozen=True)
class ShardStatus:
    """Status of a shard on its host.

    Attributes:
        running: Whether the shard is being played.
        code: Exit status of the command; ``None`` while the command runs and if its process was lost.
        result: Result that the command printed at its end.
        progress: Progress of each operator.
        said: The last message of the command.
        begun: Whether the shard was begun. In a batch of one process, each shard has its own value.
        claim: For a run with budgets, the shard's claim as in its file.
        is_over: For a shard that is not running, whether that is certain. If not, it may be cut off and
            play on.
        holder: Name of the holder that made the claim, if each try may be a holder of its own.
        after: Holder whose complete record this holder began with.
        lines: The last lines of the command's stderr without its progress.
        node: Machine that plays the shard, if its place has several and tells the name.
        job: Id of the job in the place's scheduler.
    """

    running: bool
    code: int | None
    result: Mapping[str, Any]
    progress: Sequence[Mapping[str, Any]]
    said: str
    begun: bool = True
    claim: str = ""
    is_over: bool = True
    holder: str = ""
    after: str = ""
    lines: Sequence[str] = ()
    node: str = ""
    job: str = ""

    @property
    def done(self) -> int:
        """Number of finished episodes."""
        return sum(count(row.get("done")) or 0 for row in self.progress)

    @property
    def failed(self) -> int:
        """Number of finished episodes that failed."""
        return sum(count(row.get("failed")) or 0 for row in self.progress)

    @property
    def is_out_of_budget(self) -> bool:
        """Whether the shard has ended because its budget is spent."""
        claim = Claim.from_line(self.claim) if self.claim and self.result.get("status") == "stopped" else None
        return claim is not None and claim.ended

    @property
    def is_complete(self) -> bool:
        """Whether the shard has nothing more to play."""
        return self.result.get("status") in ("completed", "failed") and not self.result.get("problem")


def statuses_of(output: str) -> dict[int, ShardStatus]:
    """Return the status of shards, parsed from the output of :func:`.shell.status_script`'s script.

    Raises:
        ProtocolError: The output is cut off or malformed.
    """
    found: dict[int, ShardStatus] = {}
    lines = output.splitlines()
    if not lines or lines[-1] != f"{MARK} end":
        raise ProtocolError("the host's status report is incomplete")
    number, alive, begun, code = 0, False, True, None
    parts: tuple[list[str], list[str], list[str]] = ([], [], [])
    into = parts[0]
    for line in lines:
        mark, _, rest = line.partition(" ")
        if mark != MARK:
            into.append(line)
        elif rest in ("err", "claim"):
            into = parts[1 if rest == "err" else 2]
        else:
            if number:
                found[number] = status_from(alive, code, *parts, begun=begun)
            parts = ([], [], [])
            into = parts[0]
            if rest == "end":
                break
            try:
                where, up, out, *status = rest.split()
                number, alive, begun = int(where.partition("/")[0]), up == "1", out == "1"
                code = int(status[0]) if status else None
            except ValueError:
                raise ProtocolError(f"the host's status report has a bad line: {line[:80]!r}") from None
    return found


def status_from(
    alive: bool,
    code: int | None,
    out: Iterable[str],
    err: Iterable[str],
    claim: Iterable[str] = (),
    *,
    begun: bool = True,
) -> ShardStatus:
    """Return the status of a shard from the output of its command.

    Args:
        alive: Whether its process exists.
        code: Exit status of the command, if it has ended.
        out: The last lines of its standard output.
        err: The last lines of its standard error.
        claim: The line of its claim, if it has made one.
        begun: Whether the shard was begun.
    """
    lines = list(out)
    rows = [_result(row) for each in ("\n".join(lines), *lines) if (row := _json(each))]
    result = next((row for row in rows if "status" in row), _NOTHING)
    progress: Sequence[Mapping[str, Any]] = ()
    said, told = "", list[str]()
    for line in err:
        row = _json(line)
        if row is None:
            said = line.strip() or said
            told.append(line)
        elif (rows := items(row.get("progress"))) is not None:
            progress = [mapping(each) or {} for each in rows]
        elif row.get("event") == "error":
            fix = text(row.get("fix"))
            said = str(row.get("message")) + (f". {fix}" if fix else "")
            told.append(said)
    running = alive and code is None
    return ShardStatus(running, code, result, progress, said, begun, "".join(claim), lines=told)


def _result(row: dict[str, Any]) -> dict[str, Any]:
    """Return a command's result; for a group of trainings, the result of the only training in this part."""
    trained = items(row.get("trainings"))
    if not trained:
        return row
    found = mapping(trained[0]) or {}
    # A shard is complete even if episodes have failed. A failed training is not complete.
    failed = {"problem": text(found.get("reason")) or "failed"} if found.get("status") == "failed" else {}
    return {**found, **failed}


def _json(line: str) -> dict[str, Any] | None:
    try:
        return mapping(json.loads(line))
    except ValueError:
        return None
