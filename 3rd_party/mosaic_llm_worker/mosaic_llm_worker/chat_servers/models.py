"""The models that a server has, and the one that is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from mosaic_llm_worker.chat_servers.replies import objects, plain
from mosaic_llm_worker.chat_servers.servers import ServerError
from mosaic_llm_worker.chat_servers.transport import Transport

_NAMED: Final = 10


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
