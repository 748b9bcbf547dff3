"""Calls to models that a worker of one's own makes: on record as the language worker's are."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from typing import Any, Dict, Generator, Mapping, Sequence

from mosaic_worker.worker import Decision, Host


@contextmanager
def recorded_call(
    host: Host,
    agent_id: str,
    decision: Decision,
    *,
    model: str,
    messages: Sequence[Mapping[str, Any]],
    turn: int = 0,
) -> Generator[Dict[str, Any], None, None]:
    """Have a call written to ``calls.jsonl``, whatever becomes of it: it may have been paid for.

    Args:
        host: The worker's host.
        agent_id: The seat that the slot plays in this episode.
        decision: What the call is for.
        model: The model as it is asked for.
        messages: The prompt, as ``role`` and ``content``; what of it is no JSON is recorded by its words.
        turn: Number of the call in its decision.

    Yields:
        The record, with its ``ref``. Add what came back: ``reply``, ``tokens`` (``input`` and
        ``output``), ``usd`` where a price is known. Time and error are filled in.
    """
    ref = f"{agent_id}/{decision.episode}/{decision.step}/{decision.attempt}/{turn}"
    record: Dict[str, Any] = {"kind": "chat", "ref": ref, "agent": agent_id}
    record.update(episode=decision.episode, step=decision.step, attempt=decision.attempt, turn=turn)
    record.update(model=model, messages=_plain([dict(message) for message in messages]), reply="", usd=None)
    record.update(tokens={"input": 0, "output": 0}, error="")
    begun = time.monotonic()
    try:
        yield record
    except BaseException as error:
        record["error"] = str(error) or "the session no longer waited for the answer"
        raise
    finally:
        row = {name: _plain(value) for name, value in record.items()}
        host.record_call({**row, "latency_ms": round((time.monotonic() - begun) * 1000, 3)})


def _plain(value: Any) -> Any:
    """A value as JSON has it: a call that was paid for is on record whatever a library makes messages of."""
    try:
        return json.loads(json.dumps(value, default=str, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return str(value)
