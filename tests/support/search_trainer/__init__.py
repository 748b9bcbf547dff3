"""A small training worker for tests: random search for a linear policy, by the written protocol."""
