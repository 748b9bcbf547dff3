"""The session host (a process that runs one session) and its client."""
