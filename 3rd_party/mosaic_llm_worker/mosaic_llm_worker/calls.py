"""Makes the model calls of a slot: limits their rate, retries them, counts their cost and records them."""

from __future__ import annotations

import asyncio
import itertools
import logging
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mosaic_llm_worker.budget import (
    Bill,
    Budget,
    BudgetSpent,
    CostSoFar,
    Most,
    Price,
    dearest,
    estimate_tokens,
    most_tokens,
    price_of,
)
from mosaic_llm_worker.cassette import (
    Cassette,
    Mismatch,
    as_record,
    completion_of,
    kept_messages,
    kept_tokens,
)
from mosaic_llm_worker.chat_servers.pace import Pace, turns_of
from mosaic_llm_worker.chat_servers.providers import open_server
from mosaic_llm_worker.chat_servers.servers import (
    CallId,
    ChatServer,
    Completion,
    Message,
    ReplyRequest,
    ServerError,
    too_slow,
)
from mosaic_llm_worker.reach import why_silent
from mosaic_llm_worker.server_settings import NEEDS_KEY, ServerSettings
from mosaic_worker.rng import bits_of
from mosaic_worker.worker import CannotGoOn, EpisodeStart, Host, LimitReached, LoadError, PolicyFailed, Slot

__all__ = [
    "BudgetSpent",
    "Caller",
    "CostSoFar",
    "DryRun",
    "FatalCallError",
    "LimitReached",
    "NoUsableReply",
    "ServerDown",
    "wanted_by",
]

_log = logging.getLogger(__name__)

MOST_SILENT: Final = 10
"""Number of unanswered calls in a row, each with its retries, after which the server counts as down."""
_FIRST_WAIT_S: Final = 0.5
_MARGIN_S: Final = 1.0
_LONGEST_WAIT_S: Final = 30.0
_JITTER_STREAM: Final = 0x77616974  # "wait"
_LONGEST_REPLY: Final = 100_000
"""Limit of the characters of a reply; it is higher if max_tokens is large."""
_CHARACTERS_A_TOKEN: Final = 40
_KEPT_OF_TOO_LONG: Final = 2_000
_NOTHING: Final = Most(0, 0.0)
_ROOM: Final = 2
"""Factor of a dry run from the prompts of a few episodes to the longest prompt of the run."""
_FAR_OFF: Final = 100
"""Largest plausible ratio, in both directions, of the reported cost to the price of the tokens."""

Announce = Callable[[int, Most], Awaitable[None]]
"""Announces a request of an episode before it is sent; returns once the host has recorded it."""


class NoUsableReply(Exception):
    """A call has no usable reply, but another call may have one. The message is a sentence.

    Attributes:
        cause: ``model_error``, or ``time_out`` if the time for the call was too short.
    """

    cause = "model_error"
    heard = False
    """Whether the server sent a reply, even though the reply cannot be used."""


class TooLate(NoUsableReply):
    """The model did not answer in time."""

    cause = "time_out"


class FatalCallError(PolicyFailed):
    """No call of this slot can succeed; the message is a sentence."""


class ServerDown(CannotGoOn):
    """Too many calls in a row had no reply, so the server counts as down; the message is a sentence."""


class DryRun(Exception):
    """A dry run has recorded the prompt and calls no model."""


def announced_to(host: Host, slot: Slot) -> Announce:
    """Return a function that announces the requests of a slot to its host."""

    async def announce(episode: int, most: Most) -> None:
        await asyncio.wrap_future(host.announce(slot, episode, most.tokens, most.usd or 0.0))

    return announce


async def unannounced(episode: int, most: Most) -> None:
    """Do nothing; this is an :data:`Announce` for requests that are not recorded."""


def wanted_by(slot: Slot) -> float:
    """Return the time by which an answer of ``slot`` is required, a little before the host stops waiting for
    it.

    The time is that of the event loop's clock.
    """
    limit = slot.deadline_s
    if limit is None:
        return math.inf
    return asyncio.get_running_loop().time() + limit - min(_MARGIN_S, limit / 10)


