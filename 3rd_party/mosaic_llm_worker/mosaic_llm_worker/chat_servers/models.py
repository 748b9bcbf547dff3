"""Reads the list of a server's models and finds the model to call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from mosaic_llm_worker.chat_servers.replies import objects, plain
from mosaic_llm_worker.chat_servers.servers import ServerError
from mosaic_llm_worker.chat_servers.transport import Transport

_NAMED: Final = 10


def model_names(listed: Mapping[str, Any]) -> list[str]:
    """Return the names in a server's list of models, sorted.

    Raises:
        ServerError: ``listed`` is no list of models.
    """
    if not isinstance(listed.get("data"), list):
        raise ServerError("the server's list of models cannot be read")
    return sorted(plain(model["id"]) for model in objects(listed["data"]) if "id" in model)


class OnlyModel:
    """Finds the name of the model to call: the one in the settings, or the server's only model.

    Args:
        name: Name in the settings, or empty.
    """

    def __init__(self, name: str) -> None:
        self._name, self._asking = name, asyncio.Lock()

    async def name(self, transport: Transport) -> str:
        """Return the name of the model.

        Raises:
            ServerError: No name is set and the server has no model, or several.
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
