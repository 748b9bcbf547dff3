"""Prints the plan of ``mosaic run --dry-run``: episodes, and prompts, calls and prices of models."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from gym_gui.analysis.words import wording
from gym_gui.analysis.words.report_text import clean
from gym_gui.cli.errors import print_message
from gym_gui.cli.output import write_line
from gym_gui.controllers.engine.resolved_operator import ResolvedOperator
from gym_gui.controllers.runs.cost_estimate import BASIS, BudgetReach, ModelSlot, carried
from gym_gui.controllers.runs.shard_plan import ShardPlan
from gym_gui.core.config import Experiment
from gym_gui.services.experiment_file import describe


def print_plan(
    experiment: Experiment,
    resolved_operators: Sequence[ResolvedOperator],
    processes: int,
    slots: Sequence[ModelSlot],
    part: ShardPlan | None = None,
    *,
    as_json: bool,
) -> None:
    """Print what would be played and which calls to models would be made.

    Args:
        experiment: The experiment.
        resolved_operators: Checked operators of the experiment.
        processes: Number of session processes.
        slots: Estimates for slots that would call a model.
        part: Shard that would be played; ``None`` for the whole experiment.
        as_json: Whether to print JSON.
    """
    if as_json:
        plan: dict[str, Any] = {
            "experiment": experiment.to_record(),
            "processes": processes,
            "environments": {c.config.operator_id: c.env_id for c in resolved_operators},
        }
        if part is not None:
            plan["shard"] = dict(part.record)
        if slots:
            budgets = [each.to_json() for each in carried(experiment, slots)]
            plan |= {"models": [slot.to_json() for slot in slots], "basis": BASIS, "budgets": budgets}
        sys.stdout.write(json.dumps(plan) + "\n")
        return
    sys.stdout.write(describe(experiment) + "\n")
    for resolved in resolved_operators:
        for note in resolved.notes:
            sys.stdout.write(f"Note: {note} (operator {resolved.config.operator_id}).\n")
    if part is not None:
        _print_part(part)
    if slots:
        _print_models(slots)
        _print_budgets(carried(experiment, slots))
        sys.stdout.write(f"\nProcesses: {processes}. No model was called, and no run was recorded.\n")
        _warn_of_servers(slots)
    else:
        sys.stdout.write(f"\nProcesses: {processes}. Nothing was played.\n")


def print_load_notes(notes: Sequence[str]) -> None:
    """Print on stderr the notes from the check in which workers load their slots."""
    for note in notes:
        sys.stderr.write(f"Note: {clean(note)}.\n")


def _warn_of_servers(slots: Sequence[ModelSlot]) -> None:
    """Print on stderr which model servers do not answer, because a run would be refused."""
    for reason in dict.fromkeys(slot.unreachable for slot in slots if slot.unreachable):
        print_message(f"a run would be refused now: {clean(reason)}")


def _print_part(part: ShardPlan) -> None:
    """Print which episodes a shard would play."""
    played = [f"{name} {of[0]} to {of[-1]}" for name, of in part.only.items()]
    episodes = wording.count(sum(map(len, part.only.values())), "episode")
    which = f" ({', '.join(played)})" if played else ""
    write_line(f"Part to play, {part.shard.words}: {episodes}{which}.")


def _print_models(slots: Sequence[ModelSlot]) -> None:
    """Print which calls to models would be made, and their cost."""
    for slot in slots:
        write_line()
        _print_slot(slot)
    write_line()
    _print_sum(slots)


def _print_slot(slot: ModelSlot) -> None:
    model = " ".join(part for part in (slot.provider, slot.model) if part)
    write_line(clean(f"{slot.operator}, {slot.slot}: {model}"))
    if not slot.messages:
        write_line("  This slot made no decision in the episodes of the dry run.")
        return
    write_line(f"  First prompt, about {slot.prompt_tokens:,} tokens:")
    for message in slot.messages:
        write_line(f"    [{clean(message.role)}]")
        for line in message.text.split("\n"):
            write_line(clean(f"    {line.expandtabs(4)}").rstrip())
    each = slot.dry_calls / slot.dry_episodes
    calls = round(slot.dry_calls * slot.factor)
    episodes = wording.count(slot.episodes, "episode")
    write_line(f"  Calls:   about {calls:,} ({wording.number(each)} an episode, {episodes})")
    read, written = round(slot.input_tokens * slot.factor), round(slot.output_tokens * slot.factor)
    most = "unbounded" if slot.most_tokens is None else f"at most {slot.most_tokens * slot.episodes:,}"
    write_line(f"  Tokens:  about {read:,} in and {written:,} out; {most}")
    write_line(f"  Price:   {_price(slot)}")
    if slot.unbounded:
        write_line(clean(f"  {UNBOUNDED}"))


UNBOUNDED = (
    "Nothing limits the steps of an episode: set max_steps, or episode_token_limit and "
    "episode_cost_limit_usd of the slot."
)


def _price(slot: ModelSlot) -> str:
    if slot.usd is None:
        known = " ".join(part for part in (slot.provider, slot.model) if part)
        return clean(f"unknown: the worker's prices.toml has no entry for {known}")
    if not slot.usd and not slot.most_usd:
        return "free, no price per token"
    most = None if slot.most_usd is None else slot.most_usd * slot.episodes
    return f"about {wording.dollars(slot.usd * slot.factor)}; {_at_most(most)}"


def _at_most(usd: float | None) -> str:
    return "unbounded" if usd is None else f"at most {wording.dollars(usd)}"


def _print_sum(slots: Sequence[ModelSlot]) -> None:
    calls = sum(round(slot.dry_calls * slot.factor) for slot in slots)
    priced = [slot for slot in slots if slot.usd is not None]
    parts = [f"about {calls:,} calls"]
    if priced:
        about = sum((slot.usd or 0.0) * slot.factor for slot in priced)
        most = [slot.most_usd for slot in priced]
        known = [usd * slot.episodes for usd, slot in zip(most, priced, strict=True) if usd is not None]
        parts.append(f"about {wording.dollars(about)}")
        parts.append(_at_most(sum(known) if len(known) == len(priced) else None))
    if unknown := len(slots) - len(priced):
        parts.append(f"{wording.count(unknown, 'slot')} with an unknown price")
    write_line(f"In total: {', '.join(parts)}.")
    played = max(slot.dry_episodes for slot in slots)
    write_line(f"Estimated from {wording.count(played, 'episode')} of each operator. {BASIS}")


def _print_budgets(budgets: Sequence[BudgetReach]) -> None:
    """Print how many episodes each budget of money or tokens suffices for."""
    for each in budgets:
        money = f"{wording.dollars(each.budget.usd)}" if each.budget.usd else ""
        tokens = f"{each.budget.tokens:,} tokens" if each.budget.tokens else ""
        given = " and ".join(part for part in (money, tokens) if part)
        sure = "no lower bound is known" if each.at_least is None else f"at least {each.at_least:,}"
        write_line(
            clean(
                f"The budget of {each.whose}, {given}, is enough for about {each.about:,} of "
                f"{wording.count(each.episodes, 'episode')} of each operator ({sure}); the others are not "
                "played."
            )
        )
