"""Formats numbers and short phrases for reading.

All numbers in displayed results are formatted here. A :class:`Locale` defines separators and signs. Without
an explicit locale, functions use the one that :func:`written_as` has set, or :data:`C`, which is plain ASCII.
Files contain unformatted numbers.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gym_gui.analysis.findings.summary import Calls, Decisions
    from gym_gui.analysis.statistics.summary_numbers import Estimate, Share


@dataclass(frozen=True, slots=True)
class Locale:
    """Separators, signs and prefixes for formatted numbers.

    Attributes:
        point: Decimal separator.
        group: Thousands separator.
        none: Text for a missing number.
        micro: Unit prefix for a millionth.
        minus: Minus sign.
    """

    point: str = "."
    group: str = ","
    none: str = "-"
    micro: str = "u"
    minus: str = "-"

    def write(self, number: str) -> str:
        """Return a number that Python formatted, with this locale's separators and minus sign."""
        return number.translate({ord("."): self.point, ord(","): self.group, ord("-"): self.minus})


C = Locale()
SCREEN = Locale(none="–", micro="µ", minus="\N{MINUS SIGN}")  # noqa: RUF001  # the dash of an empty cell
"""Locale for graphical displays, which can show all characters."""
_written: ContextVar[Locale] = ContextVar("written", default=C)


@contextmanager
def written_as(locale: Locale) -> Generator[None]:
    """Make a locale the default for functions that format numbers, inside the ``with`` block."""
    token = _written.set(locale)
    try:
        yield
    finally:
        _written.reset(token)


def written(text: str) -> str:
    """Return a number that Python formatted, with the separators of the locale of :func:`written_as`."""
    return _written.get().write(text)


def whole(n: float) -> str:
    """Return a number as text without decimals, e.g. ``3,512``."""
    return number(n, 0)


def decimals(*values: float | None) -> int:
    """Return the number of decimals with which the largest value has about three significant digits."""
    size = max((abs(v) for v in values if v is not None), default=0.0)
    for limit, digits in ((1000, 0), (10, 1), (1, 2), (0.001, 3)):
        if size >= limit:
            return digits
    return 0 if size == 0 else 6


def number(value: float | None, digits: int | None = None, locale: Locale | None = None) -> str:
    """Return a number as text; the locale's ``none`` for ``None``."""
    locale = locale or _written.get()
    if value is None:
        return locale.none
    text = f"{value:,.{decimals(value) if digits is None else digits}f}"
    return locale.write(text.removeprefix("-") if not text.strip("-0.") else text)


def steps_in_words(steps: float, locale: Locale | None = None) -> str:
    """Return a number of steps as short text, such as ``800``, ``1,500``, ``12k`` or ``1.25M``."""
    locale = locale or _written.get()
    if steps < 10_000:
        return locale.write(f"{steps:,.0f}")
    size, letter = (1e6, "M") if steps >= 999_500 else (1e3, "k")
    number = steps / size
    return locale.write(f"{number:.3g}{letter}" if number < 1000 else f"{number:,.0f}{letter}")


def interval(
    low: float | None, high: float | None, digits: int | None = None, locale: Locale | None = None
) -> str:
    """Return ``[low, high]`` as text; the locale's ``none`` if an end is ``None``."""
    locale = locale or _written.get()
    if low is None or high is None:
        return locale.none
    digits = decimals(low, high) if digits is None else digits
    comma = "," if locale.point != "," else ";"
    return f"[{number(low, digits, locale)}{comma} {number(high, digits, locale)}]"


def estimate(e: Estimate, locale: Locale | None = None) -> str:
    """Return text like ``12.3 [10.1, 14.5]`` or ``12.3 (all 20 equal)``; without interval only the number."""
    locale = locale or _written.get()
    digits = decimals(e.value, e.low, e.high)
    value = number(e.value, digits, locale)
    if e.note.endswith("equal"):
        return f"{value} ({e.note})"
    if e.low is None or e.high is None:
        return value
    return f"{value} {interval(e.low, e.high, digits, locale)}"


def estimate_or_why(e: Estimate, locale: Locale | None = None) -> str:
    """Return an estimate with its interval, or why it has none: ``12.3 (3 ep.)`` has too few episodes."""
    locale = locale or _written.get()
    if e.value is None or e.low is not None:
        return estimate(e, locale)
    value = number(e.value, locale=locale)
    return f"{value} ({e.note.replace('episodes', 'ep.')})" if e.note else value


