"""Checks before the first episode whether a slot's server can be reached, by listing its models for free."""

from __future__ import annotations

import asyncio
import ipaddress
from concurrent.futures import ThreadPoolExecutor
from typing import Final
from urllib.parse import urlsplit

from mosaic_llm_worker.chat_servers.providers import open_server
from mosaic_llm_worker.chat_servers.servers import ChatServer, ServerError, too_slow
from mosaic_llm_worker.chat_servers.transport import RequestRefused
from mosaic_llm_worker.server_settings import NEEDS_KEY, ServerSettings

_LONGEST_S: Final = 20.0
_TRIES: Final = 3
_BETWEEN_S: Final = 0.5


def why_silent(settings: ServerSettings, key: str) -> str:
    """Return why no model would answer, as a sentence; an empty string if the server can be reached.

    A server that lists no models or is busy counts as reachable. A service that needs a key counts as
    reachable if a dry run has no key. A dry run contacts only the provider's own address or this machine,
    because it may check a file of others, with any address, before the user has read it.
    """
    if settings.cassette == "replay" and not settings.dry_run:
        return ""
    if settings.client_name in NEEDS_KEY and not key and not settings.base_url:
        return ""  # a dry run has no keys; any other run without a key was refused before
    if settings.dry_run and settings.base_url and not _is_on_this_machine(settings.base_url):
        return ""
    # Workers load their slots in a thread whose own event loop may run.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, _why_silent(settings, key)).result()


def _is_on_this_machine(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def _why_silent(settings: ServerSettings, key: str) -> str:
    limit = min(_LONGEST_S, settings.timeout_s)
    server = open_server(settings, key)
    try:
        async with asyncio.timeout(limit):
            return await _asked(server, settings)
    except TimeoutError:
        return too_slow(settings.url, limit).reason
    finally:
        await server.aclose()


async def _asked(server: ChatServer, settings: ServerSettings) -> str:
    reason = ""
    for number in range(_TRIES):
        if number:
            await asyncio.sleep(_BETWEEN_S)
        try:
            await server.models()
            return ""
        except RequestRefused:
            return ""  # the server understood the request but has no list of models
        except ServerError as error:
            if not error.fatal and error.kind not in ("failed", "timeout"):
                return ""
            if error.fatal and settings.dry_run:
                return ""  # the server refuses the missing key of a dry run
            reason = error.reason
            if error.fatal:
                break
    return reason
