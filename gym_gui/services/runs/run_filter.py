"""Filters the list of runs by words and by terms with a keyword (``agent:ppo``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property, lru_cache, partial
from typing import Final

from gym_gui.services.runs.run_library import RunEntry

Accepts = Callable[["RunEntry"], bool]
_TERM: Final = re.compile(r'(-?)(?:([A-Za-z]+):)?(?:"([^"]*)"?|(\S+))?')
_SETTING: Final = re.compile(r"([^=<>]+)(=|<|>)(.*)", re.DOTALL)
_MOST_OFFERED: Final = 12


@dataclass(frozen=True)
class RunFilter:
    """Filter of a list of runs.

    Attributes:
        words: Terms that must all match. A word must occur in a run's name, tags, notes, agents,
            environments, id or status. A term with a keyword (``tag:paper``) is looked up in that field. A
            term after a minus must not match.
        environment: Show only runs in this environment (in the form of ``RunEntry.tasks``).
        status: Show only runs with this status.
    """

    words: str = ""
    environment: str = ""
    status: str = ""

    def accepts(self, run: RunEntry) -> bool:
        """Return whether a run passes the filter."""
        if self.environment and self.environment not in run.tasks:
            return False
        if self.status and self.status != run.status:
            return False
        for accepts in self._read[0]:  # noqa: SIM110  # faster than all(), at each key press for each run
            if not accepts(run):
                return False
        return True

    @property
    def problem(self) -> str:
        """Why a term of the filter is invalid, as a sentence. Invalid terms are ignored."""
        return self._read[1]

    @cached_property
    def _read(self) -> tuple[Sequence[Accepts], str]:
        terms: list[Accepts] = []
        problem = ""
        for minus, about, quoted, plain in _TERM.findall(self.words):
            text = (quoted or plain).casefold()
            if not text and not about:
                continue
            try:
                accepts = _term(about.casefold(), text)
            except ValueError as error:
                problem = problem or str(error)
                continue
            if accepts is not None:
                terms.append(partial(_not, accepts) if minus else accepts)
        return terms, problem


def _not(accepts: Accepts, run: RunEntry) -> bool:
    return not accepts(run)


def _term(about: str, text: str) -> Accepts | None:
    """Return the test of one term, or ``None`` if the term is not finished yet.

    Raises:
        ValueError: The term is invalid. The message says why.
    """
    if not about:
        return _starred if text in ("star", "★") else partial(_occurs, text)
    if about in _TEXTS:
        return partial(_is_about, about, text) if text else None
    if about in _DAYS:
        return _day(about, text) if text else None
    if about == "setting":
        return _setting(text) if text else None
    if about == "star":
        return _starred
    return partial(_occurs, f"{about}:{text}" if text else about)


def _occurs(text: str, run: RunEntry) -> bool:
    return text in run.searched


def _starred(run: RunEntry) -> bool:
    return run.labels.star


def _is_about(about: str, text: str, run: RunEntry) -> bool:
    for each in run.folded[about]:  # noqa: SIM110  # as above
        if text in each:
            return True
    return False


_TEXTS: Final = ("agent", "env", "worker", "tag", "group", "name", "note", "status", "folder")
_DAYS: Final = ("after", "before", "on")


# ------------------------------------------------------------------ days


def _day(about: str, text: str) -> Accepts | None:
    if text in ("today", "yesterday"):
        return partial(_began_lately, about, text == "yesterday")
    span = _span(text)
    if span is None:
        if len(text) < 8 and re.fullmatch(r"[\d-]*|t[oday]*|y[estrday]*", text):
            return None  # the user is still typing it
        raise ValueError(f"“{text}” is not a date: write 2026-11-01, 2026-11, 2026, today or yesterday")
    return partial(_began, about, *span)


def _began_lately(about: str, days_ago: int, run: RunEntry) -> bool:
    """Return whether a run began today or yesterday, computed anew because a list may be open at midnight."""
    first = datetime.now().astimezone().date() - timedelta(days=days_ago)
    return _began(about, first, first + timedelta(days=1), run)


def _span(text: str) -> tuple[date, date] | None:
    """Return the first day and the day after the last of a date, month or year, or ``None``."""
    try:
        if re.fullmatch(r"\d{4}", text):
            return date(int(text), 1, 1), date(int(text) + 1, 1, 1)
        year, month, *day = map(int, text.split("-"))
        if not day:
            first = date(year, month, 1)
            return first, (first + timedelta(days=31)).replace(day=1)
        first = date(year, month, *day)
    except (ValueError, TypeError, OverflowError):
        return None
    return first, first + timedelta(days=1)


def _began(about: str, first: date, end: date, run: RunEntry) -> bool:
    if run.started_at is None:
        return False
    day = run.started_at.astimezone().date()
    return day >= first if about == "after" else day < first if about == "before" else first <= day < end


# ------------------------------------------------------------------ settings


def _setting(text: str) -> Accepts | None:
    found = _SETTING.fullmatch(text)
    if found is None:
        return partial(_has_setting, _cached(partial(_contains, _plain(text))))
    key, sign, wanted = (part.strip() for part in found.groups())
    if not wanted:
        return None
    number = _number(wanted)
    if sign != "=" and number is None:
        raise ValueError(f"“{wanted}” is not a number: write one after {key}{sign}")
    names = _cached(partial(_fits, _plain(key)))
    return partial(_setting_is, names, _cached(partial(_value_is, sign, wanted, number)))


def _cached(asks: Callable[[str], bool]) -> Callable[[str], bool]:
    """Cache a test, because thousands of runs have the same few names and values."""
    return lru_cache(4096)(asks)


def _plain(key: str) -> str:
    return key.casefold().replace("-", "_").replace(" ", "_")


def _fits(key: str, name: str) -> bool:
    folded = _plain(name)
    return folded == key or folded.endswith(f".{key}")


def _contains(part: str, name: str) -> bool:
    return part in _plain(name)


def _has_setting(asks: Callable[[str], bool], run: RunEntry) -> bool:
    for name in run.settings:  # noqa: SIM110  # as above
        if asks(name):
            return True
    return False


def _setting_is(names: Callable[[str], bool], asks: Callable[[str], bool], run: RunEntry) -> bool:
    for name, values in run.settings.items():
        if names(name):
            for value in values:
                if asks(value):
                    return True
    return False


def _value_is(sign: str, wanted: str, number: float | None, value: str) -> bool:
    if number is None:
        return wanted in value.casefold()
    found = _number(value)
    if found is None:
        return sign == "=" and wanted == value.casefold()
    return found == number if sign == "=" else found > number if sign == ">" else found < number


def _number(text: str) -> float | None:
    try:
        return float(text.replace("_", ""))
    except ValueError:
        return None


# ------------------------------------------------------------------ suggestions


def offers(runs: Sequence[RunEntry]) -> dict[str, list[str]]:
    """Return suggested filter terms for these runs, by heading, the most frequent first."""
    tags = _most(tag for run in runs for tag in run.labels.tags)
    groups = _most(run.labels.group for run in runs if run.labels.group)
    agents = _most(o.name for run in runs for o in run.operators)
    workers = _most(worker for run in runs for worker in run.workers)
    found = {
        "Tags": [_word("tag", tag) for tag in tags],
        "Groups": [_word("group", group) for group in groups],
        "Agents": [_word("agent", agent) for agent in agents],
        "Workers": [_word("worker", worker) for worker in workers],
        "Settings": _settings_offered(runs),
        "When": ["on:today", "on:yesterday", f"after:{_week_ago()}"],
    }
    if any(run.labels.star for run in runs):
        found = {"": ["star"], **found}
    return {heading: words for heading, words in found.items() if words}


def _most(texts: Iterable[str]) -> list[str]:
    counts: dict[str, int] = {}
    for text in texts:
        counts[text] = counts.get(text, 0) + 1
    return sorted(counts, key=lambda text: -counts[text])[:_MOST_OFFERED]


def _settings_offered(runs: Sequence[RunEntry]) -> list[str]:
    """Return suggested filter terms for settings that have several values in these runs."""
    values: dict[str, dict[str, None]] = {}
    for run in runs:
        for name, each in run.settings.items():
            values.setdefault(name, {}).update(dict.fromkeys(each))
    several = {name: list(each) for name, each in values.items() if len(each) > 1}
    words = [_word("setting", f"{name.rpartition('.')[2]}={each[0]}") for name, each in several.items()]
    return list(dict.fromkeys(words))[:_MOST_OFFERED]


def _word(about: str, text: str) -> str:
    return f'{about}:"{text}"' if re.search(r"\s", text) else f"{about}:{text}"


def _week_ago() -> str:
    return (datetime.now().astimezone().date() - timedelta(days=7)).isoformat()
