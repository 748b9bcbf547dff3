"""Stores API keys by provider, in the system's keyring or in memory if there is no keyring.

A key is never written to settings, logs or run folders. Settings contain a reference
(``keyring:openrouter``, ``env:OPENROUTER_API_KEY``) that the engine resolves when it starts a worker.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import Any, Final

from gym_gui.core.errors import UsageError
from gym_gui.core.inherited_environment import withhold
from gym_gui.services.secrets import KEYRING_SERVICE

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Provider:
    """A service that requires an API key.

    Attributes:
        id: Name of the provider in the keyring.
        title: Name shown to people.
        variable: Environment variable that the provider's own tools read.
        url: Page where a key can be created.
    """

    id: str
    title: str
    variable: str
    url: str


PROVIDERS: Final = (
    Provider("openai", "OpenAI", "OPENAI_API_KEY", "https://platform.openai.com/api-keys"),
    Provider("anthropic", "Anthropic", "ANTHROPIC_API_KEY", "https://console.anthropic.com/settings/keys"),
    Provider("google", "Google", "GOOGLE_API_KEY", "https://aistudio.google.com/apikey"),
    Provider("openrouter", "OpenRouter", "OPENROUTER_API_KEY", "https://openrouter.ai/keys"),
    Provider("huggingface", "Hugging Face", "HF_TOKEN", "https://huggingface.co/settings/tokens"),
    Provider("custom", "Own server", "MOSAIC_LLM_API_KEY", ""),
)


def _keyring() -> Any:
    """Return the keyring package, imported here because it searches for wallets, which takes time.

    Call this function in the thread that needs the key.

    Raises:
        ImportError: The package is not installed.
    """
    import keyring  # also imports its errors and backends

    return keyring


class ApiKeys:
    """Stores API keys. Its methods may wait for the keyring, so call them in a thread."""

    def __init__(self) -> None:
        self._here: set[str] = set()

    def trouble(self) -> str:
        """Return why keys are stored only in memory; empty if the system's keyring is used."""
        try:
            keyring = _keyring()
            backend = keyring.get_keyring()
        except ImportError:
            return "The keyring package is not installed. Run: mosaic install gui"
        except Exception as error:
            # A backend may raise anything (D-Bus, a locked wallet) while keyring selects it.
            return f"The system's keyring does not answer ({error})"
        if isinstance(backend, keyring.backends.fail.Keyring) or backend.priority <= 0:
            return "This system has no keyring"
        return ""

    def where(self, provider: Provider) -> str:
        """Return where a provider's key is stored: ``keyring``, ``memory`` or ``environment``; empty if there
        is none."""
        if provider.id in self._here:
            return "memory"
        if not self.trouble() and self._has_key(provider):
            return "keyring"
        return "environment" if os.environ.get(provider.variable) else ""

    def reference(self, provider: Provider) -> str:
        """Return the reference to a provider's key for a slot's settings; empty if there is no key."""
        where = self.where(provider)
        if not where:
            return ""
        return f"keyring:{provider.id}" if where == "keyring" else f"env:{provider.variable}"

    def save(self, provider: Provider, key: str) -> str:
        """Store a key and return where: ``keyring`` or ``memory``.

        Raises:
            UsageError: The key is empty or contains spaces or unprintable characters.
        """
        key = key.strip()
        if not key or any(c.isspace() or not c.isprintable() for c in key):
            raise UsageError(
                "the key is empty or has spaces or control characters in it",
                fix="Paste the key without spaces and line ends",
            )
        if not self.trouble():
            keyring = _keyring()
            try:
                keyring.set_password(KEYRING_SERVICE, provider.id, key)
            except keyring.errors.KeyringError as error:
                _log.warning("the keyring did not store the key of %s (%s)", provider.title, error)
            else:
                self._drop_from_memory(provider)
                return "keyring"
        # The program reads this variable when it launches a session. No child process inherits it.
        withhold(provider.variable)
        os.environ[provider.variable] = key
        self._here.add(provider.id)
        return "memory"

    def forget(self, provider: Provider) -> None:
        """Delete a key from the keyring and from memory."""
        self._drop_from_memory(provider)
        if not self.trouble() and self._has_key(provider):
            keyring = _keyring()
            try:
                keyring.delete_password(KEYRING_SERVICE, provider.id)
            except keyring.errors.KeyringError as error:
                raise UsageError(
                    f"the keyring did not delete the key of {provider.title} ({error})",
                    fix="Delete the key in the system's password program",
                ) from None

    def _drop_from_memory(self, provider: Provider) -> None:
        if provider.id in self._here:
            self._here.discard(provider.id)
            os.environ.pop(provider.variable, None)

    @staticmethod
    def _has_key(provider: Provider) -> bool:
        keyring = _keyring()
        try:
            return bool(keyring.get_password(KEYRING_SERVICE, provider.id))
        except keyring.errors.KeyringError:
            return False
