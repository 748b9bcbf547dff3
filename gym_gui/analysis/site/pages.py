"""Renders the main pages of a site: leaderboard, agents, episodes, runs, and a page per agent and run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gym_gui.analysis.charts import interval_charts, outcome_chart
from gym_gui.analysis.charts.shapes import operator_roles
from gym_gui.analysis.findings.cross_play import Found
from gym_gui.analysis.findings.summary import OperatorSummary, Summary
from gym_gui.analysis.pages.algorithm_page import algorithm_parts
from gym_gui.analysis.pages.film_choice import Scene, scenes_of
from gym_gui.analysis.pages.report_page import (
    chart_panel,
    failure_table,
    html_table,
    link,
    looks_line,
    methods_panel,
    missing_lines,
    notes_section,
    operator_parts,
    operator_table,
    panel,
    report_body,
    run_panels,
)
from gym_gui.analysis.pages.tournament_page import found_body, found_facts, page_header
from gym_gui.analysis.records.reader import Run
from gym_gui.analysis.site.episodes import SiteWritten
from gym_gui.analysis.site.file_names import Addresses, LinksFrom
from gym_gui.analysis.site.page_template import root_of
from gym_gui.analysis.words import wording
from gym_gui.analysis.words.html_markup import safe, shorten
from gym_gui.analysis.words.report_text import all_notes

_MOST_SCENES = 200
"""Largest number of an operator's episodes in the table of best, worst and failed episodes."""
_LONGEST_REASON = 160
_MOST_WHYS = 20


