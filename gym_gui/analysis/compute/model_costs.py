"""Adds up the tokens and costs of calls to language models, from ``calls.jsonl``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gym_gui.analysis.findings.summary import Calls, ModelAnswers
from gym_gui.analysis.records.reader import OperatorRun
from gym_gui.core.record_fields import count, mapping, number, text


@dataclass
class CallTally:
    """Number, tokens and costs of model calls, by one agent in one episode or by several in several.

    Attributes:
        total: Number of calls.
        failed: Number of calls without a reply.
        replayed: Number of calls answered with recorded replies, which cost nothing.
        input_tokens: Input tokens, including those of replayed calls.
        output_tokens: Output tokens, including those of replayed calls.
        usd: Sum of the known prices of calls that were sent, in US dollars.
        unpriced: Number of calls that were sent and answered, but whose price is unknown.
        cached_tokens: Input tokens that the server had cached from earlier prompts.
        models: Number of answered calls by requested model and answering model.
        unsure: Number of requests without a reply, for which the provider may have charged.
        unsure_usd: Largest possible cost of the unsure requests with known prices, in US dollars.
        estimated: Number of calls whose tokens are estimated from the lengths of the texts.
    """

    total: int = 0
    failed: int = 0
    replayed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0
    cached_tokens: int = 0
    models: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    unsure: int = 0
    unsure_usd: float = 0.0
    estimated: int = 0

    def add(self, other: CallTally) -> None:
        """Add the calls of another tally to this one."""
        self.total += other.total
        self.failed += other.failed
        self.replayed += other.replayed
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.usd += other.usd
        self.unpriced += other.unpriced
        self.cached_tokens += other.cached_tokens
        self.models += other.models
        self.unsure += other.unsure
        self.unsure_usd += other.unsure_usd
        self.estimated += other.estimated

    def note(self, call: dict[str, object]) -> None:
        """Add one call, given as a row of ``calls.jsonl``."""
        tokens = mapping(call.get("tokens")) or {}
        price, failed = number(call.get("usd")), bool(text(call.get("error")))
        replayed = call.get("replayed") is True
        self.total += 1
        self.failed += failed
        self.replayed += replayed
        self.input_tokens += count(tokens.get("input")) or 0
        self.output_tokens += count(tokens.get("output")) or 0
        self.cached_tokens += count(tokens.get("cached")) or 0
        if not failed:
            self.models[asked_and_answered(call)] += 1
        if not replayed:
            self.usd += price or 0.0
            self.unpriced += price is None and not failed
            unsure = mapping(call.get("unsure")) or {}
            self.unsure += count(unsure.get("requests")) or 0
            self.unsure_usd += number(unsure.get("usd")) or 0.0
            self.estimated += bool(text(call.get("estimated")))

    def frozen(self) -> Calls | None:
        """Return an immutable copy for a summary; ``None`` if there were no calls."""
        if not self.total:
            return None
        # If all prices are unknown, the sum is unknown; if some are unknown, the sum is a lower bound.
        sent = self.total - self.replayed - self.failed
        unknown = self.unpriced or self.unsure
        usd = None if unknown and self.unpriced == sent and not self.usd else self.usd
        return Calls(
            self.total,
            self.failed,
            self.replayed,
            self.input_tokens,
            self.output_tokens,
            usd,
            self.unpriced,
            self.cached_tokens,
            tuple(ModelAnswers(asked, by, n) for (asked, by), n in self.models.most_common() if asked or by),
            self.unsure,
            self.unsure_usd,
            self.estimated,
        )


def asked_and_answered(call: Mapping[str, object]) -> tuple[str, str]:
    """Return the requested model and the answering model of a row of ``calls.jsonl``."""
    asked = text(call.get("model")) or ""
    return asked, text(call.get("model_reported")) or text(call.get("fallback")) or asked


def collect_calls(operator: OperatorRun) -> dict[tuple[int, str], CallTally]:
    """Return an operator's model calls by episode and agent, including those of unfinished episodes.

    Calls that name no episode have the episode index -1; calls that name no agent have the agent ``""``.

    Raises:
        RunFormatError: A row is damaged.
    """
    found: dict[tuple[int, str], CallTally] = {}
    for line in operator.call_lines():
        call = line.value
        if call.get("kind") == "dry":
            continue
        # Calls of some workers name neither episode nor agent, but still count for the operator.
        index = count(call.get("episode"))
        key = -1 if index is None else index, text(call.get("agent")) or ""
        found.setdefault(key, CallTally()).note(call)
    return found


def summed(tallies: Iterable[CallTally]) -> CallTally:
    """Return the sum of several tallies."""
    whole = CallTally()
    for tally in tallies:
        whole.add(tally)
    return whole
