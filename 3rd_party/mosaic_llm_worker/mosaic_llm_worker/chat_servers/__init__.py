"""Clients of chat servers: requests and replies, HTTP transport, rate limits, token counts."""
