"""A person at the keys: input, key lists, who plays, what an environment is about."""
