"""Prices of model calls, estimates of their tokens, and budgets that limit them."""

from __future__ import annotations

import asyncio
import fnmatch
import math
import time
import tomllib
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from mosaic_llm_worker.chat_servers.servers import Message, ReplyRequest
from mosaic_llm_worker.images import picture
from mosaic_worker.worker import LimitReached

PRICES: Final = Path(__file__).with_name("prices.toml")
_MILLION: Final = 1_000_000
_ROUNDING: Final = 1e-9
"""Tolerance for rounding errors of sums, in US dollars."""
_BYTES_A_TOKEN: Final = 4.0
_TOKENS_A_MESSAGE: Final = 4
_AROUND_A_MESSAGE: Final = 16
_AROUND_A_PROMPT: Final = 64
_PICTURE_AT_MOST: Final = 32
"""Largest factor from the estimated to the counted tokens of an image, that of gpt-4o-mini."""
_PIXELS_A_TOKEN: Final = 750
"""Pixels per token by Anthropic's documented rule; other services count tiles, with similar results."""


class BudgetSpent(LimitReached):
    """The next call could exceed a budget that episodes share; the message has the figures."""

    own = False


class Price(NamedTuple):
    """Prices of a model in US dollars per million tokens.

    Attributes:
        input: Price of tokens of the prompt.
        output: Price of tokens of the reply.
        cached: Price of prompt tokens read from the server's cache; ``None`` if it equals ``input``.
        cache_written: Price of prompt tokens written to the cache; ``None`` if it equals ``input``.
    """

    input: float
    output: float
    cached: float | None = None
    cache_written: float | None = None

    def of(self, input_tokens: int, output_tokens: int, cached: int = 0, cache_written: int = 0) -> float:
        """Return the cost in US dollars; ``input_tokens`` includes the cached and cache-written tokens."""
        fresh = input_tokens - cached - cache_written
        prompt = self.input * fresh
        prompt += (self.input if self.cached is None else self.cached) * cached
        prompt += (self.input if self.cache_written is None else self.cache_written) * cache_written
        return (prompt + self.output * output_tokens) / _MILLION

    def at_most(self, input_tokens: int, output_tokens: int, *, caching: bool) -> float:
        """Return the largest cost in US dollars of a request.

        Args:
            input_tokens: Tokens of the prompt.
            output_tokens: Tokens of the reply.
            caching: Whether the server is asked to cache the prompt.
        """
        return self.of(input_tokens, output_tokens, 0, input_tokens if caching else 0)


@cache
def _table() -> tuple[tuple[str, str, Price], ...]:
    with PRICES.open("rb") as file:
        rows: list[dict[str, Any]] = tomllib.load(file)["price"]
    return tuple((r["provider"], r["model"], _price(r)) for r in rows)


def _price(row: Mapping[str, Any]) -> Price:
    kept = (float(row[name]) if name in row else None for name in ("cached", "cache_written"))
    return Price(float(row["input"]), float(row["output"]), *kept)


def price_of(provider: str, model: str) -> Price | None:
    """Return the price of a model by the first matching entry of ``prices.toml``, or ``None``."""
    for known, pattern, price in _table():
        if known == provider and fnmatch.fnmatchcase(model, pattern):
            return price
    return None


def dearest(provider: str, models: Sequence[str]) -> Price | None:
    """Return the highest prices of several models, or ``None`` if the price of one is not known."""
    prices = [price_of(provider, model) for model in models]
    known = [price for price in prices if price is not None]
    if len(known) < len(models):
        return None
    written = [price.input if price.cache_written is None else price.cache_written for price in known]
    return Price(max(p.input for p in known), max(p.output for p in known), None, max(written))


def estimate_tokens(messages: Sequence[Message], ask: ReplyRequest | None = None) -> int:
    """Estimate the tokens of a prompt at four bytes per token; for English the error is below 20 %."""
    size, _ = prompt_bytes(messages, ask)
    pictures = sum(_picture_tokens(part) for part in _content_parts(messages))
    return _TOKENS_A_MESSAGE * len(messages) + pictures + round(size / _BYTES_A_TOKEN)


def most_tokens(messages: Sequence[Message], ask: ReplyRequest | None = None) -> int:
    """Return an upper bound of a prompt's tokens: one per byte, and tokens that servers add to messages."""
    size, _ = prompt_bytes(messages, ask)
    pictures = sum(_picture_tokens(part) for part in _content_parts(messages))
    return _AROUND_A_PROMPT + _AROUND_A_MESSAGE * len(messages) + _PICTURE_AT_MOST * pictures + size


