"""Records model calls of custom workers in the format of the language model worker."""

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
    """Record a model call in ``calls.jsonl``, also if the call fails, because a failed call may cost money.

    Args:
        host: The worker's host.
        agent_id: The agent that the slot plays in this episode.
        decision: The decision that the call is made for.
        model: Name of the model as in the request.
        messages: The prompt, as ``role`` and ``content``; values that are not JSON are recorded as text.
        turn: Number of the call within its decision.

    Yields:
        The record, with its ``ref``. Add the result of the call: ``reply``, ``tokens`` (``input`` and
        ``output``), and ``usd`` if a price is known. Time and error are filled in.
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
    """Return a value as JSON data, or as text if it is not JSON, so that every call can be recorded."""
    try:
        return json.loads(json.dumps(value, default=str, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return str(value)
