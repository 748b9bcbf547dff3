"""Which interface a provider speaks."""

from __future__ import annotations

from mosaic_llm_worker.chat_servers.servers import ChatServer
from mosaic_llm_worker.server_settings import ServerSettings


def open_server(settings: ServerSettings, key: str) -> ChatServer:
    """The server that settings name. Nothing is sent before the first request."""
    # Only the interface that is spoken is loaded.
    if settings.client_name == "anthropic":
        from mosaic_llm_worker.chat_servers.anthropic_server import AnthropicServer

        return AnthropicServer(settings, key)
    from mosaic_llm_worker.chat_servers.openai_server import OpenAIServer

    return OpenAIServer(settings, key)
