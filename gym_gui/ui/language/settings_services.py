"""Window services for forms with worker settings: test model servers, store keys, edit prompts and files."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gym_gui.core.errors import MosaicError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.services.api_keys import PROVIDERS, ApiKeys, Provider
from gym_gui.services.module_query import ask
from gym_gui.services.secrets import resolve_secrets
from gym_gui.ui.context import AppContext
from gym_gui.ui.editor.file_request import FileRequest
from gym_gui.ui.numbers import local
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.settings.settings_schema import Setting

REMEMBERED: Final = 20


@dataclass(frozen=True, slots=True)
class ServerTestResult:
    """Result of testing a model server.

    Attributes:
        ok: Whether the server answers correctly.
        sentence: The result as a sentence; for a failure, also the fix.
        models: Names of the server's models, if the server lists them.
        at: Time of day of the test, such as ``21:14:03``.
    """

    ok: bool
    sentence: str
    models: tuple[str, ...] = ()
    at: str = ""


class SettingsServices:
    """Services that one page of the window provides to its settings forms.

    Args:
        context: The window's services.

    Attributes:
        unfolded: Whether forms show all settings; a new form starts in the state of the last one.
        on_prompts: Called with a request when the user edits prompts; ``None`` for pages without prompts.
    """

    def __init__(self, context: AppContext) -> None:
        self._context = context
        self.unfolded = False
        self.on_prompts: Callable[[PromptsRequest], None] | None = None
        self._models: dict[tuple[str, ...], tuple[str, ...]] = {}

    @property
    def keys(self) -> ApiKeys:
        """Store of API keys."""
        return self._context.api_keys

    def spawn(self, work: Any, what: str) -> asyncio.Task[Any]:
        """Run work in the background; the window shows its error."""
        return self._context.spawn(work, what)

    def known_models(self, request: ServerRequest) -> tuple[str, ...]:
        """Return the models that the server listed at its last test."""
        return self._models.get(request.place, ())

    async def test_server(self, request: ServerRequest, *, talk: bool = False) -> ServerTestResult:
        """Test a model server; the result also reports errors.

        Args:
            request: The server.
            talk: Whether the model answers with a word, which may cost a fraction of a cent.
        """
        try:
            key = await asyncio.to_thread(_key_of, request)
            question = {"settings": dict(request.settings), "key": key, "try": talk}
            said = await ask(request.worker, request.module, question)
        except MosaicError as error:
            return ServerTestResult(False, error.sentence, at=_clock())
        models = tuple(str(name) for name in said.get("models") or ())
        if models:
            self._models[request.place] = models
            while len(self._models) > REMEMBERED:
                del self._models[next(iter(self._models))]
        return ServerTestResult(bool(said.get("ok")), _sentence(said), models, _clock())

    def edit_file(self, request: FileRequest) -> None:
        """Open a file in the text editor."""
        self._context.edit(request)

    def edit_prompts(self, request: PromptsRequest) -> None:
        """Open the prompt editor."""
        if self.on_prompts is not None:
            self.on_prompts(request)


@dataclass(frozen=True)
class ServerRequest:
    """Model server as a form's values describe it.

    Attributes:
        worker: Worker of the form.
        module: Python module that is run to query the server.
        settings: Settings that identify the server and the model.
        secret: Name of the setting with the reference to the API key, and that reference.
    """

    worker: WorkerTypeDefinition
    module: str
    settings: Mapping[str, Any]
    secret: tuple[str, str] = ("", "")

    @property
    def place(self) -> tuple[str, ...]:
        """Hashable identity of the server, without the chosen model."""
        kinds = {s.name: s.kind for s in self.worker.settings_schema}
        return (
            self.worker.type_id,
            self.secret[1],
            *(str(value) for name, value in sorted(self.settings.items()) if kinds.get(name) != "model"),
        )


@dataclass(frozen=True)
class PromptsRequest:
    """Request to open the editor of a worker's prompts.

    Attributes:
        worker: The worker.
        setting: The setting that names the folder of prompts.
        settings: The slot's settings, defaults included.
        agent: The slot.
        choose: Called with the folder of the user's prompts after a save.
    """

    worker: WorkerTypeDefinition
    setting: Setting
    settings: Mapping[str, Any]
    agent: str
    choose: Callable[[str], None]


def server_request(
    worker: WorkerTypeDefinition, schema: Sequence[Setting], module: str, values: Mapping[str, Any]
) -> ServerRequest:
    """Return the model server that a form's values describe, without the form's other settings."""
    providers = {setting.provider for setting in schema if setting.provider}
    about = [s for s in schema if s.kind in ("server", "model") or s.name in providers]
    settings = {s.name: v for s in about if (v := values.get(s.name, s.default)) not in (None, "")}
    secret = next((s.name for s in schema if s.kind == "secret" and values.get(s.name)), "")
    return ServerRequest(worker, module, settings, (secret, str(values[secret])) if secret else ("", ""))


def provider_of(setting: Setting, schema: Sequence[Setting], values: Mapping[str, Any]) -> Provider:
    """Return the provider whose API key a secret setting holds, named as in the keyring."""
    choice = next((s for s in schema if s.name == setting.provider), None)
    value = str(values.get(choice.name, choice.default) or "") if choice is not None else ""
    known = next((provider for provider in PROVIDERS if provider.id == value), None)
    if known is not None:
        return known
    if not value or choice is None:
        return PROVIDERS[-1]
    option = choice.option(value)
    title = option.label if option is not None else value
    return Provider(value, title, f"{value.upper()}_API_KEY", "")


def _key_of(request: ServerRequest) -> str:
    """Return the API key itself, for the child process's stdin; ``""`` without a key setting.

    Raises:
        MosaicError: The key cannot be found.
    """
    name, reference = request.secret
    if not name:
        return ""
    player = WorkerAssignment(request.worker.type_id, request.worker.kind.value, {name: reference})
    return resolve_secrets(player).get(name, "")


def _sentence(said: Mapping[str, Any]) -> str:
    sentence = str(
        said.get("sentence") or ("The server answers" if said.get("ok") else "The server does not answer")
    )
    latency = said.get("latency_ms")
    if isinstance(latency, (int, float)) and said.get("ok") and " ms" not in sentence:
        sentence = f"{sentence.rstrip('.')} ({local(latency):.0f} ms)"
    return sentence


def _clock() -> str:
    return time.strftime("%H:%M:%S")
