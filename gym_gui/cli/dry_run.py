"""What ``mosaic run --dry-run`` says of slots that would ask a model: first prompts, calls, price."""

from __future__ import annotations

from collections.abc import Sequence

from gym_gui.analysis import wording
from gym_gui.analysis.text import clean
from gym_gui.cli.output import write_line
from gym_gui.controllers.rehearsal import BASIS, ModelSlot


def say_models(slots: Sequence[ModelSlot]) -> None:
    """Print what models would be asked, and what that would cost."""
    for slot in slots:
        write_line()
        _say_slot(slot)
    write_line()
    _say_sum(slots)


def _say_slot(slot: ModelSlot) -> None:
    model = " ".join(part for part in (slot.provider, slot.model) if part)
    write_line(clean(f"{slot.operator}, {slot.slot}: {model}"))
    if not slot.messages:
        write_line("  It has not decided anything in the episodes that were played.")
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
    write_line(f"  Tokens:  about {read:,} in, at most {written:,} out")
    write_line(f"  Price:   {_price(slot)}")


def _price(slot: ModelSlot) -> str:
    if slot.usd is None:
        known = " ".join(part for part in (slot.provider, slot.model) if part)
        return clean(f"not known: prices.toml of the worker has no line for {known}")
    return (
        f"at most about {wording.dollars(slot.usd * slot.factor)}"
        if slot.usd
        else "nothing is paid per token"
    )


def _say_sum(slots: Sequence[ModelSlot]) -> None:
    calls = sum(round(slot.dry_calls * slot.factor) for slot in slots)
    prices = [slot.usd * slot.factor for slot in slots if slot.usd is not None]
    parts = [f"about {calls:,} calls"]
    if prices:
        parts.append(f"at most about {wording.dollars(sum(prices))}")
    if unknown := len(slots) - len(prices):
        parts.append(f"{wording.count(unknown, 'slot')} at a price that is not known")
    write_line(f"In all: {', '.join(parts)}.")
    played = max(slot.dry_episodes for slot in slots)
    write_line(f"Estimated from {wording.count(played, 'episode')} of each operator, {BASIS}")
