"""A worker that misbehaves as its settings say, for tests of a host."""
