"""Numbers and verdicts as a person reads them. ASCII only: any terminal can show it."""

from __future__ import annotations

from collections.abc import Sequence

from gym_gui.analysis.summary import Calls, Decisions, Estimate, Share


def decimals(*values: float | None) -> int:
    """Digits after the point that fit numbers of this size: about three that matter."""
    size = max((abs(v) for v in values if v is not None), default=0.0)
    for limit, digits in ((1000, 0), (10, 1), (1, 2), (0.001, 3)):
        if size >= limit:
            return digits
    return 0 if size == 0 else 6


def number(value: float | None, digits: int | None = None) -> str:
    """A number, a dash for none."""
    if value is None:
        return "-"
    text = f"{value:,.{decimals(value) if digits is None else digits}f}"
    return text.removeprefix("-") if not text.strip("-0.") else text


def interval(low: float | None, high: float | None, digits: int | None = None) -> str:
    """``[low, high]``, a dash for none."""
    if low is None or high is None:
        return "-"
    digits = decimals(low, high) if digits is None else digits
    return f"[{number(low, digits)}, {number(high, digits)}]"


def estimate(e: Estimate) -> str:
    """``12.3 [10.1, 14.5]``; ``12.3 (all 20 equal)``; the number alone where there is no interval."""
    digits = decimals(e.value, e.low, e.high)
    if e.note.endswith("equal"):
        return f"{number(e.value, digits)} ({e.note})"
    if e.low is None or e.high is None:
        return number(e.value, digits)
    return f"{number(e.value, digits)} {interval(e.low, e.high, digits)}"


def percent(value: float | None) -> str:
    """A share in per cent; never 0 % or 100 % unless it is exactly that."""
    if value is None:
        return "-"
    if 0 < value < 0.001:
        return "<0.1 %"
    if 0.999 < value < 1:
        return ">99.9 %"
    whole = round(100 * value)
    return f"{100 * value:.1f} %" if whole in (0, 100) and 0 < value < 1 else f"{whole} %"


def share(s: Share | None) -> str:
    """``34/40 (85 % [71, 93])``."""
    if s is None or s.value is None or s.low is None or s.high is None:
        return "-"
    return f"{s.hits}/{s.n} ({percent(s.value)} [{100 * s.low:.0f}, {100 * s.high:.0f}])"


def p_value(p: float) -> str:
    """``p = 0.012``."""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}" if p < 0.1 else f"p = {p:.2f}"


def milliseconds(ms: float | None) -> str:
    """A latency in the unit that suits it."""
    if ms is None:
        return "-"
    if ms >= 1000:
        return f"{ms / 1000:.1f} s"
    return f"{ms:.0f} ms" if ms >= 10 else f"{ms:.1f} ms" if ms >= 0.1 else f"{ms * 1000:.0f} us"


def dollars(usd: float | None) -> str:
    """A price; never $0.00 unless it is nothing."""
    if usd is None:
        return "unknown"
    if usd == 0:
        return "$0"
    if usd < 0.0001:
        return "<$0.0001"
    return f"${usd:,.2f}" if usd >= 1 else f"${usd:.4f}"


def price(calls: Calls | None) -> str:
    """What calls cost: ``$0.0123``, ``at least $0.0123`` where some prices are not known, ``unknown``."""
    if calls is None:
        return "-"
    unknown = calls.unpriced or calls.unsure
    return f"at least {dollars(calls.usd)}" if unknown and calls.usd is not None else dollars(calls.usd)


def calls(c: Calls | None) -> str:
    """What is to be known of calls that were not simply answered and paid; empty where all were."""
    if c is None:
        return ""
    parts = [
        f"{c.failed:,} without a reply" if c.failed else "",
        f"{c.replayed:,} replayed from a cassette, at no cost" if c.replayed else "",
        f"{c.unpriced:,} at a price that is not known" if c.unpriced else "",
        _unsure(c),
        f"tokens of {c.estimated:,} estimated from the lengths" if c.estimated else "",
    ]
    told = ", ".join(part for part in parts if part)
    return f"of {count(c.total, 'call')}: {told}" if told else ""


def answered_by(asked: str, by: str) -> str:
    """``gpt-4o``, or ``gpt-4o, answered by gpt-4o-mini`` where another model answered than was asked."""
    return f"{asked}, answered by {by}" if asked and by and asked != by else by or asked


def models(c: Calls | None) -> str:
    """Which models were asked and which answered, with how many calls where there were several."""
    if c is None or not c.models:
        return "-"
    told = [answered_by(m.asked, m.by) for m in c.models]
    if len(told) > 1:
        told = [f"{words} ({m.calls:,})" for words, m in zip(told, c.models, strict=True)]
    return "; ".join(told)


def _unsure(c: Calls) -> str:
    if not c.unsure:
        return ""
    most = f", at most {dollars(c.unsure_usd)}" if c.unsure_usd else ""
    return f"{count(c.unsure, 'request')} without an answer that may have been paid for{most}"


def names(listed: Sequence[str]) -> str:
    """``A, B and C``; of many the first two and how many more."""
    shown = list(listed) if len(listed) <= 3 else [*listed[:2], f"{len(listed) - 2} more"]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]


def count(n: int, what: str) -> str:
    """``1 episode``, ``2 episodes``."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def fallbacks(d: Decisions | None) -> str:
    """Actions that were not the policy's own, by source; empty where there are none."""
    words = {"noop": "no-op", "random_legal": "random legal", "retry": "after a retry", "option": "by option"}
    if d is None:
        return ""
    counts = d.by_source
    parts = [f"{counts[source]:,} {word}" for source, word in words.items() if counts.get(source)]
    return ", ".join(parts)
