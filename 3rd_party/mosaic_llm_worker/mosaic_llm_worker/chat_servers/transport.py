"""Sends JSON over HTTP; every failure becomes a :class:`ServerError` with a sentence.

This module uses plain httpx2. The providers' own libraries need 14 and 43 MB more memory and one and two
seconds more to import, and neither of them limits the size of a reply or the total time of a request.
"""

from __future__ import annotations

import email.utils
import json
import logging
import math
import re
import ssl
import time
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2

from mosaic_llm_worker.chat_servers.replies import as_object
from mosaic_llm_worker.chat_servers.servers import ServerError, too_slow
from mosaic_llm_worker.chat_servers.streamed import EVENTS, whole

_LARGEST: Final = 8 * 2**20
"""Largest size of a reply in bytes; a model's text has a few thousand."""
_CONNECTIONS: Final = 64
_AT_HOME: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_LATER: Final = frozenset({408, 409, 425, 429})
"""HTTP statuses below 500 after which the same request may succeed later."""
_WHILE_AT_IT: Final = frozenset({408, 502, 504, 524})
"""HTTP statuses of a server or proxy that has waited too long; the model may have answered by then."""
_UNPAID: Final = ("insufficient_quota", "insufficient credits", "credit balance", "billing")
_NO_MODEL: Final = re.compile(
    r"model_not_found|\bmodel\b.*(not found|does(n't| not) exist|not a valid)"
    r"|(unknown|invalid|no such) model|pinned to",
    re.IGNORECASE | re.DOTALL,
)
_MODERATED: Final = re.compile(r"moderat|flagged", re.IGNORECASE)
_UNWANTED: Final = re.compile(
    r"unsupported|not (be )?support|unexpected|unknown|unrecogni[sz]ed|extra|deprecated|invalid|no endpoints"
    r"|not (permitted|allowed|available|implemented)|only the default|does not (accept|take)"
    r"|validation error",
    re.IGNORECASE,
)
_ONLY_STREAMS: Final = re.compile(
    r"only\s+support\w*\s+stream|stream(ing)?\W+(mode )?(is required|must be|only)|must .{0,30}\bstream"
    r"|enable the stream|set stream to true",
    re.IGNORECASE,
)
_NO_SYSTEM: Final = re.compile(
    r"\bsystem\b.{0,20}\b(role|message|prompt|instruction)|role.{0,20}\bsystem\b", re.I
)
_NOT_VALID: Final = re.compile(r"\bvalidation error", re.IGNORECASE)
"""Refusal of a parameter's value by the server of llama-cpp-python, with status 500."""

_NOT_IN_FORM: Final = re.compile(r"model produced output that does not match", re.IGNORECASE)
"""Message of llama-server, with status 500, that a reply was cut off or cannot be parsed."""
_BLIND: Final = re.compile(r"image input is not supported", re.IGNORECASE)
"""Message of llama-server, with status 500, that its model accepts no images."""

