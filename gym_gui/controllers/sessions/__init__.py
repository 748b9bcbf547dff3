"""Opens a session in the process in which it runs: starts its workers and fills its slots."""