def prompt_bytes(messages: Sequence[Message], ask: ReplyRequest | None = None) -> tuple[int, int]:
    """Return the bytes of a prompt's text and the number of its images."""
    size, pictures = 0, 0
    for message in messages:
        content = message.get("content") or ""
        if isinstance(content, str):
            size += len(content.encode("utf-8", "replace"))
        if message.get("tool_calls"):
            size += len(str(message["tool_calls"]))
    for part in _content_parts(messages):
        size += len(str(part.get("text", "")).encode("utf-8", "replace"))
        pictures += picture(part) is not None
    if ask is not None:
        size += sum(len(t.name) + len(t.description) + len(str(t.schema)) for t in ask.tools)
        size += len(str(ask.form)) if ask.form is not None else 0
    return size, pictures


def _content_parts(messages: Sequence[Message]) -> Iterator[Mapping[str, Any]]:
    for message in messages:
        content = message.get("content")
        if content and not isinstance(content, str):
            yield from content


def _picture_tokens(part: Mapping[str, Any]) -> int:
    seen = picture(part)
    return 0 if seen is None else -(-seen.width * seen.height // _PIXELS_A_TOKEN)


class Most(NamedTuple):
    """Largest cost of a request.

    Attributes:
        tokens: Input and output tokens together.
        usd: Cost in US dollars; ``None`` if the price is not known.
    """

    tokens: int
    usd: float | None


@dataclass(frozen=True, slots=True)
class Bill:
    """Cost of one request.

    Attributes:
        input_tokens: Tokens of the prompt.
        output_tokens: Tokens of the reply.
        usd: Cost in US dollars; ``None`` if the price is not known.
        unsure: Largest cost of the request if it is not known whether the provider charged for it; the
            other attributes are then 0.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0
    unsure: Most | None = None


@dataclass(frozen=True, slots=True)
class CostSoFar:
    """Cost of the requests so far.

    Attributes:
        calls: Number of answered requests.
        input_tokens: Tokens of the prompts of answered requests.
        output_tokens: Tokens of their replies.
        usd: Cost of answered requests in US dollars; ``None`` after a request of unknown price.
        unsure: Number of requests for which the provider may or may not have charged: they timed out,
            broke off, or had an unreadable reply.
        unsure_tokens: Largest number of tokens of the unsure requests.
        unsure_usd: Largest cost of the unsure requests in US dollars; ``None`` if it is not known.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0
    unsure: int = 0
    unsure_tokens: int = 0
    unsure_usd: float | None = 0.0

    @property
    def tokens(self) -> int:
        """Input and output tokens of answered requests together."""
        return self.input_tokens + self.output_tokens

    @property
    def most_tokens(self) -> int:
        """Input and output tokens together, including the unsure requests."""
        return self.tokens + self.unsure_tokens

    @property
    def most_usd(self) -> float:
        """Known cost in US dollars, including the unsure requests."""
        return (self.usd or 0.0) + (self.unsure_usd or 0.0)

    def plus(self, bill: Bill) -> CostSoFar:
        """Return the cost with one more request."""
        if bill.unsure is not None:
            return replace(
                self,
                unsure=self.unsure + 1,
                unsure_tokens=self.unsure_tokens + bill.unsure.tokens,
                unsure_usd=_sum(self.unsure_usd, bill.unsure.usd),
            )
        return replace(
            self,
            calls=self.calls + 1,
            input_tokens=self.input_tokens + bill.input_tokens,
            output_tokens=self.output_tokens + bill.output_tokens,
            usd=_sum(self.usd, bill.usd),
        )


def _sum(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a + b


class CostLimit:
    """A limit of tokens and money for requests, with the cost so far.

    Args:
        whose: Owner of the limit for messages, for example ``the slot``.
        more: Text of the message that says what to do when the limit is reached.
        tokens: Limit of input and output tokens together; 0 for no limit.
        usd: Limit in US dollars; 0 for no limit.
        own: Whether the user has set this limit for each episode; a refusal is then a plain
            :class:`LimitReached` instead of :class:`BudgetSpent`.
    """

    def __init__(self, whose: str, more: str, tokens: int, usd: float, *, own: bool = False) -> None:
        self._whose, self._more, self._tokens, self._usd, self._own = whose, more, tokens, usd, own
        self.open: list[Most] = []
        self.spent = CostSoFar()

    def refusal(self, most: Most) -> LimitReached | None:
        """Return an exception if a request could exceed the limit now; ``None`` if it fits."""
        spent = self.spent
        tokens = spent.most_tokens + sum(o.tokens for o in self.open) + most.tokens
        if self._tokens and tokens > self._tokens:
            return self._refusal(
                "token", f"{spent.most_tokens:,} of {self._tokens:,} tokens", f"need {most.tokens:,}"
            )
        usd = spent.most_usd + sum(o.usd or 0.0 for o in self.open) + (most.usd or 0.0)
        if self._usd and usd > self._usd + _ROUNDING:
            return self._refusal(
                "money", f"${spent.most_usd:.4f} of ${self._usd:.4f}", f"cost ${most.usd or 0.0:.4f}"
            )
        return None

    def _refusal(self, what: str, used: str, needs: str) -> LimitReached:
        spent = self.spent
        unsure = f", and {spent.unsure:,} that may have been paid for" if spent.unsure else ""
        calls = f"in {spent.calls:,} calls{unsure}"
        text = (
            f"the {what} budget of {self._whose} is used up: {used} {calls}, "
            f"and the next call may {needs}; {self._more}"
        )
        return LimitReached(text) if self._own else BudgetSpent(text)


class Budget:
    """Starts a request only if no budget can be exceeded, even at the largest cost of all requests in
    progress.

    Args:
        tokens: Limit of input and output tokens of all calls together; 0 for no limit.
        usd: Limit in US dollars; 0 for no limit.
        episode: Limits of each episode: tokens, US dollars and seconds; 0 for no limit.
    """

    def __init__(self, tokens: int, usd: float, episode: tuple[int, float, float] = (0, 0.0, 0.0)) -> None:
        self._whole = CostLimit("the slot", "increase it, or lower max_tokens", tokens, usd)
        self._limit = episode
        self._episodes: dict[int, list[CostLimit]] = {}
        self._ends: dict[int, float] = {}
        self._waiting: set[asyncio.Event] = set()

    @property
    def spent(self) -> CostSoFar:
        """Cost of all requests so far."""
        return self._whole.spent

    def begin(self, episode: int, tokens: int = 0, usd: float = 0.0) -> None:
        """Begin an episode with its limits.

        Args:
            episode: Number of the episode.
            tokens: Tokens that the run's budgets leave for the episode; 0 for no limit.
            usd: US dollars that the run's budgets leave for the episode; 0 for no limit.
        """
        most_tokens, most_usd, seconds = self._limit
        purses: list[CostLimit] = []
        if most_tokens or most_usd:
            more = "episode_token_limit and episode_cost_limit_usd limit one episode"
            purses.append(CostLimit("the episode", more, most_tokens, most_usd, own=True))
        if tokens or usd:
            purses.append(CostLimit("the run", "of which the episode has this share", tokens, usd))
        if purses:
            self._episodes[episode] = purses
        if seconds:
            self._ends[episode] = time.monotonic() + seconds

    def end(self, episode: int) -> None:
        """End an episode and drop its limits."""
        self._episodes.pop(episode, None)
        self._ends.pop(episode, None)

    def end_of(self, episode: int) -> float:
        """Return the time at which an episode reaches its time limit, by the monotonic clock."""
        return self._ends.get(episode, math.inf)

    def time_over(self) -> LimitReached:
        """Return the exception for an episode that has reached its time limit."""
        return LimitReached(f"the episode has used its {self._limit[2]:g} s (episode_time_limit_s)")

    @asynccontextmanager
    async def reserve(self, episode: int, most: Most) -> AsyncGenerator[None]:
        """Reserve the largest cost of a request while it runs; wait for requests in progress if they may
        block it.

        Raises:
            BudgetSpent: A shared budget is too small, even if the requests in progress cost nothing.
            LimitReached: The episode has reached a limit that the user has set for each episode.
        """
        if time.monotonic() > self.end_of(episode):
            raise self.time_over()
        purses = [*self._episodes.get(episode, ()), self._whole]
        await self._enter(purses, most)
        try:
            yield
        finally:
            for purse in purses:
                purse.open.remove(most)
            for waiting in self._waiting:
                waiting.set()

    async def _enter(self, purses: Sequence[CostLimit], most: Most) -> None:
        while found := next(((p, why) for p in purses if (why := p.refusal(most))), None):
            if not found[0].open:
                raise found[1]
            changed = asyncio.Event()
            self._waiting.add(changed)
            try:
                await changed.wait()
            finally:
                self._waiting.discard(changed)
        for purse in purses:
            purse.open.append(most)

    def settle(self, episode: int, bill: Bill) -> None:
        """Count the real cost of a request; call this inside its :meth:`reserve` block."""
        for purse in (*self._episodes.get(episode, ()), self._whole):
            purse.spent = purse.spent.plus(bill)