def percent(value: float | None, locale: Locale | None = None) -> str:
    """Return a share in percent as text, rounded to 0 % or 100 % only if it is exactly 0 or 1."""
    locale = locale or _written.get()
    if value is None:
        return locale.none
    if 0 < value < 0.001:
        return locale.write("<0.1 %")
    if 0.999 < value < 1:
        return locale.write(">99.9 %")
    whole = round(100 * value)
    return locale.write(f"{100 * value:.1f} %" if whole in (0, 100) and 0 < value < 1 else f"{whole} %")


def share(s: Share | None, locale: Locale | None = None) -> str:
    """Return a share with counts and interval, as in ``34/40 (85 % [71, 93])``."""
    locale = locale or _written.get()
    if s is None or s.value is None or s.low is None or s.high is None:
        return locale.none
    return f"{s.hits}/{s.n} ({percent(s.value, locale)} [{100 * s.low:.0f}, {100 * s.high:.0f}])"


def not_ruled_out(n: int, what: str, unseen: float | None, mean: float) -> str:
    """Return which rare outcomes a sample cannot rule out: ``20 seeds cannot rule out something rarer …``.

    Args:
        n: Number of independent units.
        what: Noun for one unit, such as ``seed``.
        unseen: 95 % upper bound of the share of an outcome that no unit showed; ``None`` gives an empty text.
        mean: Observed mean difference, from which the loss that would reverse the result is computed.
    """
    if not unseen or not math.isfinite(mean):
        return ""
    rarer = f"{count(n, what)} cannot rule out something rarer than about 1 in {number(1 / unseen, 0)}"
    loss = number(abs(mean) * (1 - unseen) / unseen)
    return f"{rarer}; a loss of more than {loss} there would reverse this"


def p_value(p: float) -> str:
    """Return a p-value as text, e.g. ``p = 0.012``."""
    words = "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}" if p < 0.1 else f"p = {p:.2f}"
    return written(words)


def milliseconds(ms: float | None, locale: Locale | None = None) -> str:
    """Return a latency as text in s, ms or µs."""
    locale = locale or _written.get()
    if ms is None:
        return locale.none
    if ms >= 1000:
        return locale.write(f"{ms / 1000:.1f} s")
    if ms >= 0.1:
        return locale.write(f"{ms:.0f} ms" if ms >= 10 else f"{ms:.1f} ms")
    return f"{ms * 1000:.0f} {locale.micro}s"


def duration(seconds: float | None, locale: Locale | None = None, *, rough: bool = False) -> str:
    """Return a duration as text, such as ``8 s``, ``1 min 24 s``, ``2 h 5 min`` or ``3 d 4 h``.

    Args:
        seconds: Duration; ``None`` gives the locale's ``none``.
        locale: Locale, if not that of :func:`written_as`.
        rough: Whether the duration is only an estimate, so that from 90 s on only minutes are shown.
    """
    locale = locale or _written.get()
    if seconds is None or not math.isfinite(seconds):
        return locale.none
    whole = max(round(seconds), 0)
    if rough and whole >= 90:
        whole = 60 * round(seconds / 60)
    if whole < (90 if rough else 60):
        return f"{whole} s"
    if whole < 3600:
        return _two_units(whole, 60, "min", 1, "s")
    if whole < 86_400:
        return _two_units(whole, 3600, "h", 60, "min")
    return _two_units(whole, 86_400, "d", 3600, "h")


def moment(when: datetime | None, *, brief: bool = False) -> str:
    """Return a time as text: ``today 14:03``, ``yesterday 09:12``, ``12 Jul 14:03`` or ``12 Jul 2024``.

    Args:
        when: Time with its time zone; ``None`` gives an empty text.
        brief: Whether to omit the time of day except for today: ``yesterday``, ``Monday``, ``12 Jul 2026``.
    """
    if when is None:
        return ""
    local, now = when.astimezone(), datetime.now().astimezone()
    days = (now.date() - local.date()).days
    if days == 0:
        return f"today {local:%H:%M}"
    if days == 1:
        return "yesterday" if brief else f"yesterday {local:%H:%M}"
    if brief:
        return f"{local:%A}" if 1 < days < 7 else f"{local.day} {local:%b %Y}"
    return f"{local.day} {local:%b %H:%M}" if local.year == now.year else f"{local.day} {local:%b %Y}"


def _two_units(whole: int, large: int, large_word: str, small: int, small_word: str) -> str:
    first, rest = divmod(whole, large)
    second = rest // small
    return f"{first} {large_word} {second} {small_word}" if second else f"{first} {large_word}"


