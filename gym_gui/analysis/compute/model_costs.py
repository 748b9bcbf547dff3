"""Adds up what calls to models took: tokens and, where it is known, money."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gym_gui.analysis.findings.summary import Answered, Calls
from gym_gui.analysis.records.reader import OperatorRun
from gym_gui.core.record_fields import count, mapping, number, text


@dataclass
class CallTally:
    """Calls to models by one agent in one episode, or the sum of several tallies.

    Attributes:
        total: Calls.
        failed: Calls that brought no reply.
        replayed: Calls answered from a cassette (recorded replies); they cost nothing.
        input_tokens: Tokens read, those of replayed calls included.
        output_tokens: Tokens written.
        usd: Sum of the known prices of calls that were sent.
        unpriced: Calls that were sent and answered, but whose price is unknown.
        cached_tokens: Tokens read that the server had kept from earlier prompts.
        models: Answered calls by the model that was asked and the one that answered.
        unsure: Requests without a reply, for which the provider may have charged.
        unsure_usd: What the unsure requests can have cost at most, as far as prices are known.
        estimated: Calls whose tokens are estimated from the lengths of the texts.
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
        """Count those of another as well."""
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
        """Count a row of ``calls.jsonl``."""
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
        """As it stands in a summary; ``None`` where there were no calls."""
        if not self.total:
            return None
        # Nothing but unknown prices is an unknown sum; some of them make it a lower bound.
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
            tuple(Answered(asked, by, n) for (asked, by), n in self.models.most_common() if asked or by),
            self.unsure,
            self.unsure_usd,
            self.estimated,
        )


def asked_and_answered(call: Mapping[str, object]) -> tuple[str, str]:
    """The model that a row of ``calls.jsonl`` asked for, and the one that answered."""
    asked = text(call.get("model")) or ""
    return asked, text(call.get("model_reported")) or text(call.get("fallback")) or asked


def collect_calls(operator: OperatorRun) -> dict[tuple[int, str], CallTally]:
    """Read ``calls.jsonl``: calls by episode and agent, those of lost or unfinished episodes included.

    Raises:
        RunFormatError: A row is damaged.
    """
    found: dict[tuple[int, str], CallTally] = {}
    for line in operator.call_lines():
        call = line.value
        if call.get("kind") == "dry":
            continue
        # Calls of other workers may say neither; they count for the operator all the same.
        index = count(call.get("episode"))
        key = -1 if index is None else index, text(call.get("agent")) or ""
        found.setdefault(key, CallTally()).note(call)
    return found


def summed(tallies: Iterable[CallTally]) -> CallTally:
    """All of them together."""
    whole = CallTally()
    for tally in tallies:
        whole.add(tally)
    return whole
