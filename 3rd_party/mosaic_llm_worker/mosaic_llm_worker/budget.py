"""What calls cost, and where they stop."""

from __future__ import annotations

import asyncio
import fnmatch
import math
import tomllib
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from mosaic_llm_worker.images import picture
from mosaic_llm_worker.servers import Ask, Message
from mosaic_worker.worker import PolicyFailed

PRICES: Final = Path(__file__).with_name("prices.toml")
_MORE: Final = "give more of it, or lower max_tokens"
_MILLION: Final = 1_000_000
_BYTES_A_TOKEN: Final = 4.0
_TOKENS_A_MESSAGE: Final = 4
_PIXELS_A_TOKEN: Final = 750
"""Anthropic's documented rule; other services count pictures in tiles, which comes to about as much."""


class BudgetSpent(PolicyFailed):
    """The next call could pass the budget; the message has the figures."""


class Price(NamedTuple):
    """US dollars per million tokens.

    Attributes:
        input: Of the prompt.
        output: Of the reply.
        cached: Of what of the prompt the server had kept; ``None``: as ``input``.
        cache_written: Of what of the prompt it keeps from now on; ``None``: as ``input``.
    """

    input: float
    output: float
    cached: float | None = None
    cache_written: float | None = None

    def of(self, input_tokens: int, output_tokens: int, cached: int = 0, cache_written: int = 0) -> float:
        """What so many tokens cost, in US dollars; the cached ones are among the input."""
        fresh = input_tokens - cached - cache_written
        prompt = self.input * fresh
        prompt += (self.input if self.cached is None else self.cached) * cached
        prompt += (self.input if self.cache_written is None else self.cache_written) * cache_written
        return (prompt + self.output * output_tokens) / _MILLION

    def at_most(self, input_tokens: int, output_tokens: int, *, caching: bool) -> float:
        """What so many tokens can cost.

        Args:
            input_tokens: Of the prompt.
            output_tokens: Of the reply.
            caching: Whether the server is asked to keep what it reads.
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
    """The price of a model, or ``None`` where ``prices.toml`` does not say it; the first line that fits."""
    for known, pattern, price in _table():
        if known == provider and fnmatch.fnmatchcase(model, pattern):
            return price
    return None


def dearest(provider: str, models: Sequence[str]) -> Price | None:
    """A price that none of these models passes; ``None`` where that of one is not known."""
    prices = [price_of(provider, model) for model in models]
    known = [price for price in prices if price is not None]
    if len(known) < len(models):
        return None
    written = [price.input if price.cache_written is None else price.cache_written for price in known]
    return Price(max(p.input for p in known), max(p.output for p in known), None, max(written))


def estimate_tokens(messages: Sequence[Message], ask: Ask | None = None) -> int:
    """About how many tokens a prompt has: four bytes each, which holds for English within a fifth."""
    size, count = 0, 0
    for message in messages:
        count += _TOKENS_A_MESSAGE
        content = message.get("content") or ""
        if isinstance(content, str):
            size += len(content.encode("utf-8", "replace"))
        else:
            for part in content:
                size += len(str(part.get("text", "")).encode("utf-8", "replace"))
                count += _picture_tokens(part)
        if message.get("tool_calls"):
            size += len(str(message["tool_calls"]))
    if ask is not None:
        size += sum(len(t.name) + len(t.description) + len(str(t.schema)) for t in ask.tools)
        size += len(str(ask.form)) if ask.form is not None else 0
    return count + round(size / _BYTES_A_TOKEN)


def _picture_tokens(part: Mapping[str, Any]) -> int:
    seen = picture(part)
    return 0 if seen is None else -(-seen.width * seen.height // _PIXELS_A_TOKEN)


@dataclass(frozen=True, slots=True)
class Spent:
    """What a slot's calls have cost so far.

    Attributes:
        calls: Calls that were answered.
        input_tokens: Tokens of their prompts.
        output_tokens: Tokens of their replies.
        usd: Their price in US dollars; ``None`` once one of unknown price was made.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0

    @property
    def tokens(self) -> int:
        """In and out together."""
        return self.input_tokens + self.output_tokens

    def plus(self, input_tokens: int, output_tokens: int, usd: float | None) -> Spent:
        """With one call more."""
        total = None if usd is None or self.usd is None else self.usd + usd
        return Spent(
            self.calls + 1, self.input_tokens + input_tokens, self.output_tokens + output_tokens, total
        )


class _Most(NamedTuple):
    """What a call can cost at most."""

    tokens: int
    usd: float


class Budget:
    """Lets a call begin only if the budget holds even when all that are under way cost their most.

    Args:
        tokens: Tokens, in and out together; 0 for no limit.
        usd: US dollars; 0 for no limit.
        price: What the model costs; needed where ``usd`` is limited.
        caching: Whether the server is asked to keep what it reads, which may cost more.
    """

    def __init__(self, tokens: int, usd: float, price: Price | None, *, caching: bool = False) -> None:
        self._tokens, self._usd, self._price, self._caching = tokens, usd, price, caching
        self._open: list[_Most] = []
        self._waiting: set[asyncio.Event] = set()
        self.spent = Spent()

    @asynccontextmanager
    async def room(self, input_tokens: int, output_tokens: int, until: float) -> AsyncGenerator[bool]:
        """Room for one call; waits for others that are under way where it may be theirs.

        Yields:
            Whether there is room; not, where the others were still under way at ``until`` (the loop's time).

        Raises:
            BudgetSpent: There is none, whatever the others turn out to cost.
        """
        if not self._tokens and not self._usd:
            yield True
            return
        usd = self._price.at_most(input_tokens, output_tokens, caching=self._caching) if self._price else 0.0
        most = _Most(input_tokens + output_tokens, usd)
        if not await self._enter(most, until):
            yield False
            return
        try:
            yield True
        finally:
            self._open.remove(most)
            for waiting in self._waiting:
                waiting.set()

    async def _enter(self, most: _Most, until: float) -> bool:
        while over := self._over(most):
            if not self._open:
                raise BudgetSpent(over)
            changed = asyncio.Event()
            self._waiting.add(changed)
            try:
                async with asyncio.timeout_at(until if until < math.inf else None):
                    await changed.wait()
            except TimeoutError:
                return False
            finally:
                self._waiting.discard(changed)
        self._open.append(most)
        return True

    def _over(self, most: _Most) -> str:
        """Why a call has no room now; empty where it has."""
        spent = self.spent
        tokens = spent.tokens + sum(o.tokens for o in self._open) + most.tokens
        if self._tokens and tokens > self._tokens:
            used = f"{spent.tokens:,} of {self._tokens:,} tokens in {spent.calls:,} calls"
            return f"the token budget is used up: {used}, and the next call may need {most.tokens:,}; {_MORE}"
        usd = (spent.usd or 0.0) + sum(o.usd for o in self._open) + most.usd
        if self._usd and usd > self._usd:
            used = f"${spent.usd or 0.0:.4f} of ${self._usd:.4f} in {spent.calls:,} calls"
            return f"the money budget is used up: {used}, and the next call may cost ${most.usd:.4f}; {_MORE}"
        return ""

    def settle(self, input_tokens: int, output_tokens: int, usd: float | None) -> None:
        """What a call has really cost; to be said within its :meth:`room`."""
        self.spent = self.spent.plus(input_tokens, output_tokens, usd)