def dollars(usd: float | None, locale: Locale | None = None) -> str:
    """Return a price in dollars as text, with enough digits that a price above 0 is not shown as 0."""
    locale = locale or _written.get()
    if usd is None:
        return "unknown"
    if usd == 0:
        return "$0"
    if usd < 0.0001:
        return locale.write("<$0.0001")
    return locale.write(f"${usd:,.2f}" if usd >= 1 else f"${usd:.4f}")


def price(calls: Calls | None, locale: Locale | None = None) -> str:
    """Return the cost of calls: ``$0.0123``, ``unknown``, or ``at least $0.0123`` if some are unknown."""
    locale = locale or _written.get()
    if calls is None:
        return locale.none
    known, unsure = dollars(calls.usd, locale), calls.unpriced or calls.unsure
    return f"at least {known}" if unsure and calls.usd is not None else known


def calls(c: Calls | None) -> str:
    """Return a note on calls that failed, were replayed or have unknown prices; empty without such calls."""
    if c is None:
        return ""
    parts = [
        f"{whole(c.failed)} without a reply" if c.failed else "",
        f"{whole(c.replayed)} replayed from a cassette, at no cost" if c.replayed else "",
        f"{whole(c.unpriced)} with an unknown price" if c.unpriced else "",
        _unsure(c),
        f"tokens of {whole(c.estimated)} estimated from text lengths" if c.estimated else "",
    ]
    words = ", ".join(part for part in parts if part)
    return f"of {count(c.total, 'call')}: {words}" if words else ""


def answered_by(asked: str, by: str) -> str:
    """Return the requested model, such as ``gpt-4o``, or ``gpt-4o, answered by gpt-4o-mini``."""
    return f"{asked}, answered by {by}" if asked and by and asked != by else by or asked


def models(c: Calls | None) -> str:
    """Return the requested and answering models as text, with numbers of calls if there are several."""
    if c is None or not c.models:
        return "-"
    texts = [answered_by(m.asked, m.by) for m in c.models]
    if len(texts) > 1:
        texts = [f"{words} ({whole(m.calls)})" for words, m in zip(texts, c.models, strict=True)]
    return "; ".join(texts)


def _unsure(c: Calls) -> str:
    if not c.unsure:
        return ""
    most = f", at most {dollars(c.unsure_usd)}" if c.unsure_usd else ""
    return f"{count(c.unsure, 'request')} without an answer that may have been paid for{most}"


def names(listed: Sequence[str]) -> str:
    """Return ``A, B and C``; for more than three names ``A, B and 2 more``."""
    shown = list(listed) if len(listed) <= 3 else [*listed[:2], f"{len(listed) - 2} more"]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]


def size(in_bytes: int, locale: Locale | None = None) -> str:
    """Return a size as text in GB, MB, kB or bytes, e.g. ``12.3 MB``."""
    locale = locale or _written.get()
    for power, unit in ((9, "GB"), (6, "MB")):
        if in_bytes >= 10**power:
            return locale.write(f"{in_bytes / 10**power:,.1f} {unit}")
    return locale.write(f"{in_bytes / 1e3:.0f} kB") if in_bytes >= 1e3 else count(in_bytes, "byte", locale)


def count(n: int, what: str, locale: Locale | None = None) -> str:
    """Return a number with its noun in singular or plural, as in ``1 episode`` and ``2 episodes``."""
    locale = locale or _written.get()
    return f"{number(n, 0, locale)} {what}" if n == 1 else f"{number(n, 0, locale)} {what}s"


def fallbacks(d: Decisions | None) -> str:
    """Return the numbers of actions that were not a policy's first choice, by source; empty without any."""
    words = {
        "noop": "no-op",
        "default": "default",
        "random_legal": "random legal",
        "retry": "after a retry",
        "option": "by option",
    }
    if d is None:
        return ""
    counts = d.by_source
    parts = [f"{whole(counts[source])} {word}" for source, word in words.items() if counts.get(source)]
    return ", ".join(parts)


def trainings(counts: Sequence[int]) -> str:
    """Return numbers of trainings as text, such as ``10 trainings each`` or ``10 and 8 trainings``."""
    if len(set(counts)) == 1:
        return f"{count(counts[0], 'training')}{' each' if len(counts) > 1 else ''}"
    return f"{names([f'{n:,}' for n in counts])} trainings"
