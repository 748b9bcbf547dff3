"""Trust in code, programs, files and servers: what the user must allow first, and what was allowed."""
