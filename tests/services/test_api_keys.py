"""Keys go to the keyring, or to memory where there is none; never into a file or a log."""

from __future__ import annotations

import os
from collections.abc import Iterator

import keyring
import keyring.backend
import keyring.backends.fail
import keyring.errors
import pytest

from gym_gui.core.errors import UsageError
from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.core.inherited_environment import inherited
from gym_gui.services.api_keys import PROVIDERS, ApiKeys
from gym_gui.services.secrets import resolve_secrets

OPENROUTER = next(p for p in PROVIDERS if p.id == "openrouter")
KEY = "sk-or-0123456789abcdef0123456789abcdef"


class Wallet(keyring.backend.KeyringBackend):
    """A keyring that holds its passwords in a dictionary."""

    priority = 1.0  # type: ignore[assignment]

    def __init__(self, *, locked: bool = False) -> None:
        super().__init__()
        self.held: dict[tuple[str, str], str] = {}
        self.locked = locked

    def get_password(self, service: str, username: str) -> str | None:
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if self.locked:
            raise keyring.errors.KeyringLocked("the wallet is locked")
        self.held[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.held[service, username]


@pytest.fixture(autouse=True)
def no_keys_outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = keyring.get_keyring()
    for provider in PROVIDERS:
        # Set first, so that it is put back whatever a test leaves there.
        monkeypatch.setenv(provider.variable, "x")
        monkeypatch.delenv(provider.variable)
    yield
    keyring.set_keyring(before)


def use(backend: keyring.backend.KeyringBackend) -> None:
    keyring.set_keyring(backend)


def test_a_key_goes_to_the_keyring_and_is_found_there_by_the_engine() -> None:
    wallet = Wallet()
    use(wallet)
    keys = ApiKeys()
    assert keys.trouble() == ""
    assert keys.save(OPENROUTER, f" {KEY}\n") == "keyring"
    assert wallet.held == {("mosaic", "openrouter"): KEY}
    assert OPENROUTER.variable not in os.environ
    assert keys.where(OPENROUTER) == "keyring"
    slot = WorkerAssignment("operators_worker", "baseline", {"api_key": keys.reference(OPENROUTER)})
    assert resolve_secrets(slot) == {"api_key": KEY}
    keys.forget(OPENROUTER)
    assert wallet.held == {}
    assert keys.reference(OPENROUTER) == ""


def test_without_a_keyring_it_stays_in_memory_and_says_so() -> None:
    use(keyring.backends.fail.Keyring())
    keys = ApiKeys()
    assert "no keyring" in keys.trouble()
    assert keys.save(OPENROUTER, KEY) == "memory"
    assert keys.where(OPENROUTER) == "memory"
    slot = WorkerAssignment("operators_worker", "baseline", {"api_key": keys.reference(OPENROUTER)})
    assert resolve_secrets(slot) == {"api_key": KEY}
    assert OPENROUTER.variable not in inherited()
    keys.forget(OPENROUTER)
    assert keys.where(OPENROUTER) == ""


def test_a_locked_keyring_falls_back_to_memory(caplog: pytest.LogCaptureFixture) -> None:
    use(Wallet(locked=True))
    keys = ApiKeys()
    assert keys.save(OPENROUTER, KEY) == "memory"
    assert "locked" in caplog.text
    assert KEY not in caplog.text
    keys.forget(OPENROUTER)


def test_a_key_in_the_environment_is_found() -> None:
    use(Wallet())
    os.environ[OPENROUTER.variable] = KEY
    assert ApiKeys().where(OPENROUTER) == "environment"
    assert ApiKeys().reference(OPENROUTER) == "env:OPENROUTER_API_KEY"


@pytest.mark.parametrize("text", ["", "  ", "two words", "a\x00b"])
def test_what_is_no_key_is_refused(text: str) -> None:
    use(Wallet())
    with pytest.raises(UsageError, match="empty or has spaces"):
        ApiKeys().save(OPENROUTER, text)
