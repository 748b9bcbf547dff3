"""A dry run checks files of others: it looks for servers only where nothing can be learnt by being asked."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from mosaic_llm_worker.reach import why_silent
from mosaic_llm_worker.server_settings import ServerSettings


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Hosts that were looked for; none is found."""
    hosts: list[str] = []

    def getaddrinfo(host: Any, *_: Any, **__: Any) -> list[Any]:
        hosts.append(host.decode() if isinstance(host, bytes) else str(host))
        raise socket.gaierror(socket.EAI_NONAME, "there is no such host")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return hosts


def settings(url: str, dry_run: bool) -> ServerSettings:
    return ServerSettings(client_name="vllm", model_id="m", base_url=url, dry_run=dry_run)


@pytest.mark.parametrize(
    "url",
    [
        "http://elsewhere.example/v1",
        "http://localhost.elsewhere.example/v1",
        "http://127.0.0.1.elsewhere.example/v1",
    ],
)
def test_a_dry_run_asks_no_server_elsewhere(looked_up: list[str], url: str) -> None:
    assert why_silent(settings(url, dry_run=True), "") == ""
    assert not looked_up


def test_a_run_asks_it(looked_up: list[str]) -> None:
    assert why_silent(settings("http://elsewhere.example/v1", dry_run=False), "")
    assert set(looked_up) == {"elsewhere.example"}


def test_a_dry_run_looks_for_a_server_on_this_machine() -> None:
    with socket.socket() as taken:  # bound, and no server listens
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        assert url in why_silent(settings(url, dry_run=True), "")