class _GivenUp(Exception):
    """One model does not answer, but a fallback model may.

    Attributes:
        failed: The error of the server.
        outcome: Exception to raise if no other model is tried.
    """

    def __init__(self, failed: ServerError, outcome: NoUsableReply | FatalCallError) -> None:
        super().__init__(failed.reason)
        self.failed, self.outcome = failed, outcome


@dataclass(slots=True)
class _Course:
    """Progress and result of a call, for its record."""

    retries: int = 0
    announced: int = 0
    latency_ms: float = 0.0
    error: str = ""
    fatal: bool = False
    late: bool = False
    reply: Completion | None = None
    spent: CostSoFar = field(default_factory=CostSoFar)
    most: Most = _NOTHING
    waits_for: str = ""
    model: str = ""
    tried: list[dict[str, str]] = field(default_factory=list[dict[str, str]])


class Caller:
    """Calls the model of one slot.

    Args:
        settings: Server, model and limits.
        secrets: Secrets of the slot; ``api_key`` is used.
        record: Writes a call's record: the host's ``record_call``.
        announce: Announces a request of an episode and its largest cost before it is sent; returns once
            the host has recorded it. Used only if the run's budgets limit the episode.
        server: Server to use instead of the one in the settings.

    Raises:
        LoadError: No call can be made with these settings.
    """

    def __init__(
        self,
        settings: ServerSettings,
        secrets: Mapping[str, str],
        record: Callable[[dict[str, Any]], None],
        announce: Announce = unannounced,
        server: ChatServer | None = None,
    ) -> None:
        self._settings, self._record, self._announce = settings, record, announce
        self._key = key = secrets.get("api_key", "")
        self._price = dearest(settings.client_name, settings.models)
        self._cassette = _cassette(settings)
        self._earlier = _earlier(settings)
        self._servers = {} if server is None else {settings.model_id: server}
        if server is None and settings.asks_server:
            _check(settings, key, self._price)
            self._servers = {model: _opened(settings, model, key) for model in settings.models}
        each = settings.episode_token_limit, settings.episode_cost_limit_usd, settings.episode_time_limit_s
        self._budget = Budget(settings.token_budget, settings.money_budget_usd, each)
        self._joined: dict[int, int] = {}
        self._playing: dict[int, set[int]] = {}
        self._announces: set[int] = set()
        self._more_than_bytes = 1.0
        self._doubted = False
        paced = settings.requests_per_minute
        turns = turns_of(settings.client_name, settings.url, settings.model_id) if paced else None
        self._pace = Pace(paced, turns)
        self._fatal = ""
        self._missing: dict[str, str] = {}
        self._unanswered = 0
        self._unreachable = ""

    def __repr__(self) -> str:
        return f"Caller({self._settings.client_name}, {self._settings.model_id!r})"

    @property
    def spent(self) -> CostSoFar:
        """Cost of the calls so far; replayed calls cost nothing and are not counted."""
        return self._budget.spent

    def find_server(self) -> None:
        """Check before the first episode that the server can be reached; a dry run only records the problem.

        Raises:
            LoadError: No model would answer.
        """
        reason = why_silent(self._settings, self._key)
        if reason and not self._settings.dry_run:
            raise LoadError(f"no model can be called: {reason}")
        self._unreachable = reason

    def begin(self, start: EpisodeStart) -> None:
        """Begin an episode: apply its limits and remember the run's episode that it belongs to."""
        if start.usd and self._price is None and self._settings.asks_server:
            self._fatal = (
                f"the run's money budget cannot be kept: {self._settings.model_id!r} has no known price"
            )
        here = self._playing.setdefault(start.run_episode, set())
        if not here:
            self._budget.begin(start.run_episode, start.tokens, start.usd)
            if start.tokens or start.usd:
                self._announces.add(start.run_episode)
        here.add(start.episode)
        self._joined[start.episode] = start.run_episode

    def end(self, episode: int) -> None:
        """End an agent's episode; the run's episode ends with the last of its agents."""
        joined = self._joined.pop(episode, episode)
        here = self._playing.get(joined, set())
        here.discard(episode)
        if not here:
            self._playing.pop(joined, None)
            self._announces.discard(joined)
            self._budget.end(joined)

    async def call(self, place: CallId, messages: Sequence[Message], ask: ReplyRequest) -> Completion:
        """Make one call with its retries and return the reply; a recorded reply may be used instead.

        Raises:
            Unanswered: There is no usable reply in time.
            LimitReached: The call could exceed a budget or a limit of the episode.
            Fatal: No call of this slot can succeed.
            Silent: The server no longer sends replies.
            DryRun: The prompt was recorded, and no model is called in a dry run.
        """
        if self._settings.dry_run:
            self._write_dry(place, messages, ask)
            raise DryRun("dry run: no model was called")
        if self._cassette is not None:
            return self._replay(self._cassette, place, messages)
        if self._fatal:
            raise FatalCallError(self._fatal)
        if self._earlier is not None and (paid := self._paid_before(self._earlier, place, messages)):
            return paid
        return await self._recorded(place, messages, ask)

    async def aclose(self) -> None:
        """Close the connections."""
        await asyncio.gather(*(server.aclose() for server in self._servers.values()))

    # -- asking ----------------------------------------------------------------------------

    async def _recorded(self, place: CallId, messages: Sequence[Message], ask: ReplyRequest) -> Completion:
        course = _Course(error="canceled: the session no longer waited for the answer")
        course.most = self._most_of(messages, ask)
        sent = True
        try:
            end = self._budget.end_of(place.episode)
            until = min(place.until, end)
            try:
                async with asyncio.timeout_at(until if until < math.inf else None):
                    reply = await self._insist(place, messages, ask, course)
            except TimeoutError:
                if end == until:
                    raise self._budget.time_over() from None
                still = course.waits_for or f"the server at {self._settings.url} has not replied yet"
                self._heard_nothing(still if course.retries else "")
                raise TooLate(_too_late(still)) from None
            except NoUsableReply as error:
                self._heard_nothing("" if error.heard else str(error))
                raise
            self._unanswered = 0
            course.reply = reply
            reply = _of_sane_length(reply, self._settings.longest_reply)
            course.error = ""
            return reply
        except (NoUsableReply, FatalCallError, ServerDown) as error:
            course.error, course.fatal = str(error), isinstance(error, FatalCallError)
            course.late = isinstance(error, TooLate)
            raise
        except LimitReached as error:
            course.error = str(error)
            sent = course.spent != CostSoFar() or course.announced > 0  # an unsent request is not recorded
            raise
        finally:
            if sent:
                self._write(place, messages, course)

    def _heard_nothing(self, reason: str) -> None:
        """Count a call without a reply; ``reason`` is empty if only its time was too short.

        Raises:
            Silent: :data:`MOST_SILENT` calls in a row had no reply.
        """
        self._unanswered += bool(reason)
        if self._unanswered >= MOST_SILENT:
            silent, self._unanswered = self._unanswered, 0
            raise ServerDown(
                f"{silent} calls in a row to {self._settings.url} brought no reply; the last: {reason}"
            )

    async def _insist(
        self, place: CallId, messages: Sequence[Message], ask: ReplyRequest, course: _Course
    ) -> Completion:
        """Call the model; if it cannot answer, call the fallback models in their order."""
        *others, last = (model for model in self._settings.models if model not in self._missing)
        for model in (*others, last):
            course.model = model
            try:
                return await self._insist_on(model, place, messages, ask, course)
            except _GivenUp as error:
                if model == last or error.failed.kind not in self._settings.fallback_on:
                    if error.failed.fatal:
                        self._fatal = error.failed.reason
                    raise error.outcome from None
                if error.failed.kind == "missing":
                    self._missing[model] = error.failed.reason
                course.tried.append({"model": model, "error": str(error.outcome)})
                _log.warning("%s; a fallback model is called instead", error.outcome)
        raise AssertionError("the last model answers or fails")

    async def _insist_on(
        self, model: str, place: CallId, messages: Sequence[Message], ask: ReplyRequest, course: _Course
    ) -> Completion:
        """Send the request to one model until it answers, cannot answer, or the time is over."""
        loop = asyncio.get_running_loop()
        for number in itertools.count():
            if not await self._pace.turn(model, place.until):
                raise TooLate(_too_late("the limit of requests per minute allows no request before then"))
            begun = loop.time()
            try:
                return await self._paid(model, place, messages, ask, course)
            except ServerError as error:
                failed = error
            finally:
                course.latency_ms = round((loop.time() - begun) * 1000, 3)
            if failed.fatal:
                raise _GivenUp(failed, FatalCallError(failed.reason))
            if not failed.may_retry:
                refused = NoUsableReply(failed.reason)
                refused.heard = failed.used is not None
                raise _GivenUp(failed, refused)
            if number >= self._settings.retries:
                unanswered = TooLate if failed.kind == "timeout" else NoUsableReply
                raise _GivenUp(failed, unanswered(_after(failed.reason, number)))
            wait = _wait(failed, number, ask.seed or 0, place)
            if loop.time() + wait >= place.until:
                raise _GivenUp(failed, TooLate(_too_late(_after(failed.reason, number))))
            if failed.retry_after is not None:
                self._pace.rest(model, wait)  # the model is busy, so other calls wait as well
            course.retries += 1
            _log.info("%s; trying again in %.1f s", failed.reason, wait)
            await asyncio.sleep(wait)
        raise AssertionError("count() does not end")

    async def _paid(
        self, model: str, place: CallId, messages: Sequence[Message], ask: ReplyRequest, course: _Course
    ) -> Completion:
        """Send the request once, as soon as the budgets allow it, and count its cost."""
        course.waits_for = "other calls in progress could have used up the budget"
        async with self._budget.reserve(place.episode, course.most):
            course.waits_for = ""
            if place.episode in self._announces:
                course.announced += 1
                course.waits_for = "the run had not recorded the request by then"
                await self._announce(place.episode, course.most)
                course.waits_for = ""
            bill: Bill | None = Bill(unsure=course.most)  # also if the task is canceled
            try:
                reply = await self._once(model, messages, ask)
                bill = self._bill(model, reply, course.most)
                return reply
            except ServerError as error:
                bill = Bill(unsure=course.most) if error.unsure else None
                if error.used is not None:
                    bill = self._bill(model, error.used, course.most)
                raise
            finally:
                if bill is not None:
                    course.spent = course.spent.plus(bill)
                    self._budget.settle(place.episode, bill)

    async def _once(self, model: str, messages: Sequence[Message], ask: ReplyRequest) -> Completion:
        limit = self._settings.timeout_s
        try:
            async with asyncio.timeout(limit):
                return await self._servers[model].chat(messages, ask)
        except TimeoutError:
            raise too_slow(self._settings.url, limit) from None

    def _most_of(self, messages: Sequence[Message], ask: ReplyRequest) -> Most:
        """Return the largest cost of a request: one token per byte, and the longest reply.

        If the server has counted more tokens than that before, the estimate is increased accordingly.
        """
        tokens, made = most_tokens(messages, ask), self._settings.longest_reply
        tokens = math.ceil(tokens * self._more_than_bytes)
        price, caching = self._price, self._settings.prompt_caching
        return Most(tokens + made, None if price is None else price.at_most(tokens, made, caching=caching))

    def _bill(self, model: str, reply: Completion, most: Most) -> Bill:
        tokens = most.tokens - self._settings.longest_reply
        if reply.input_tokens > tokens:  # the server adds words of its own, or counts pictures otherwise
            self._more_than_bytes *= reply.input_tokens / tokens
        if reply.doubt and not self._doubted:
            self._doubted = True
            _log.warning("%s: %s", model or self._settings.url, reply.doubt)
        client = self._settings.client_name
        price = price_of(client, model) or price_of(client, reply.model)
        usd = None
        if price is not None:
            usd = price.of(
                reply.input_tokens, reply.output_tokens, reply.cached_tokens, reply.cache_written_tokens
            )
        return Bill(reply.input_tokens, reply.output_tokens, _believed(reply.usd, usd))

    # -- records ---------------------------------------------------------------------------

    def _replay(self, cassette: Cassette, place: CallId, messages: Sequence[Message]) -> Completion:
        try:
            record = cassette.find(place, messages)
        except Mismatch as error:
            raise FatalCallError(str(error)) from None
        # A replay writes the recorded record again, so that it can be replayed too; it costs nothing.
        self._record({**record, "usd": 0.0, "replayed": True})
        error = str(record.get("error") or "")
        if error:
            if record.get("fatal"):
                raise FatalCallError(error)
            raise TooLate(error) if record.get("late") else NoUsableReply(error)
        return completion_of(record)

    def _paid_before(
        self, earlier: Cassette, place: CallId, messages: Sequence[Message]
    ) -> Completion | None:
        """Return the reply to the same prompt at the same place from before a resumed run was stopped.

        Return ``None`` if there is none, or if its call failed or used another model.
        """
        try:
            record = earlier.find(place, messages)
        except Mismatch:
            return None
        if record.get("error") or record.get("model") not in self._settings.models:
            return None
        self._record({**record, "usd": 0.0, "replayed": True})
        return completion_of(record)

    def _write_dry(self, place: CallId, messages: Sequence[Message], ask: ReplyRequest) -> None:
        settings, price = self._settings, self._price
        tokens, longest = estimate_tokens(messages, ask), settings.longest_reply
        usual = min(ask.usual + settings.reasoning_tokens, longest) if ask.usual else longest
        most = _ROOM * most_tokens(messages, ask) + ask.to_come
        most += (ask.replies - 1) * (longest + most)  # earlier replies and the prompts that followed them
        self._record(
            {
                **as_record(place, "dry"),
                **({"unreachable": self._unreachable} if self._unreachable else {}),
                "model": settings.model_id,
                "messages": kept_messages(messages),
                "tokens": {"input": tokens, "output": usual},
                "usd": None if price is None else price.of(tokens, usual),
                "most": {
                    "tokens": most + longest,
                    "usd": None
                    if price is None
                    else price.at_most(most, longest, caching=settings.prompt_caching),
                },
                "requests": ask.replies * (1 + settings.retries) * len(settings.models),
            }
        )

    def _write(self, place: CallId, messages: Sequence[Message], course: _Course) -> None:
        reply, spent = course.reply or Completion("", ""), course.spent
        record: dict[str, Any] = {
            **as_record(place),
            "provider": self._settings.client_name,
            "model": self._settings.model_id or reply.model,
            "model_reported": reply.model,
        }
        if course.model not in ("", self._settings.model_id):
            record["fallback"] = course.model
        if course.tried:
            record["tried"] = course.tried
        if self._settings.cassette != "off":
            record |= _recorded_words(messages, reply, course.error)
        record |= {
            "finish": reply.finish,
            # The tokens of earlier attempts are included.
            "tokens": kept_tokens(reply) | {"input": spent.input_tokens, "output": spent.output_tokens},
            "usd": spent.usd if spent.calls else None,
            "latency_ms": course.latency_ms,
            "error": course.error,
            "retries": course.retries,
            "replayed": False,
            "most": course.most._asdict(),
        }
        if course.announced:
            record["announced"] = course.announced
        if spent.unsure:
            record["unsure"] = {
                "requests": spent.unsure,
                "tokens": spent.unsure_tokens,
                "usd": spent.unsure_usd,
            }
        if reply.doubt:
            record["estimated"] = reply.doubt
        if course.fatal:
            record["fatal"] = True
        if course.late:
            record["late"] = True
        self._record(record)


