"""Checks a server: ``python -m mosaic_llm_worker.probe`` reports its reachability, its key and its models.

The program reads one JSON object from stdin: ``{"settings": {…}, "key": "…", "try": false}``; with ``try`` it
also asks the model for one word. It prints one line of JSON: ``{"ok", "sentence", "models", "latency_ms"}``.
The key is in neither the command line nor the answer.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from mosaic_llm_worker.chat_servers.providers import open_server
from mosaic_llm_worker.chat_servers.replies import as_object
from mosaic_llm_worker.chat_servers.servers import ChatServer, ReplyRequest, ServerError, too_slow
from mosaic_llm_worker.server_settings import NEEDS_KEY, ServerSettings, errors_sentence

_QUESTION: Final = [{"role": "user", "content": "Answer with the one word: ready"}]
_FEW_TOKENS: Final = 16
_SHOWN: Final = 60
"""Largest number of characters of the model's word that are shown."""


@dataclass(frozen=True, slots=True)
class _Trial:
    """Settings, key and kind of a check."""

    settings: ServerSettings
    key: str
    ask_model: bool


def _read_trial(text: str) -> _Trial:
    """Read the request from stdin.

    Raises:
        ServerError: The request is invalid.
    """
    try:
        request = as_object(json.loads(text))
    except ValueError:
        raise ServerError("the input on stdin is no JSON object") from None
    # The settings may be those of a whole worker; settings that do not concern the server are ignored.
    given = as_object(request.get("settings"))
    known = {name: value for name, value in given.items() if name in ServerSettings.model_fields}
    known |= {"cassette": "off", "dry_run": False}
    if request.get("try"):
        known["max_tokens"] = _FEW_TOKENS
    key = request.get("key", "")
    try:
        settings = ServerSettings.model_validate(known)
    except ValidationError as error:
        raise ServerError(f"the settings are wrong: {errors_sentence(error)}") from None
    if settings.client_name in NEEDS_KEY and not key:
        raise ServerError(f"{settings.client_name} needs a key")
    return _Trial(settings, str(key), bool(request.get("try")))


async def _look(trial: _Trial) -> dict[str, Any]:
    server = open_server(trial.settings, trial.key)
    began = time.perf_counter()
    try:
        async with asyncio.timeout(trial.settings.timeout_s):
            return await _try_server(trial, server, began)
    except TimeoutError:
        raise too_slow(trial.settings.url, trial.settings.timeout_s) from None
    finally:
        await server.aclose()


async def _try_server(trial: _Trial, server: ChatServer, began: float) -> dict[str, Any]:
    try:
        models = await server.models()
    except ServerError:
        if not trial.ask_model:
            raise
        models = []  # some servers chat but list no models
    chosen = trial.settings.model_id
    sentence = f"The server at {trial.settings.url} answers and lists {len(models)} model" + "s" * (
        len(models) != 1
    )
    if chosen and chosen not in models:
        sentence += f"; {chosen!r} is not among them"
    if trial.ask_model:
        began = time.perf_counter()
        reply = await server.chat(_QUESTION, ReplyRequest(seed=0))
        word = " ".join(reply.text.split())[:_SHOWN]
        sentence = f"{reply.model or chosen} at {trial.settings.url} answers: {word!r}"
    return _answer(True, sentence + ".", models, (time.perf_counter() - began) * 1000)


def _answer(ok: bool, sentence: str, models: list[str], latency_ms: float | None) -> dict[str, Any]:
    latency = None if latency_ms is None else round(latency_ms, 1)
    return {"ok": ok, "sentence": sentence, "models": models, "latency_ms": latency}


def check_server(text: str) -> Mapping[str, Any]:
    """Check the server in a request and return the result."""
    try:
        return asyncio.run(_look(_read_trial(text)))
    except ServerError as error:
        reason = error.reason[:1].upper() + error.reason[1:]
        return _answer(False, reason if reason.endswith((".", "?", "!")) else f"{reason}.", [], None)


def main() -> None:
    """Read one request from stdin and print the answer."""
    print(json.dumps(check_server(sys.stdin.read())))


if __name__ == "__main__":
    main()
