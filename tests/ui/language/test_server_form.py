"""A language worker's form asks its server, keeps keys out of everything, and folds what is set seldom."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import keyring.backends.fail
import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton

from gym_gui.core.experiment.assignment import WorkerAssignment
from gym_gui.services.module_query import NoAnswerError, ask
from gym_gui.services.secrets import resolve_secrets
from gym_gui.ui.agents.language_controls import ModelControl, PromptsControl, SecretControl, ServerControl
from gym_gui.ui.agents.settings_form import SettingsForm
from gym_gui.ui.context import AppContext
from gym_gui.ui.language.settings_services import SettingsServices, provider_of
from gym_gui.workers.definition import WorkerTypeDefinition
from gym_gui.workers.settings.settings_table import settings_from_tables
from tests.services.test_api_keys import Wallet, no_keys_outside, use
from tests.support.fake_model_server import FakeModelServer
from tests.support.named import named

from .conftest import WAIT

__all__ = ["no_keys_outside"]
KEY = "sk-planted-0123456789abcdef0123456789"

Make = Callable[..., SettingsForm]


@pytest.fixture
def make(context: AppContext, worker: WorkerTypeDefinition, qtbot: Any) -> Iterator[Make]:
    made: list[SettingsForm] = []
    services = SettingsServices(context)

    def form(**values: Any) -> SettingsForm:
        made.append(SettingsForm(worker.settings_schema, values, worker=worker, services=services))
        made[-1].resize(300, 700)
        made[-1].show()
        return made[-1]

    yield form
    for each in made:
        each.close()
        each.deleteLater()


def parts(form: SettingsForm) -> tuple[ServerControl, ModelControl, SecretControl]:
    server, model, key = (form.control(name) for name in ("base_url", "model_id", "api_key"))
    assert isinstance(server, ServerControl) and isinstance(model, ModelControl)
    assert isinstance(key, SecretControl)
    return server, model, key


@pytest.mark.usefixtures("wallet")
def test_a_test_says_what_came_of_it_and_fills_in_the_models(
    make: Make, server: FakeModelServer, qtbot: Any, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    monkeypatch.setenv("CUSTOM_API_KEY", KEY)
    form = make(client_name="custom", base_url=server.url, api_key="env:CUSTOM_API_KEY")
    address, model, _ = parts(form)
    test = named(address, QPushButton, "setting_base_url_test")
    test.click()
    said = named(address, QLabel, "setting_base_url_said")
    assert not test.isEnabled() and said.text() == "Testing…"
    qtbot.waitUntil(test.isEnabled, timeout=WAIT)
    assert "2 models" in said.text() and " ms" in said.text(), address.said.text()  # pyright: ignore[reportAttributeAccessIssue]
    assert said.property("role") == "ok"
    assert model.models == ("tiny-1", "tiny-2") and model.value() is None
    # The key went to the server, and nowhere else.
    assert server.listed[-1].key == KEY
    assert KEY not in caplog.text and KEY not in str(form.values())
    with qtbot.waitSignal(form.values_changed) as changed:
        box = named(model, QComboBox, "setting_model_id")
        box.setCurrentIndex(1)
        box.activated.emit(1)
    assert changed.args[0]["model_id"] == "tiny-2"
    # Another address: what was said of the first is no longer said, nor are its models offered.
    qtbot.keyClicks(named(address, QLineEdit, "setting_base_url"), "x")
    assert said.text() == "" and model.models == () and model.value() == "tiny-2"


@pytest.mark.usefixtures("wallet")
def test_a_server_that_is_not_there_is_said_when_its_models_are_asked_for(make: Make, qtbot: Any) -> None:
    form = make(client_name="custom", base_url="http://127.0.0.1:9/v1", retries=0)
    _, model, _ = parts(form)
    named(model, QComboBox, "setting_model_id").showPopup()  # an empty list is filled when it is opened
    said = named(model, QLabel, "setting_model_id_said")
    qtbot.waitUntil(lambda: said.property("role") == "error", timeout=WAIT)
    assert "127.0.0.1:9" in said.text() and named(model, QPushButton, "setting_model_id_fetch").isEnabled()


def test_the_key_goes_to_the_keyring_and_its_name_to_the_settings(
    make: Make, wallet: Wallet, qtbot: Any
) -> None:
    form = make(client_name="openrouter")
    _, _, key = parts(form)
    named(key, QPushButton, "setting_api_key_key").click()
    field = named(key, QLineEdit, "setting_api_key_paste")
    assert field.echoMode() == field.EchoMode.Password
    qtbot.keyClicks(field, KEY)
    with qtbot.waitSignal(form.values_changed, timeout=WAIT) as changed:
        qtbot.keyClick(field, Qt.Key.Key_Return)
    assert changed.args[0]["api_key"] == "keyring:openrouter" and field.text() == ""
    assert wallet.held == {("mosaic", "openrouter"): KEY}
    player = WorkerAssignment("mosaic_llm_worker", "llm", changed.args[0])
    assert resolve_secrets(player) == {"api_key": KEY}
    qtbot.waitUntil(
        lambda: "OpenRouter is in the keyring" in named(key, QLabel, "setting_api_key_said").text(),
        timeout=WAIT,
    )
    # Another form of the same provider offers what is there.
    other = make(client_name="openrouter")
    _, _, offered = parts(other)
    use_button = named(offered, QPushButton, "setting_api_key_use")
    qtbot.waitUntil(use_button.isVisible, timeout=WAIT)
    use_button.click()
    assert other.values()["api_key"] == "keyring:openrouter"


def test_without_a_keyring_the_way_out_is_said(make: Make, wallet: Wallet, qtbot: Any) -> None:
    use(keyring.backends.fail.Keyring())
    form = make(client_name="anthropic")
    _, _, key = parts(form)
    named(key, QPushButton, "setting_api_key_key").click()
    qtbot.keyClicks(named(key, QLineEdit, "setting_api_key_paste"), KEY)
    named(key, QPushButton, "setting_api_key_save").click()
    said = named(key, QLabel, "setting_api_key_said")
    qtbot.waitUntil(lambda: "no keyring" in said.text(), timeout=WAIT)
    assert "ANTHROPIC_API_KEY" in said.text() and KEY not in said.text()
    assert form.values()["api_key"] == "env:ANTHROPIC_API_KEY"
    assert os.environ["ANTHROPIC_API_KEY"] == KEY


@pytest.mark.usefixtures("wallet")
def test_a_key_that_is_written_out_is_refused_without_being_repeated(make: Make, qtbot: Any) -> None:
    form = make()
    _, _, key = parts(form)
    qtbot.keyClicks(named(key, QLineEdit, "setting_api_key"), KEY)
    note = form.findChild(object, "setting_api_key_problem")
    assert "env:NAME" in note.text() and KEY not in note.text()  # type: ignore[union-attr]


@pytest.mark.usefixtures("wallet")
def test_what_is_set_seldom_is_folded_away_unless_it_is_set(make: Make) -> None:
    form = make(prompt_folder="/a/folder")
    prompts = form.control("prompt_folder")
    assert isinstance(prompts, PromptsControl) and prompts.isVisible()
    assert form.control("client_name").isVisible() and not form.control("retries").isVisible()
    more = named(form, QPushButton, "settings_more")
    more.click()
    assert form.control("retries").isVisible() and more.text() == "Fewer settings"
    assert make().control("retries").isVisible()  # the next form shows as much
    more.click()
    assert not form.control("retries").isVisible()


def test_whose_key_it_is_follows_the_choice(worker: WorkerTypeDefinition) -> None:
    schema = worker.settings_schema
    key = next(s for s in schema if s.kind == "secret")
    assert provider_of(key, schema, {}).id == "openai"
    ollama = provider_of(key, schema, {"client_name": "ollama"})
    assert (ollama.id, ollama.title, ollama.variable) == ("ollama", "Ollama", "OLLAMA_API_KEY")
    alone = settings_from_tables(
        {"api_key": {"type": "secret"}, "c": {"type": "choice", "options": [{"value": "a"}]}}
    )
    assert provider_of(alone[0], alone, {}).id == "custom"


def test_a_module_that_gives_no_answer_is_said_in_its_last_words(
    worker: WorkerTypeDefinition, loop: Any, finish: Any
) -> None:
    with pytest.raises(NoAnswerError, match="No module named"):
        finish(ask(worker, "mosaic_llm_worker_of_nobody", {"key": KEY}))