def _recorded_words(messages: Sequence[Message], reply: Completion, error: str) -> dict[str, Any]:
    text = reply.text[:_KEPT_OF_TOO_LONG] if error else reply.text
    words: dict[str, Any] = {"messages": kept_messages(messages), "reply": text}
    if reply.thinking:
        words["thinking"] = reply.thinking
    if reply.tool_calls:
        words["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments_json": call.arguments_json}
            for call in reply.tool_calls
        ]
    return words


def _cassette(settings: ServerSettings) -> Cassette | None:
    if settings.cassette != "replay" or settings.dry_run:
        return None
    try:
        return Cassette(Path(settings.cassette_file))
    except Mismatch as error:
        raise LoadError(str(error)) from None


def _earlier(settings: ServerSettings) -> Cassette | None:
    if settings.cassette != "resume" or settings.dry_run:
        return None
    try:
        return Cassette(Path(settings.cassette_file))
    except Mismatch as error:
        _log.info("%s: every call is sent to the server and paid for", error)
        return None


def _check(settings: ServerSettings, key: str, price: Price | None) -> None:
    """Check settings that would otherwise fail only at the first call.

    Raises:
        LoadError: A key, a model or a price is missing.
    """
    client = settings.client_name
    if client in NEEDS_KEY and not key:
        raise LoadError(
            f"{client} needs a key and the slot has none: set api_key to 'keyring:{client}' or "
            f"'env:{client.upper()}_API_KEY'"
        )
    if client in NEEDS_KEY and not settings.model_id:
        raise LoadError(f"{client} has many models: set model_id to the name of one")
    for name, tokens in (
        ("money_budget_usd", "token_budget"),
        ("episode_cost_limit_usd", "episode_token_limit"),
    ):
        if getattr(settings, name) and price is None:
            unknown = next(model for model in settings.models if price_of(client, model) is None)
            raise LoadError(
                f"{name} cannot be kept: prices.toml has no price for {client} model "
                f"{unknown!r}; add a line there or set {tokens} instead"
            )


