"""Opens a session where it runs: its workers started, its slots filled."""
