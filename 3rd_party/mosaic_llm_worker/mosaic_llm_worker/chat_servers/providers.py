"""Opens the client for the API of a provider."""

from __future__ import annotations

from mosaic_llm_worker.chat_servers.servers import ChatServer
from mosaic_llm_worker.server_settings import ServerSettings


def open_server(settings: ServerSettings, key: str) -> ChatServer:
    """Return a client of the server in the settings. It sends nothing before the first request."""
    # Import only the client that is used.
    if settings.client_name == "anthropic":
        from mosaic_llm_worker.chat_servers.anthropic_server import AnthropicServer

        return AnthropicServer(settings, key)
    from mosaic_llm_worker.chat_servers.openai_server import OpenAIServer

    return OpenAIServer(settings, key)
