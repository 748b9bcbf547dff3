"""Window parts for language models and programs: server settings, turns and prompts."""
