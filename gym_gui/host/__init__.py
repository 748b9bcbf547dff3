"""The session host process and its client."""
