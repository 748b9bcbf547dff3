"""The window's side of players that read and write: their server, their calls, their prompts."""