# These loggers log every request, and at a lower level its headers.
for _name in ("httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class RequestRefused(ServerError):
    """The server has understood the request and refuses it.

    Attributes:
        said: The server's message, with the names of code and parameter.
    """

    def __init__(self, reason: str, said: str, *, fatal: bool = False, missing: bool = False) -> None:
        super().__init__(reason, fatal=fatal or missing, kind="missing" if missing else "")
        self.message = said

    def names(self, parameter: str) -> bool:
        """Return whether the server refuses this parameter."""
        return bool(re.search(rf"\b{parameter}\b", self.message) and _UNWANTED.search(self.message))

    @property
    def only_streams(self) -> bool:
        """Return whether the server requires ``stream`` in the request."""
        return bool(_ONLY_STREAMS.search(self.message))

    @property
    def wants_no_system(self) -> bool:
        """Return whether the model refuses the system role."""
        return bool(
            _NO_SYSTEM.search(self.message) and (_UNWANTED.search(self.message) or "only" in self.message)
        )


class Transport:
    """Requests to one server.

    Args:
        url: Base URL of the server, without a slash at the end.
        headers: Headers of every request.
        key: API key; it is removed from all messages of the server.
        timeout_s: Limit of each read and write in seconds; the caller limits the whole request.
    """

    def __init__(self, url: str, headers: Mapping[str, str], key: str, timeout_s: float) -> None:
        self._url, self._headers, self._key, self._timeout_s = url, dict(headers), key, timeout_s
        self._base, _, self._query = url.partition("?")
        self._client: httpx2.AsyncClient | None = None
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise ServerError(
                "the key contains characters that a key cannot have: store it again", fatal=True
            )

    def __repr__(self) -> str:
        return f"Transport({self._url!r})"

    async def post(self, path: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Send a JSON object and return the server's JSON object.

        Raises:
            ServerError: The server returned no JSON object.
        """
        content = json.dumps(payload, ensure_ascii=True).encode()
        return await self._exchange("POST", path, content)

    async def get(self, path: str) -> dict[str, Any]:
        """Return the JSON object at ``path``; raises as :meth:`post` does."""
        return await self._exchange("GET", path, None)

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()

    # -- one exchange ----------------------------------------------------------------------

    def _open(self) -> httpx2.AsyncClient:
        if self._client is None:
            limits = httpx2.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS)
            # A proxy in the environment variables is for servers on other machines.
            elsewhere = urlsplit(self._url).hostname not in _AT_HOME
            self._client = httpx2.AsyncClient(
                headers=self._headers,
                timeout=self._timeout_s,
                limits=limits,
                trust_env=elsewhere,
                verify=self._url.startswith(
                    "https:"
                ),  # reading the certificates takes time, so only for https
            )
        return self._client

    async def _exchange(self, method: str, path: str, content: bytes | None) -> dict[str, Any]:
        # Parameters of the address (Azure's ``?api-version=``) follow the path of every request.
        path, _, more = path.partition("?")
        query = "&".join(filter(None, (self._query, more)))
        url = f"{self._base.rstrip('/')}/{path}" + (f"?{query}" if query else "")
        headers = {"Content-Type": "application/json"} if content is not None else {}
        try:
            async with self._open().stream(method, url, content=content, headers=headers) as response:
                body = await self._body(response)
        except httpx2.TimeoutException as error:
            sent = not isinstance(error, (httpx2.ConnectTimeout, httpx2.PoolTimeout))
            raise too_slow(self._url, self._timeout_s, unsure=sent) from None
        except httpx2.ConnectError as error:
            raise self._unreachable(error) from None
        except httpx2.DecodingError:
            raise ServerError(
                f"the reply of {self._url} is compressed in a way that cannot be read",
                may_retry=True,
                unsure=True,
            ) from None
        except httpx2.TransportError as error:
            what = self._clean(str(error)) or type(error).__name__
            raise ServerError(
                f"the server at {self._url} closed the connection: {what}", may_retry=True, unsure=True
            ) from None
        except httpx2.InvalidURL:
            raise ServerError(f"{self._url!r} is not a valid address: check base_url", fatal=True) from None
        return self._read_json(response, body)

    async def _body(self, response: httpx2.Response) -> bytes:
        parts, size = list[bytes](), 0
        async for part in response.aiter_bytes():
            parts.append(part)
            size += len(part)
            if size > _LARGEST:
                raise ServerError(
                    f"the reply of {self._url} is larger than {_LARGEST // 2**20} MB", unsure=True
                )
        return b"".join(parts)

    def _unreachable(self, error: httpx2.ConnectError) -> ServerError:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, ssl.SSLError):
            cause = cause.__cause__ or cause.__context__
        what = self._clean(str(error)) or "no connection"
        if cause is not None:
            return ServerError(f"the server at {self._url} cannot be trusted: {what}", fatal=True)
        return ServerError(
            f"the server at {self._url} cannot be reached ({what}): is it running, and is base_url right?",
            may_retry=True,
        )

    def _read_json(self, response: httpx2.Response, body: bytes) -> dict[str, Any]:
        try:
            value: Any = json.loads(body)
        except (ValueError, RecursionError):
            value = None
        found = as_object(value)
        if not found and response.headers.get("content-type", "").startswith(EVENTS):
            found = whole(body)
        if not 200 <= response.status_code < 300:
            raise self._failure(response.status_code, response.headers, found, body)
        if not found:
            kind = response.headers.get("content-type", "no content type")
            start = self._clean(body[:200].decode("utf-8", "replace"))[:80]
            raise ServerError(
                f"the reply of {self._url} is not a JSON object ({self._clean(kind)[:80]}): {start!r}",
                may_retry=True,
                unsure=True,
            )
        if found.get("error"):
            # OpenRouter reports in this way a refusal by its own provider.
            raise self._failure(_code(found["error"]), response.headers, found, body)
        return found

    def _failure(
        self, status: int, headers: Mapping[str, str], found: dict[str, Any], body: bytes
    ) -> ServerError:
        if 300 <= status < 400:
            elsewhere = self._clean(headers.get("location", "elsewhere"))
            return ServerError(
                f"{self._url} redirects requests to {elsewhere}: set base_url to that address", fatal=True
            )
        message, details = _error_words(found, body)
        message, details = self._clean(message), self._clean(details)
        where = f"the server at {self._url}"
        everything = f"{message} {details}"
        if status == 402 or any(word in everything.lower() for word in _UNPAID):
            return ServerError(f"{where} requires payment ({status}): {message}", fatal=True)
        if status == 401 or (status == 403 and not _MODERATED.search(everything)):
            return ServerError(f"{where} refuses the key ({status}): {message}", fatal=True)
        if status == 500 and (lasting := _lasting(where, message, everything)):
            return lasting
        if status in _LATER or status >= 500:
            busy = status in (429, 503, 529)
            return ServerError(
                f"{where} {'is busy' if busy else 'failed'} ({status}): {message}",
                retry_after=retry_after(headers),
                may_retry=True,
                kind="busy" if busy else "failed",
                unsure=status in _WHILE_AT_IT,
            )
        if _NO_MODEL.search(everything):
            return RequestRefused(
                f"{where} does not have this model ({status}): {message}", everything, missing=True
            )
        if status in (404, 405):
            reason = f"there is no chat at {self._url} ({status}; base_url usually ends with /v1): {message}"
            return RequestRefused(reason, everything, fatal=True)
        return RequestRefused(f"{where} refuses the request ({status}): {message}", everything)

    def _clean(self, text: str) -> str:
        """Return a server's message for a log: one short line, without the key."""
        if self._key:
            text = text.replace(self._key, "[key]")
        text = " ".join(text.split())
        return text if len(text) <= 300 else text[:297] + "…"


def _lasting(where: str, message: str, everything: str) -> ServerError | None:
    """Return the error for a status 500 of llama.cpp's servers after which the same request never succeeds;
    else ``None``.
    """
    if _NOT_VALID.search(message):
        return RequestRefused(f"{where} refuses the request (500): {message}", everything)
    if _BLIND.search(message):
        return ServerError(
            f"the model of {where} accepts no images (500): {message}; serve one that does", fatal=True
        )
    if _NOT_IN_FORM.search(message):
        # The same seed brings the same reply, so that a request with another seed must be sent.
        return ServerError(
            f"{where} could not parse its model's reply (500): {message}; more max_tokens may help"
        )
    return None


def _code(error: object) -> int:
    """Return the HTTP status that an error inside a successful reply stands for."""
    code = as_object(error).get("code")
    return code if isinstance(code, int) and 400 <= code < 600 else 502


def _error_words(found: dict[str, Any], body: bytes) -> tuple[str, str]:
    """Return the message of an error, and its other details (code, parameter)."""
    if not found:
        return body[:1000].decode("utf-8", "replace") or "nothing more", ""
    error: Any = found.get("error") or found.get("detail") or found.get("message") or found
    if inner := as_object(error):
        message = inner.get("message") or inner
        details = [str(inner[name]) for name in ("code", "param", "type") if inner.get(name)]
        return str(message), " ".join(details)
    return str(error), ""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait; ``None`` if it does not say."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        said = headers.get(name)
        if not said:
            continue
        try:
            seconds = float(said) * unit
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    try:
        at = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(0.0, at.timestamp() - time.time())
