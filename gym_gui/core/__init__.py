"""Vocabulary of the engine: types, errors, spaces, seeding, configuration. No I/O."""