def _opened(settings: ServerSettings, model: str, key: str) -> ChatServer:
    try:
        return open_server(settings.model_copy(update={"model_id": model}), key)
    except ServerError as error:
        raise LoadError(error.reason) from None


def _of_sane_length(reply: Completion, max_tokens: int) -> Completion:
    most = max(_LONGEST_REPLY, _CHARACTERS_A_TOKEN * max_tokens)
    size = len(reply.text) + len(reply.thinking) + sum(len(c.arguments_json) for c in reply.tool_calls)
    if size > most:
        raise NoUsableReply(
            f"the reply has {size:,} characters, far more than max_tokens ({max_tokens:,}) allows"
        )
    return reply


def _believed(said: float | None, priced: float | None) -> float | None:
    """Return the cost that the server reports, or the price of the tokens if that cost is not plausible."""
    if said is None or (priced and not priced / _FAR_OFF < said < priced * _FAR_OFF):
        return priced
    return said


def _wait(failed: ServerError, number: int, seed: int, place: CallId) -> float:
    """Return the seconds before the next attempt.

    This is the time that the server asks for, or else a time that doubles with each attempt, with jitter.
    """
    if failed.retry_after is not None:
        return max(0.0, failed.retry_after)
    whole = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2**number)
    draw = bits_of(seed, (place.step << 8) + number, _JITTER_STREAM) / 2**64
    return whole * (0.5 + draw / 2)


def _after(reason: str, retries: int) -> str:
    return reason if not retries else f"{reason} (tried {retries + 1} times)"


def _too_late(reason: str) -> str:
    return f"no answer in time: {reason}"