@dataclass(frozen=True)
class MainPages:
    """Renders the main pages of a site as HTML.

    Attributes:
        summary: Summary of the runs.
        found: Results of the tournament, if the run is one.
        runs: The runs.
        notes: Further notes on the site.
        addresses: Addresses of all pages.
        written: Counts of the pages of episodes that were written.
        has: Function that returns whether a page exists, given its path.
    """

    summary: Summary
    found: Found | None
    runs: Sequence[Run]
    notes: Sequence[str]
    addresses: Addresses
    written: SiteWritten
    has: Callable[[str], bool]

    @property
    def _roles(self) -> Mapping[str, str]:
        """Names of the operators' colors by operator key, the same on all pages."""
        return operator_roles(self.summary.operators)

    # -- leaderboard -----------------------------------------------------------------------

    def leaderboard(self) -> Iterator[str]:
        """Yield the HTML of the leaderboard: verdicts, tables and notes."""
        links = LinksFrom(self.addresses)
        summary, found = self.summary, self.found
        recorded = sum(o.recorded for o in summary.operators)
        facts = f"{wording.count(len(summary.operators), 'operator')}, {wording.count(recorded, 'episode')}"
        notes: Sequence[str] = list(all_notes(summary, missing=False))
        methods: Mapping[str, str] = summary.methods
        if found is None:
            yield page_header("Leaderboard", f"{facts} of {wording.count(len(summary.runs), 'run')}", "")
            parts = [part for trained in summary.trainings for part in algorithm_parts(trained)]
            yield from report_body(summary, parts, links)
        else:
            notes, methods = found.notes, found.methods
            yield page_header("Leaderboard", found_facts(found), "")
            yield from found_body(found, summary)
        yield failure_table(summary, links)
        yield notes_section([*notes, *self.notes, *self._left_out()])
        yield f"<h2>Methods</h2>{looks_line(summary)}{methods_panel(methods)}"

    def _left_out(self) -> Iterator[str]:
        """Yield notes on replays and transcripts that the site leaves out."""
        if lost := self.written.stopped:
            yield f"The site was stopped early: {wording.count(lost, 'episode')} without a page of their own."
        if lost := self.written.crowded_out:
            yield f"Left out to keep the site small: transcripts of {wording.count(lost, 'episode')}."

    # -- agents ----------------------------------------------------------------------------

    def agents(self) -> Iterator[str]:
        """Yield the HTML list of all operators with their players."""
        count = wording.count(len(self.summary.operators), "operator")
        yield page_header("Agents", f"{count}, each an environment with a policy per slot", "")
        rows = [
            [
                link(self.addresses.agent(o.key), safe(o.name)),
                safe(o.task or "-"),
                "<br>".join(safe(_slot_words(slot.slot, slot.worker_id, slot.policy)) for slot in o.slots),
                f"{o.recorded:,}",
                f"{o.failed + o.aborted:,}",
                link(self.addresses.run(o.run_id), safe(o.run_id)),
            ]
            for o in self.summary.operators
        ]
        headings = ["Operator", "Environment", "Players", "Episodes", "Incomplete", "Run"]
        if all(o.task in ("", self.summary.operators[0].task) for o in self.summary.operators):
            headings.remove("Environment")
            rows = [[row[0], *row[2:]] for row in rows]
        yield html_table(headings, rows, ("Operator", "Environment", "Players", "Run"))

    def agent(self, operator: OperatorSummary) -> Iterator[str]:
        """Yield the HTML page of one operator: results, comparisons, and links to its episodes."""
        path = self.addresses.agent(operator.key)
        root = root_of(path)
        run = link(root + self.addresses.run(operator.run_id), safe(f"run {operator.run_id}"))
        task = f"{safe(operator.task)} \N{MIDDLE DOT} " if operator.task else ""
        yield f'<header><h1>{safe(operator.name)}</h1><span class="muted">{task}{run}</span></header>'
        said = "".join(f"<p>{safe(sentence)}</p>" for sentence in self._sentences(operator))
        yield f'<section class="verdict">{said}</section>' if said else ""
        yield from operator_parts([operator], self._roles)
        charts = [*interval_charts([operator], self._roles), *filter(None, [outcome_chart([operator])])]
        yield f'<div class="grid">{"".join(map(chart_panel, charts))}</div>'
        yield self._slots(operator)
        yield notes_section(operator.notes)
        scenes = [scene for scene in scenes_of(self.summary) if scene.operator.key == operator.key]
        yield "<h2>Episodes</h2>"
        yield self._scene_table(scenes, root)
        yield self._lists(operator, root)

    def _sentences(self, operator: OperatorSummary) -> Iterator[str]:
        for c in self.summary.comparisons:
            if operator.key in (c.operator, c.first, c.second):
                yield f"{c.claim}{c.detail}."

    def _slots(self, operator: OperatorSummary) -> str:
        rows = [
            [
                safe(slot.slot),
                safe(_slot_words("", slot.worker_id, slot.policy)),
                safe(wording.estimate(slot.mean)),
                "-" if slot.unusable_decisions is None else f"{slot.unusable_decisions:,}",
                f"{slot.input_tokens:,} + {slot.output_tokens:,}" if slot.output_tokens else "-",
            ]
            for slot in operator.slots
        ]
        headings = ["Slot", "Player", "Mean return, 95 %", "Unusable", "Tokens"]
        return html_table(headings, rows, ("Slot", "Player"), "Players")

    # -- episodes --------------------------------------------------------------------------

    def episodes(self) -> Iterator[str]:
        """Yield the HTML page of episodes: best, median, worst and failed ones, and links to all lists."""
        written = self.written
        recorded = sum(o.recorded for o in self.summary.operators)
        facts = [wording.count(recorded, "episode")]
        facts += [wording.count(written.replays, "replay")] if written.replays else []
        facts += [wording.count(written.transcripts, "transcript")] if written.transcripts else []
        yield page_header("Episodes", ", ".join(facts), "")
        by_operator: defaultdict[str, list[Scene]] = defaultdict(list)
        for scene in scenes_of(self.summary):
            by_operator[scene.operator.key].append(scene)
        for operator in self.summary.operators:
            name = link(self.addresses.agent(operator.key), safe(operator.name))
            task = f' <span class="muted">{safe(operator.task)}</span>' if operator.task else ""
            yield f"<h2>{name}{task}</h2>"
            yield self._scene_table(by_operator[operator.key], "")
            yield self._lists(operator, "")
        whys = written.unplayable.most_common(_MOST_WHYS)
        yield notes_section(f"No replay of {wording.count(n, 'episode')}: {why}." for why, n in whys)

    def _scene_table(self, scenes: Sequence[Scene], root: str) -> str:
        if not scenes:
            return ""
        rows: list[list[str]] = []
        for scene in scenes[:_MOST_SCENES]:
            key, index = scene.operator.key, scene.episode_index
            page = self.addresses.episode(key, index)
            address = page if self.has(page) else self.addresses.line_of(key, index)
            bad = f'<span class="sub">{safe(shorten(scene.bad, _LONGEST_REASON))}</span>' if scene.bad else ""
            words = "Open" if self.has(page) else "In the list"
            rows.append([safe(scene.title), safe(scene.facts) + bad, link(root + address, words)])
        table = html_table(["Rank", "Episode", "Page"], rows, ("Rank", "Episode", "Page"))
        rest = len(scenes) - _MOST_SCENES
        return table + (f'<p class="muted">and {rest:,} more failed ones</p>' if rest > 0 else "")

    def _lists(self, operator: OperatorSummary, root: str) -> str:
        lists = self.written.lists.get(operator.key, [])
        links = "".join(
            link(root + path, f"{first:,} to {last:,}" if last > first else f"{first:,}")
            for path, first, last in lists
        )
        what = f"All {wording.count(operator.recorded, 'episode')}:" if operator.recorded != 1 else "Episode"
        return f'<nav class="lists" aria-label="Lists"><span>{what}</span>{links}</nav>' if lists else ""

    # -- runs ------------------------------------------------------------------------------

    def run_table(self) -> Iterator[str]:
        """Yield the HTML list of all runs."""
        yield page_header("Runs", wording.count(len(self.summary.runs), "run"), "")
        missing = missing_lines(self.summary)
        yield f'<section class="verdict">{missing}</section>' if missing else ""
        of_run: defaultdict[str, list[OperatorSummary]] = defaultdict(list)
        for operator in self.summary.operators:
            of_run[operator.run_id].append(operator)
        rows = [
            [
                link(self.addresses.run(run.run_id), safe(run.run_id)),
                safe(run.status),
                safe(run.started_at or "-"),
                f"{len(of_run[run.run_id]):,}",
                f"{sum(o.recorded for o in of_run[run.run_id]):,}",
                f"{len(run.seeds):,}",
            ]
            for run in self.summary.runs
        ]
        headings = ["Run", "Status", "Started", "Operators", "Episodes", "Seeds"]
        yield html_table(headings, rows, ("Run", "Status", "Started"))

    def run(self, run: Run) -> Iterator[str]:
        """Yield the HTML page of one run: operators, seeds, versions, and commands."""
        path = self.addresses.run(run.run_id)
        name = next((info.name for info in self.summary.runs if info.run_id == run.run_id), "")
        yield page_header("Run", f"{name} · {run.run_id}" if name else run.run_id, "")
        of_run = [o for o in self.summary.operators if o.run_id == run.run_id]
        links = LinksFrom(self.addresses, root_of(path))
        by_task: defaultdict[str, list[OperatorSummary]] = defaultdict(list)
        for operator in of_run:
            by_task[operator.task].append(operator)
        for task, operators in by_task.items():
            yield f"<h2>{safe(task or 'Operators')}</h2>{operator_table(operators, links, self._roles)}"
        yield "<h2>Source</h2>"
        yield run_panels(self.summary, [run])
        commands = [f"mosaic verify {run.run_id}", f"mosaic rerun {run.run_id}"]
        lines = "".join(f"<p><code>{safe(command)}</code></p>" for command in commands)
        yield panel("Commands that repeat the run", lines)


def _slot_words(slot: str, worker: str, policy: str | None) -> str:
    who = f"{worker}: {policy}" if policy else worker
    return f"{slot}: {who}" if slot else who
