"""Reading what servers send, of which anything may be missing or of another type."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from mosaic_llm_worker.servers import ServerError, ToolCall

if TYPE_CHECKING:
    from mosaic_llm_worker.transport import Transport

_NAMED: Final = 10


def as_object(value: object) -> dict[str, Any]:
    """A JSON object; an empty one in the place of anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def objects(value: object) -> list[dict[str, Any]]:
    """The JSON objects of a list; none where it is no list."""
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]


def plain(text: object) -> str:
    """Text that can be written anywhere: without halves of characters, which JSON can smuggle in."""
    return "" if text is None else str(text).encode("utf-8", "replace").decode()


def as_text(text: str, calls: Sequence[ToolCall], form_name: str) -> str:
    """What a model wrote and called where it was offered no tools: all of it is its answer.

    Args:
        text: Its words.
        calls: Tools that it called, whether there are such or not.
        form_name: The one by which a server gives a reply its form; its arguments are the reply.
    """
    written = [
        call.arguments_json
        if call.name == form_name
        else json.dumps({"name": call.name, "arguments": call.arguments_json}, ensure_ascii=False)
        for call in calls
    ]
    in_form = all(call.name == form_name for call in calls)
    return "\n".join(filter(None, ["" if in_form else text, *written]))


def count(value: object) -> int | None:
    """A number of tokens; ``None`` for what is none."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31:
        return value
    return None


def model_names(listed: Mapping[str, Any]) -> list[str]:
    """Names in a server's list of models.

    Raises:
        ServerError: It is no such list.
    """
    if not isinstance(listed.get("data"), list):
        raise ServerError("the server's list of models cannot be read")
    return sorted(plain(model["id"]) for model in objects(listed["data"]) if "id" in model)


class OnlyModel:
    """The model to ask for: the one that is set, else the only one that the server has.

    Args:
        name: Its name, or empty.
    """

    def __init__(self, name: str) -> None:
        self._name, self._asking = name, asyncio.Lock()

    async def name(self, transport: Transport) -> str:
        """Its name.

        Raises:
            ServerError: None is set and the server has none, or several.
        """
        if self._name:
            return self._name
        async with self._asking:
            if not self._name:
                self._name = _only(model_names(await transport.get("models")))
        return self._name


def _only(known: list[str]) -> str:
    if len(known) == 1:
        return known[0]
    if not known:
        raise ServerError("the server lists no model: set model_id to the one that it has", fatal=True)
    some = ", ".join(known[:_NAMED]) + (", …" if len(known) > _NAMED else "")
    raise ServerError(f"the server has {len(known)} models: set model_id to one of {some}", fatal=True)
