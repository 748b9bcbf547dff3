"""Trust in code, programs, files and servers: which of them a user must allow, and which are allowed."""
