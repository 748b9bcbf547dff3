"""How shards stand on their host, by what its shell and their commands have said."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gym_gui.core.errors import ProtocolError
from gym_gui.core.experiment.leases import Claim
from gym_gui.core.record_fields import count, items, mapping, text

MARK: Final = "mosaic-shard"
"""How lines begin that the host's shell says of its own."""
KILLED: Final = 128
"""A shell's exit status of what a signal has ended is larger, by the signal."""
_NOTHING: Final[dict[str, Any]] = {}


@dataclass(frozen=True)
class ShardStatus:
    """How a shard stands on its host.

    Attributes:
        running: Whether it is being played.
        code: Exit status of the command; ``None`` while it runs, and where it was lost.
        result: What the command has printed at its end.
        progress: By operator, how far it is.
        said: What the command has said last.
        begun: Whether it was begun; of several that one process plays, one after the other, each by itself.
        claim: Of a run with budgets, what the shard has spent and needs, as it stands in its file.
        is_over: Of one that is not running, whether it surely is not; else it may be cut off and play on.
        holder: Who has made the claim, where a try may begin without what the one before had last.
        after: The holder whose record that one began with, to its end.
        lines: What it has said last, its progress left out.
        node: The machine that plays it, where its place has several and says so.
        job: What the scheduler of its place calls it.
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
        """Episodes that are done."""
        return sum(count(row.get("done")) or 0 for row in self.progress)

    @property
    def failed(self) -> int:
        """Of these, failed ones."""
        return sum(count(row.get("failed")) or 0 for row in self.progress)

    @property
    def is_out_of_budget(self) -> bool:
        """Whether it has ended because nothing more may be spent."""
        claim = Claim.from_line(self.claim) if self.claim and self.result.get("status") == "stopped" else None
        return claim is not None and claim.ended

    @property
    def is_complete(self) -> bool:
        """Whether nothing of it is left to be played."""
        return self.result.get("status") in ("completed", "failed") and not self.result.get("problem")


def looks_of(output: str) -> dict[int, ShardStatus]:
    """What :func:`.shell.look` has said.

    Raises:
        ProtocolError: It was cut off, or something else stands between.
    """
    found: dict[int, ShardStatus] = {}
    lines = output.splitlines()
    if not lines or lines[-1] != f"{MARK} end":
        raise ProtocolError("the host did not say how all shards stand")
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
                found[number] = look_from(alive, code, *parts, begun=begun)
            parts = ([], [], [])
            into = parts[0]
            if rest == "end":
                break
            try:
                where, up, out, *status = rest.split()
                number, alive, begun = int(where.partition("/")[0]), up == "1", out == "1"
                code = int(status[0]) if status else None
            except ValueError:
                raise ProtocolError(f"the host said {line[:80]!r} of a shard") from None
    return found


def look_from(
    alive: bool,
    code: int | None,
    out: Iterable[str],
    err: Iterable[str],
    claim: Iterable[str] = (),
    *,
    begun: bool = True,
) -> ShardStatus:
    """How a shard stands, by what its command has printed.

    Args:
        alive: Whether its process is there.
        code: Its exit status, where it has ended.
        out: The last lines of its standard output.
        err: Those of its standard error.
        claim: The line of its claim, where it has made one.
        begun: Whether it was begun.
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
    """What a command has said at its end; of a group of trainings, the result of the one in this part."""
    trained = items(row.get("trainings"))
    if not trained:
        return row
    found = mapping(trained[0]) or {}
    # A shard whose episodes have failed is whole, a training that has failed is not.
    failed = {"problem": text(found.get("reason")) or "failed"} if found.get("status") == "failed" else {}
    return {**found, **failed}


def _json(line: str) -> dict[str, Any] | None:
    try:
        return mapping(json.loads(line))
    except ValueError:
        return None
